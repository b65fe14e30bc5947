"""Laws of functions: they are the model's own, they are undone, combined and compared as functions are, and they are named."""

from pathlib import Path

import pytest
import torch

import fine
from fine import FINE, FINEConfig, FineError
from fine.functions import Function, compose_map, misfit
from fine.functions.maps import Matrix
from fine.models import make_model
from fine.rules import Warp, rule_set

BACKBONES = ("residual", "linear", "nice", "mlp")


def make(backbone: str = "residual", **settings: object) -> FINE:
    torch.manual_seed(0)
    plain = {"symmetry": "none"} if backbone in ("nice", "mlp") else {}
    return FINE(FINEConfig(backbone=backbone, **plain, **settings), channels=1, size=32).eval()


@pytest.fixture(scope="module")
def pictures() -> torch.Tensor:
    """Six glyphs."""
    return fine.load_images("glyphs").pixels[:60:10].float() / 255


def turned(pictures: torch.Tensor, degrees: int) -> torch.Tensor:
    return Warp(rule_set("rotation"), size=32)(pictures, torch.full((len(pictures),), degrees // 15))


@pytest.fixture(params=BACKBONES)
def model(request) -> FINE:
    return make(request.param)


@pytest.fixture
def f(model, pictures) -> Function:
    return model.function(pictures[:2], turned(pictures[:2], 90))


@pytest.fixture
def g(model, pictures) -> Function:
    return model.function(pictures[2:4], turned(pictures[2:4], 30))


def test_one_hint_gives_what_the_model_gives(model, pictures):
    x, new = pictures[0], pictures[1]
    y, choices = turned(x[None], 45)[0], turned(new[None].expand(4, -1, -1, -1), 45)
    choices = torch.stack([turned(choices[:1], degrees)[0] for degrees in (0, 30, 45, 90)])
    puzzle = torch.stack((x, y, new, *choices))
    expected = model(puzzle[None]).softmax(1)[0]
    answer = model.function(x, y).choose(new, list(choices))
    torch.testing.assert_close(torch.tensor(answer.probabilities), expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("standardise", ["none", "picture", "pair"])
def test_pictures_of_a_pair_are_seen_in_the_same_light(standardise, pictures):
    model = make(standardise=standardise)
    x, new = pictures[:1], pictures[1:2]
    y, answer = turned(x, 30) * 0.7, turned(new, 30) * 0.7  # darker, as where a rule uncovers black
    codes = model.encode(torch.stack((x, y, new, answer), dim=1))
    expected = model.apply_function(model.compose(codes[:, 0], codes[:, 1]), codes[:, 2])
    torch.testing.assert_close(model.function(x, y)(new), expected, rtol=1e-2, atol=2e-4)  # finding the ink rounds a little


def test_the_same_hint_twice_says_no_more_than_once(model, pictures):
    x, y, new = pictures[:1], turned(pictures[:1], 60), pictures[3:4]
    once, twice = model.function(x, y), model.function([x, x], [y, y])
    torch.testing.assert_close(twice(new), once(new), rtol=1e-3, atol=1e-4)


@torch.no_grad()
def test_several_hints_are_explained_together_better_than_by_one_of_them(pictures):
    model = make(slots=1, layers=1)  # few slots, so that the hints have to share them
    x, y = pictures, turned(pictures, 30)
    codes = model.encode(torch.stack((x, y), dim=1))
    xs, ys = codes[:, 0].split(1), codes[:, 1].split(1)

    def miss(function) -> float:
        return float(sum((function(a) - b).square().sum() for a, b in zip(xs, ys, strict=True)))

    assert miss(compose_map(model, xs, ys)) < min(miss(compose_map(model, [a], [b])) for a, b in zip(xs, ys, strict=True))


def test_composition_is_one_after_the_other_and_associative(model, f, g, pictures):
    h = model.function(pictures[4:], turned(pictures[4:], 15))
    new = pictures[4:]
    with torch.no_grad():
        codes = model.encode(new[:, None], firsts=[0])[:, 0]
    torch.testing.assert_close((g @ f)(new), g.map(f.map(codes)), rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(((h @ g) @ f)(new), (h @ (g @ f))(new), rtol=1e-3, atol=1e-4)


def test_powers(model, f, pictures):
    new = pictures[4:]
    torch.testing.assert_close(f.power(1)(new), f(new))
    torch.testing.assert_close(f.power(2)(new), (f @ f)(new), rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(f.power(0)(new), model.encode(new[:, None], firsts=[0])[:, 0])


def test_nice_is_undone_exactly(pictures):
    f = make("nice").function(pictures[:2], turned(pictures[:2], 90))
    codes = torch.randn(2, 16, 16)
    back = f.inverse()
    torch.testing.assert_close((f @ back).map(codes), codes, rtol=1e-3, atol=1e-4)
    torch.testing.assert_close((back @ f).map(codes), codes, rtol=1e-3, atol=1e-4)
    assert back.note == "exact"


def test_a_matrix_that_can_be_inverted_is():
    f = Matrix(torch.eye(16) + 0.05 * torch.randn(3, 16, 16, generator=torch.Generator().manual_seed(0)))
    back = f.inverse()
    assert back.note == "matrix inverse"
    torch.testing.assert_close(f.after(back).matrices, torch.eye(16).expand(3, -1, -1), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(f.power(-1).matrices, back.matrices)


def test_what_a_function_has_lost_is_left_as_it_is():
    # The first row is kept and the second lost; nothing is known about that one, so undoing leaves it alone.
    f = Matrix(torch.tensor([[[1.0, 0.0], [0.0, 0.0]]]))
    back = f.inverse()
    assert back.note == "least squares with a ridge"
    torch.testing.assert_close(back.matrices[0], torch.eye(2))


def test_the_note_counts_both_kinds():
    both = Matrix(torch.stack((torch.eye(4), torch.zeros(4, 4))))
    assert both.inverse().note == "matrix inverse for 1 of 2, least squares with a ridge for the others"


def test_roots_make_the_whole_again():
    angle = torch.tensor(torch.pi / 2)
    quarter = torch.stack((angle.cos(), -angle.sin(), angle.sin(), angle.cos())).view(1, 2, 2)
    third = Matrix(quarter).power(1 / 3)
    assert third.matrices[0, 0, 0] == pytest.approx(3**0.5 / 2, abs=1e-5)  # cos 30°
    torch.testing.assert_close(third.power(3).matrices, quarter, rtol=1e-4, atol=1e-5)


def test_distance_is_zero_to_itself_and_the_same_both_ways(f, g):
    assert torch.equal(f.distance(f), torch.zeros(2))
    assert (f.distance(g) > 0).all()
    torch.testing.assert_close(f.distance(g), g.distance(f))


def test_between_two_functions_both_are_the_ends(f, g):
    torch.testing.assert_close(f.interpolate(g, 0).vector(), f.vector())
    torch.testing.assert_close(f.interpolate(g, 1).vector(), g.vector())
    assert not torch.allclose(f.interpolate(g, 0.5).vector(), f.vector())


def test_many_functions_are_as_one_and_one(model, f, pictures):
    assert len(f) == 2
    torch.testing.assert_close(f[1](pictures[5]), f(pictures[4:])[1:], rtol=1e-3, atol=1e-4)
    alone = model.function(pictures[1], turned(pictures[1:2], 90)[0])
    torch.testing.assert_close(alone.vector()[0], f.vector()[1], rtol=1e-3, atol=1e-4)


def test_names_are_those_that_explain_gives(pictures):
    model = make()
    y = turned(pictures[:1], 90)[0]
    f = model.function(pictures[0], y)
    assert f.nearest(rules="affine", k=4) == fine.explain(model, pictures[0], y, rules="affine", k=4)
    assert sum(rule.probability for rule in f.nearest(rules="rotation", k=24)) == pytest.approx(1, abs=1e-4)


def test_the_identity_is_named_by_its_name(pictures):
    # A matrix of ones on the diagonal does nothing, whatever the encoder; so the nearest rule is the one that does nothing.
    f = make().function(pictures[0], turned(pictures[:1], 90)[0]).power(0)
    assert f.nearest(rules="rotation", k=1)[0].label == "rotation 0°"


def test_files_do_as_well_as_tensors(pictures, tmp_path):
    from PIL import Image

    model, paths = make(), []
    for number, picture in enumerate((pictures[0], turned(pictures[:1], 90)[0], pictures[1])):
        paths.append(Path(tmp_path / f"{number}.png"))
        Image.fromarray(picture[0].mul(255).round().byte().numpy()).save(paths[-1])
    seen = [torch.from_numpy(fine.read_picture(path).numpy()) for path in paths]
    torch.testing.assert_close(model.function(paths[0], paths[1])(paths[2]), model.function(*seen[:2])(seen[2]))


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda f, p: f.model.function([p[0], p[1]], [p[0]]), "give a y for every x"),
        (lambda f, p: f.model.function(p[:2], p[:3]), "hold 2, 3 pictures"),
        (lambda f, p: f.model.function(p[:0], p[:0]), "0 pictures"),
        (lambda f, p: f @ make().function(p[0], p[1]), "different models"),
        (lambda f, p: f.distance(f.model.function(p[:3], p[:3])), "2 functions here and 3 there"),
        (lambda f, p: f.nearest(rules="rotation"), r"such as f\[0\]"),
        (lambda f, p: f[0].nearest(rules="rotation", k=0), "at least 1"),
        (lambda f, p: f[0].choose(p[0], [p[1]]), "at least 2"),
        (lambda f, p: f[2], "there are 2"),
    ],
)
def test_what_makes_no_sense_is_said_in_one_line(mistake, message, pictures):
    f = make().function(pictures[:2], turned(pictures[:2], 90))
    with pytest.raises(FineError, match=message):
        mistake(f, pictures)


def test_an_mlp_cannot_be_undone_and_says_so(pictures):
    f = make("mlp").function(pictures[0], pictures[1])
    with pytest.raises(FineError, match="cannot be undone"):
        f.inverse()
    with pytest.raises(FineError, match="whole number"):
        f.power(0.5)


def test_layers_that_are_not_alike_have_nothing_between_them(pictures):
    model = make("nice")
    f = model.function(pictures[0], pictures[1])
    with pytest.raises(FineError, match="not layered alike"):
        f.interpolate(f.inverse(), 0.5)


def test_the_papers_vectors_work_too(pictures):
    model = make_model("fine-nice", channels=1, size=32).eval()
    f = model.function([pictures[0], pictures[1]], [pictures[2], pictures[3]])
    assert (f @ f.inverse())(pictures[4]).shape == (1, 128, 1)


def test_what_the_memory_can_say_fits_and_what_it_cannot_does_not(pictures):
    # A residual function starts from x, so that nothing happening is always explained; another picture is not a rule at all.
    model = make(slots=1)
    same, other = misfit(model, pictures, pictures), misfit(model, pictures, pictures.roll(1, 0))
    assert same.shape == (6,) and (same < 1e-6).all() and (other > 10 * same + 0.01).all()
