"""Laws of functions: they are the model's own, and are inverted, combined, compared and named."""

from pathlib import Path

import pytest
import torch
from PIL import Image

import fine
from fine import FINE, FINEConfig, FineError, function
from fine.inference import Function, residual
from fine.models import make_model, paper
from fine.models.embedding_functions import compose_function
from fine.rules import Warp, rule_set

BACKBONES = ("residual", "linear", "nice", "mlp")
PAPER = ("fine-nice", "fine-mlp")


def make(backbone: str = "residual", **settings: object) -> FINE:
    torch.manual_seed(0)
    plain = {"symmetry": "none"} if backbone in ("nice", "mlp") else {}
    return FINE(FINEConfig(backbone=backbone, **plain, **settings), channels=1, size=32).eval()


@pytest.fixture(scope="module")
def images() -> torch.Tensor:
    """Six glyphs."""
    return fine.load_images("glyphs").pixels[:60:10].float() / 255


def rotated(images: torch.Tensor, degrees: int) -> torch.Tensor:
    rules = torch.full((len(images),), degrees // 15)
    return Warp(rule_set("rotation"), size=32)(images, rules)


@pytest.fixture(params=[*BACKBONES, *PAPER])
def model(request) -> paper.FINE:
    if request.param in PAPER:
        torch.manual_seed(0)
        made = make_model(request.param, channels=1, size=32).eval()
        assert isinstance(made, paper.FINE)
        return made
    return make(request.param)


@pytest.fixture
def f(model, images) -> Function:
    return function(images[:2], rotated(images[:2], 90), model=model)


@pytest.fixture
def g(model, images) -> Function:
    return function(images[2:4], rotated(images[2:4], 30), model=model)


# What a function is


def test_one_hint_gives_what_the_model_gives(model, images):
    x, new = images[0], images[1]
    y = rotated(x[None], 45)[0]
    choices = [rotated(new[None], degrees)[0] for degrees in (45, 75, 90, 135)]
    expected = model(torch.stack((x, y, new, *choices))[None]).softmax(1)[0]
    answer = function(x, y, model=model).choose(new, choices)
    got = torch.tensor(answer.model_probabilities)
    torch.testing.assert_close(got, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("standardise", ["none", "image", "pair"])
def test_images_of_a_pair_are_seen_in_the_same_light(standardise, images):
    model = make(standardise=standardise)
    x, new = images[:1], images[1:2]
    # Darker, as where a rule uncovers black.
    y, answer = rotated(x, 30) * 0.7, rotated(new, 30) * 0.7
    embeddings = model.encode(torch.stack((x, y, new, answer), dim=1))
    weights = model.compose(embeddings[:, 0], embeddings[:, 1])
    expected = model.apply_function(weights, embeddings[:, 2])
    made = function(x, y, model=model)(new)
    torch.testing.assert_close(made, expected, rtol=1e-2, atol=2e-4)  # finding the ink rounds


@pytest.mark.parametrize("backbone", BACKBONES)
def test_the_same_hint_twice_says_no_more_than_once(backbone, images):
    model = make(backbone)
    x, y, new = images[:1], rotated(images[:1], 60), images[3:4]
    once = function(x, y, model=model)
    twice = function([x, x], [y, y], model=model)
    torch.testing.assert_close(twice(new), once(new), rtol=1e-3, atol=1e-4)


@torch.no_grad()
def test_several_hints_are_explained_together_better_than_by_one_of_them(images):
    model = make(slots=1, layers=1)  # few slots, so that the hints have to share them
    pairs = torch.stack((images, rotated(images, 30)), dim=1)
    before, after = model.encode(pairs).unbind(1)
    xs, ys = before.split(1), after.split(1)

    def miss(composed) -> float:
        missed = [(composed(x) - y).square().sum() for x, y in zip(xs, ys, strict=True)]
        return float(sum(missed))

    together = miss(compose_function(model, xs, ys))
    apart = [miss(compose_function(model, [x], [y])) for x, y in zip(xs, ys, strict=True)]
    assert together < min(apart)


def test_many_functions_are_as_one_and_one(model, f, images):
    assert len(f) == 2
    torch.testing.assert_close(f[1](images[5]), f(images[4:])[1:], rtol=1e-3, atol=1e-4)
    alone = function(images[1], rotated(images[1:2], 90)[0], model=model)
    torch.testing.assert_close(alone.vector()[0], f.vector()[1], rtol=1e-3, atol=1e-4)


def test_files_do_as_well_as_tensors(images, tmp_path):
    model, paths = make(), []
    for number, image in enumerate((images[0], rotated(images[:1], 90)[0], images[1])):
        paths.append(Path(tmp_path / f"{number}.png"))
        Image.fromarray(image[0].mul(255).round().byte().numpy()).save(paths[-1])
    x, y, new = (fine.read_image(path) for path in paths)
    from_files = function(paths[0], paths[1], model=model)(paths[2])
    torch.testing.assert_close(from_files, function(x, y, model=model)(new))


def test_the_papers_vectors_work_too(images):
    model = make_model("fine-nice", channels=1, size=32).eval()
    f = function([images[0], images[1]], [images[2], images[3]], model=model)
    assert (f @ f.inverse())(images[4]).shape == (1, 128, 1)


# Algebra


def test_composition_is_one_after_the_other_and_associative(model, f, g, images):
    new = images[4:]
    h = function(new, rotated(new, 15), model=model)
    with torch.no_grad():
        embeddings = model.encode(new[:, None], firsts=[0])[:, 0]
        expected = g.on_embeddings(f.on_embeddings(embeddings))
    torch.testing.assert_close((g @ f)(new), expected, rtol=1e-3, atol=1e-4)
    one, other = ((h @ g) @ f)(new), (h @ (g @ f))(new)
    torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


def test_powers(model, f, images):
    new = images[4:]
    torch.testing.assert_close(f.power(1)(new), f(new))
    torch.testing.assert_close(f.power(2)(new), (f @ f)(new), rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(f.power(0)(new), model.encode(new[:, None], firsts=[0])[:, 0])


def test_nice_has_an_exact_inverse(images):
    f = function(images[:2], rotated(images[:2], 90), model=make("nice"))
    embeddings = torch.randn(2, 16, 16)
    back = f.inverse()
    assert back.note == "exact"
    for both in (f @ back, back @ f):
        torch.testing.assert_close(both.on_embeddings(embeddings), embeddings, rtol=1e-3, atol=1e-4)


def test_an_mlp_has_no_inverse_and_says_so(images):
    f = function(images[0], images[1], model=make("mlp"))
    with pytest.raises(FineError, match="MLP"):
        f.inverse()
    with pytest.raises(FineError, match="whole number"):
        f.power(0.5)


def test_distance_is_zero_to_itself_and_the_same_both_ways(f, g):
    assert torch.equal(f.distance(f), torch.zeros(2))
    assert (f.distance(g) > 0).all()
    torch.testing.assert_close(f.distance(g), g.distance(f))


def test_between_two_functions_both_are_the_ends(f, g):
    torch.testing.assert_close(f.interpolate(g, 0).vector(), f.vector())
    torch.testing.assert_close(f.interpolate(g, 1).vector(), g.vector())
    assert not torch.allclose(f.interpolate(g, 0.5).vector(), f.vector())


def test_layers_that_are_not_alike_have_nothing_between_them(images):
    f = function(images[0], images[1], model=make("nice"))
    with pytest.raises(FineError, match="not layered alike"):
        f.interpolate(f.inverse(), 0.5)


# Names and residuals


def test_names_are_those_that_explain_gives(images):
    model = make()
    y = rotated(images[:1], 90)[0]
    f = function(images[0], y, model=model)
    named = fine.explain(model, images[0], y, rules="affine", k=4)
    assert f.nearest(rules="affine", k=4) == named
    every = f.nearest(rules="rotation", k=24)
    assert sum(rule.probability for rule in every) == pytest.approx(1, abs=1e-4)


def test_the_identity_is_named_by_its_name(images):
    # The identity matrix does nothing, whatever the encoder; so does the rule nearest to it.
    f = function(images[0], rotated(images[:1], 90)[0], model=make()).power(0)
    assert f.nearest(rules="rotation", k=1)[0].label == "rotation 0°"


def test_a_residual_is_small_where_the_memory_explains_y(images):
    # A residual function starts from x, so it always explains the identity. Another image is no
    # rule.
    model = make(slots=1)
    same = residual(images, images, model=model)
    other = residual(images, images.roll(1, 0), model=model)
    assert same.shape == (6,) and (same < 1e-6).all() and (other > 10 * same + 0.01).all()


def test_the_residual_of_several_hints_is_that_of_all_together(images):
    model = make("linear", slots=2)
    pairs = [(image, rotated(image[None], 90)[0]) for image in images[:3]]
    x, y = ([pair[side] for pair in pairs] for side in (0, 1))
    together = residual(x, y, model=model)
    apart = torch.stack([residual(*pair, model=model)[0] for pair in pairs])
    assert together.shape == (1,)
    assert apart.min() < together.item() <= 1  # three hints are harder to explain than the easiest


@pytest.mark.slow
def test_choices_may_come_one_at_a_time(images):
    f = function(images[0], images[1], model=make())
    assert f.choose(images[2], iter(images[3:5])) == f.choose(images[2], list(images[3:5]))


# Mistakes


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda f, p: function([p[0], p[1]], [p[0]], model=f.model), "give a y for every x"),
        (lambda f, p: function(p[:2], p[:3], model=f.model), "hold 2, 3 images"),
        (lambda f, p: function(p[:0], p[:0], model=f.model), "0 images"),
        (lambda f, p: f @ function(p[0], p[1], model=make()), "different models"),
        (lambda f, p: f.distance(function(p[:3], p[:3], model=f.model)), "2 functions here and 3"),
        (lambda f, p: f.nearest(rules="rotation"), r"such as f\[0\]"),
        (lambda f, p: f[0].nearest(rules="rotation", k=0), "at least 1"),
        (lambda f, p: f.choose(p[0], [p[1], p[2]]), r"such as f\[0\]"),
        (lambda f, p: f[0].choose(p[0], [p[1]]), "at least 2"),
        (lambda f, p: f[2], "there are 2"),
        (lambda f, p: f.power(torch.nan), "power nan: give a number"),
        (lambda f, p: f.power(10**30), "give a number from −1000 to 1000"),
        (lambda f, p: f.interpolate(f, torch.inf), "share is inf"),
        (lambda f, p: function(p[:2].to_sparse(), p[:2], model=f.model), "give a dense one"),
        (lambda f, p: function(p[:2].to("meta"), p[:2], model=f.model), "give a dense one"),
        (lambda f, p: function(p[0].to_sparse(), p[0], model=f.model), "give a dense one"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(mistake, message, images):
    f = function(images[:2], rotated(images[:2], 90), model=make())
    with pytest.raises(FineError, match=message):
        mistake(f, images)


# Rules of composed functions


def test_a_composed_function_knows_its_rule_and_draws_it(images):
    x = images[2]
    f = function(x, x.flip(-1), model=make())
    assert "looks for its rule" in repr(f)
    assert str(f.rule) == "mirrored left-right"
    assert "mirrored" in repr(f)
    torch.testing.assert_close(f.draw(images[3]), images[3].flip(-1))
    assert str((f @ f).rule) == "unchanged"
    assert str(f.inverse().rule) == "mirrored left-right"
    assert [len(grid) for grid in f.remap(20, 30)] == [20, 20]


def test_one_of_many_functions_has_a_rule(images):
    f = function(images[:2], images[:2].flip(-1), model=make())
    with pytest.raises(FineError, match=r"f\[0\].rule"):
        f.rule  # noqa: B018
    assert str(f[1].rule) == "mirrored left-right"


def test_one_of_many_derived_functions_has_its_own_rule(images):
    """And not that of the example which it was derived from."""
    xs = images[:2]
    ys = torch.cat((rotated(xs[:1], 90), rotated(xs[1:], 180)))
    f = function(xs, ys, model=make())
    assert str(f[0].rule) == "rotation 90°" and str(f[1].rule) == "rotation 180°"
    assert str(f.power(2)[0].rule) == "rotation 180°"
    assert str(f.inverse()[0].rule) == "rotation 270°"
