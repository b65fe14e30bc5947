"""Laws of the model: equivariance, invertibility, agreement with slow versions, indifference to the order of choices."""

import pytest
import torch

from fine.errors import FineError
from fine.models import MODELS, make_model, model_config, register_model
from fine.models.backbones import NICEBackbone, ResidualBackbone
from fine.models.controls import ControlConfig
from fine.models.encoders import make_encoder
from fine.models.fine import FINE, STANDARDS, FINEConfig, WeightedDistance
from fine.models.memory import FunctionalMemory, pseudo_inverse
from fine.models.symmetry import P4, P4M, GroupBatchNorm, GroupConv, output_size


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def moved(group, way, maps):
    """What moving a picture does to its feature maps, spelt out: space moves, and orientation h shows what moved to h."""
    split = maps.unflatten(1, (group.order, -1))
    result = torch.empty_like(split)
    for orientation in range(group.order):
        result[:, group.after(orientation, way)] = group.move(way, split[:, orientation])
    return result.flatten(1, 2)


@pytest.mark.parametrize("group", [P4, P4M])
def test_the_ways_to_move_a_square_are_a_group(group):
    picture = torch.rand(2, 5, 5)
    seen = {tuple(group.move(way, picture).flatten().tolist()) for way in range(group.order)}
    assert len(seen) == group.order  # all of them different
    for first in range(group.order):
        for then in range(group.order):
            expected = group.move(then, group.move(first, picture))
            assert torch.equal(group.move(group.after(first, then), picture), expected)
        assert torch.equal(group.move(group.undo(first), group.move(first, picture)), picture)


@pytest.mark.parametrize("group", [P4, P4M])
@pytest.mark.parametrize(("kernel", "stride", "padding", "size"), [(4, 2, 1, 8), (3, 1, 1, 7), (3, 2, 1, 7), (5, 1, 2, 6)])
def test_convolution_moves_with_the_picture(group, kernel, stride, padding, size):
    options = {"kernel": kernel, "stride": stride, "padding": padding}
    lift = GroupConv(group, channels_in=2, channels_out=3, lifting=True, **options).double()
    conv = GroupConv(group, channels_in=2, channels_out=3, **options).double()
    picture, maps = torch.rand(2, 2, size, size).double(), torch.rand(2, 2 * group.order, size, size).double()
    for way in range(group.order):
        torch.testing.assert_close(lift(group.move(way, picture)), moved(group, way, lift(picture)))
        torch.testing.assert_close(conv(moved(group, way, maps)), moved(group, way, conv(maps)))


@pytest.mark.parametrize("group", [P4, P4M])
def test_normalisation_moves_with_the_picture(group):
    norm, maps = GroupBatchNorm(group, 3).double(), torch.rand(5, 3 * group.order, 4, 4).double()
    for way in range(group.order):
        torch.testing.assert_close(norm(moved(group, way, maps)), moved(group, way, norm(maps)))


def test_a_p4_layer_that_would_not_be_equivariant_is_refused():
    with pytest.raises(FineError, match="multiple of the stride"):
        output_size(32, kernel=3, stride=2, padding=1)


@pytest.mark.parametrize("size", [32, 28])
@pytest.mark.parametrize("columns", [8, 2, 1])
def test_a_quarter_turn_permutes_the_rows_of_a_p4_code(size, columns):
    group, encoder = P4, make_encoder("p4-cnn", channels=3, size=size, code=256, columns=columns).double().eval()
    picture = torch.rand(2, 3, size, size).double()
    code = encoder(picture)
    # Rows are (channels that share a column) × 2 × 2 places × orientations: the same permutation for every picture.
    rows = torch.arange(256 // columns).view(-1, 2, 2, group.order).permute(0, 3, 1, 2)
    for way in range(1, group.order):
        moved_code = encoder(group.move(way, picture))
        torch.testing.assert_close(moved_code, code[:, moved(group, way, rows).permute(0, 2, 3, 1).flatten()])
        torch.testing.assert_close(moved_code, code[:, encoder.row_moves[way]])
        assert not torch.allclose(moved_code, code)


@pytest.mark.parametrize(("size", "places"), [(32, 4), (32, 8), (28, 4), (28, 7)])
def test_moving_a_picture_moves_the_places_of_a_p4m_code(size, places):
    encoder = make_encoder("p4m-cnn", channels=3, size=size, code=places * places * 6, columns=6).double().eval()
    picture = torch.rand(2, 3, size, size).double()
    code = encoder(picture).unflatten(1, (places, places)).movedim(3, 1)  # (b, columns, places, places)
    for way in range(P4M.order):
        moved_code = encoder(P4M.move(way, picture))
        torch.testing.assert_close(moved_code.unflatten(1, (places, places)).movedim(3, 1), P4M.move(way, code))
        torch.testing.assert_close(moved_code, encoder(picture)[:, encoder.row_moves[way]])


@pytest.mark.parametrize(("code", "columns"), [(128, 1), (256, 1), (96, 2)])
def test_channels_of_a_p4m_code_may_share_a_column(code, columns):
    encoder = make_encoder("p4m-cnn", channels=1, size=32, code=code, columns=columns).double().eval()
    picture = torch.rand(2, 1, 32, 32).double()
    for way in range(P4M.order):
        moved_code = encoder(P4M.move(way, picture))
        torch.testing.assert_close(moved_code, encoder(picture)[:, encoder.row_moves[way]])
    assert moved_code.shape == (2, code // columns, columns)


@pytest.mark.parametrize("name", ["p4-cnn", "p4m-cnn", "resnet", "mlp"])
def test_encoders_give_codes_of_the_asked_shape(name):
    for columns in (1, 16):
        encoder = make_encoder(name, channels=1, size=32, code=256, columns=columns)
        assert encoder(torch.rand(5, 1, 32, 32)).shape == (5, 256 // columns, columns)


@pytest.mark.parametrize("shape", [(128, 1), (16, 8), (16, 16), (8, 16)])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_the_pseudo_inverses_agree(shape, ridge):
    x = torch.randn(20, *shape).double()
    if shape[0] == shape[1]:
        x += 8 * torch.eye(shape[0])  # a square matrix at random may be nearly singular, where no method is exact
    solved = pseudo_inverse(x, ridge=ridge)
    torch.testing.assert_close(pseudo_inverse(x, ridge=ridge, method="iterate", iterations=60), solved, rtol=1e-5, atol=1e-7)
    if ridge == 0:
        torch.testing.assert_close(solved, torch.linalg.pinv(x), rtol=1e-5, atol=1e-7)


def test_both_pseudo_inverses_carry_the_same_gradient():
    x = torch.randn(3, 6, 2).double().requires_grad_()
    gradients = []
    for method in ("solve", "iterate"):
        (gradient,) = torch.autograd.grad(pseudo_inverse(x, ridge=0.1, method=method).square().sum(), x)
        gradients.append(gradient)
    torch.testing.assert_close(*gradients)
    assert torch.autograd.gradcheck(lambda x: pseudo_inverse(x, ridge=0.1), (x,))


def test_the_query_maps_x_to_y():
    memory = FunctionalMemory(16, 12, slots=3).double()
    x, y = torch.randn(4, 16, 5).double(), torch.randn(4, 12, 5).double()
    torch.testing.assert_close(memory.query(x, y) @ x, y)


def test_a_code_of_zeros_gives_a_finite_weight_and_gradient():
    similar, iterated, fitted = {}, {"method": "iterate"}, {"analogy": "fit"}
    for columns, ridge, how in ((1, 0.0, similar), (8, 0.1, similar), (8, 0.1, iterated), (8, 0.1, fitted)):
        memory = FunctionalMemory(16, 16, slots=4, ridge=ridge, **how)
        x = torch.zeros(2, 16, columns, requires_grad=True)
        weight = memory(x, torch.randn(2, 16, columns))
        weight.sum().backward()
        assert torch.isfinite(weight).all() and torch.isfinite(x.grad).all()


def test_reading_a_memory_is_equations_one_and_two():
    memory = FunctionalMemory(6, 4, slots=5, ridge=0.1).double()
    x, y = torch.randn(3, 6, 2).double(), torch.randn(3, 4, 2).double()
    for b in range(3):
        query = y[b] @ pseudo_inverse(x, ridge=0.1)[b]
        similarity = [(query * value).sum() / (6 * 4) ** 0.5 for value in memory.values]
        expected = sum(a * key for a, key in zip(similarity, memory.keys, strict=True))
        torch.testing.assert_close(memory(x, y)[b], expected)


def test_a_fit_is_the_mix_of_values_that_explains_the_pair_best():
    memory = FunctionalMemory(6, 4, slots=5, ridge=0.1, analogy="fit").double()
    x, y = torch.randn(3, 6, 2).double(), torch.randn(3, 4, 2).double()
    for b in range(3):
        made = torch.stack([(value @ x[b]).flatten() for value in memory.values], dim=1)
        ridge = 0.1 * made.square().sum(0).mean()
        # Ridge regression as plain least squares: one more equation a slot, √λ m = 0.
        equations = torch.cat((made, ridge.sqrt() * torch.eye(5).double()))
        mix = torch.linalg.lstsq(equations, torch.cat((y[b].flatten(), torch.zeros(5).double())), driver="gelsd").solution
        torch.testing.assert_close(memory(x, y)[b], sum(a * key for a, key in zip(mix, memory.keys, strict=True)))


def test_codes_of_many_rows_are_fitted_as_those_of_few(monkeypatch):
    memory = FunctionalMemory(16, 16, slots=3, ridge=0.1, analogy="fit", moves=P4M.pixel_moves(4)).double()
    x, y = torch.randn(5, 16, 2).double().requires_grad_(), torch.randn(5, 16, 2).double()
    few = memory.mix(x, y)
    monkeypatch.setattr("fine.models.memory.MOST_PAIRS", 0)
    many = memory.mix(x, y)
    torch.testing.assert_close(many, few)
    torch.testing.assert_close(*(torch.autograd.grad(mix.square().sum(), x)[0] for mix in (many, few)))


def test_a_tied_fit_finds_a_function_that_is_among_its_slots():
    memory = FunctionalMemory(6, 6, slots=8, ridge=1e-9, analogy="fit", keys="tied").double()
    mix, x, new = torch.randn(3, 8).double(), torch.randn(3, 6, 2).double(), torch.randn(3, 6, 2).double()
    hidden = torch.einsum("bs,soi->boi", mix, memory.values.detach())
    # Two columns are 12 equations: too few for a map with 36 unknowns, enough for the mix of 8 slots.
    torch.testing.assert_close(memory(x, hidden @ x) @ new, hidden @ new, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("analogy", ["similarity", "fit"])
@pytest.mark.parametrize("encoder", ["p4-cnn", "p4m-cnn"])
@pytest.mark.parametrize("symmetry", ["together", "apart"])
def test_the_function_of_a_moved_example_is_the_moved_function(analogy, encoder, symmetry):
    backbone = "linear" if symmetry == "apart" else "residual"
    settings = {"analogy": analogy, "encoder": encoder, "symmetry": symmetry, "backbone": backbone, "slots": 2}
    model = make_model("fine", channels=1, size=32, settings=settings).double().eval()
    for weight in model.backbone.parameters():
        torch.nn.init.normal_(weight)
    group = P4 if encoder == "p4-cnn" else P4M
    x, y, new = torch.rand(3, 1, 1, 1, 32, 32).double()

    def answer(*pictures):
        x, y, new = model.encode(torch.cat(pictures, dim=1)).unbind(1)
        return model.apply_function(model.compose(x, y), new)

    plain = answer(x, y, new)
    for way in range(group.order):
        for x_way in range(group.order) if symmetry == "apart" else [way]:
            made = answer(group.move(x_way, x), group.move(way, y), group.move(x_way, new))
            torch.testing.assert_close(made, plain[:, model.encoder.row_moves[way]], rtol=1e-6, atol=1e-6)


def test_without_slots_the_query_is_the_weight():
    memory = FunctionalMemory(6, 4, slots=0)
    x, y = torch.randn(3, 6, 2), torch.randn(3, 4, 2)
    assert torch.equal(memory(x, y), memory.query(x, y)) and not list(memory.parameters())


def test_a_full_tied_untrained_memory_returns_the_query():
    moves = torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]])
    memory = FunctionalMemory(4, 4, slots=16, keys="tied", moves=moves).double()
    x, y = torch.randn(3, 4, 2).double(), torch.randn(3, 4, 2).double()
    torch.testing.assert_close(memory(x, y), memory.query(x, y), rtol=1e-4, atol=1e-6)  # slots were made in float32


@pytest.mark.parametrize("layers", [1, 4, 5])
@pytest.mark.parametrize("columns", [1, 8])
def test_nice_is_exactly_invertible(layers, columns):
    backbone = NICEBackbone(rows=16, layers=layers, make_memory=lambda i, o: FunctionalMemory(i, o, slots=8)).double()
    x, y, z = (torch.randn(3, 16, columns).double() for _ in range(3))
    weights = backbone.compose(x, y)
    torch.testing.assert_close(backbone.invert(weights, backbone.run(weights, z)), z, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(backbone.run(weights, backbone.invert(weights, z)), z, rtol=1e-9, atol=1e-9)


def test_each_residual_layer_comes_nearer_to_y_and_does_nothing_where_nothing_is_left_to_do():
    memory = FunctionalMemory(6, 6, slots=8, ridge=1e-3, analogy="fit", keys="shared").double()
    backbone = ResidualBackbone(rows=6, layers=4, make_memory=lambda i, o: memory)
    x, y = torch.randn(3, 6, 4).double(), torch.randn(3, 6, 4).double()
    state, missing = x, [(y - x).norm()]
    for t, weight in enumerate(backbone.compose(x, y)):
        state = backbone.step(t, state, weight)
        missing.append((y - state).norm())
    assert missing == sorted(missing, reverse=True) and missing[-1] < 0.9 * missing[1]
    torch.testing.assert_close(backbone.run(backbone.compose(x, x), y), y)


def test_shared_keys_are_the_values_and_tied_keys_start_as_them():
    shared, tied, own = (FunctionalMemory(4, 4, slots=3, keys=keys) for keys in ("shared", "tied", "own"))
    assert set(dict(shared.named_parameters())) == {"values"}
    assert torch.equal(tied.keys, tied.values) and not torch.equal(own.keys, own.values)
    x, y = torch.randn(2, 4, 2), torch.randn(2, 4, 2)
    with torch.no_grad():
        tied.values.copy_(shared.values)
        tied.keys.copy_(shared.values)
    torch.testing.assert_close(shared(x, y), tied(x, y))


def test_two_consecutive_nice_layers_share_a_memory():
    backbone = NICEBackbone(rows=16, layers=4, make_memory=lambda i, o: FunctionalMemory(i, o, slots=8))
    assert len(backbone.memories) == 2 and backbone.memory(0) is backbone.memory(1) is not backbone.memory(2)


def test_other_readings_of_a_puzzle_are_puzzles_with_another_example_and_another_question():
    model = make_model("fine", channels=1, size=32, settings={"standardise": "picture"}).double().eval()
    pictures, answers = torch.rand(3, 7, 1, 32, 32).double(), torch.tensor([2, 0, 3])
    logits, loss = model.learn(pictures, answers)
    torch.testing.assert_close(logits, model(pictures))
    for number, answer in enumerate(answers):
        seven = pictures[number]
        x, y, new, result = seven[0], seven[1], seven[2], seven[3 + answer]
        expected = torch.nn.functional.cross_entropy(logits[number], answer)
        for example, made, question, place in ((new, result, x, 1), (y, x, result, 2), (result, new, y, 0)):
            puzzle = torch.cat((torch.stack((example, made, question)), seven))
            expected = expected + torch.nn.functional.cross_entropy(model(puzzle[None])[0], torch.tensor(place)) / 3
        torch.testing.assert_close(loss[number], expected)


@pytest.mark.parametrize(
    "settings",
    [{}, {"backbone": "residual"}, {"backbone": "nice", "symmetry": "none"}, {"backbone": "mlp", "symmetry": "none"}],
)
def test_a_thorough_model_judges_a_choice_by_all_readings_of_the_puzzle_it_completes(settings):
    model = make_model("fine", channels=1, size=32, settings={"thorough": True, **settings}).double().eval()
    pictures = torch.rand(2, 9, 1, 32, 32).double()  # of six choices each
    codes = model.encode(pictures)

    def apart(example, made, question, result):
        return model.distance(model.apply_function(model.compose(example, made), question), result).log()

    for logits, puzzle in zip(model(pictures), codes, strict=True):
        x, y, new = puzzle[:3, None]
        for logit, choice in zip(logits, puzzle[3:, None], strict=True):
            others = apart(y, x, choice, new) + apart(new, choice, x, y) + apart(choice, new, y, x)
            torch.testing.assert_close(logit[None], -apart(x, y, new, choice) - others / 2)


def test_a_thorough_model_learns_as_another_does():
    pictures, answers = torch.rand(3, 7, 1, 32, 32), torch.tensor([2, 0, 3])
    plain, thorough = (
        make_model("fine", channels=1, size=32, settings={"thorough": choice}).eval() for choice in (False, True)
    )
    thorough.load_state_dict(plain.state_dict())
    torch.testing.assert_close(thorough.learn(pictures, answers), plain.learn(pictures, answers), rtol=0, atol=0)
    assert torch.isfinite(thorough(torch.zeros(1, 7, 1, 32, 32))).all()  # nothing but zeros: no distance to take a logarithm of


def test_a_model_read_one_way_learns_from_its_answer_alone():
    model = make_model("fine-nice", channels=1, size=32).eval()
    pictures, answers = torch.rand(3, 7, 1, 32, 32), torch.tensor([2, 0, 3])
    logits, loss = model.learn(pictures, answers)
    torch.testing.assert_close(loss, torch.nn.functional.cross_entropy(logits, answers, reduction="none"))


def test_the_distance_is_a_weighted_sum_of_squares_with_weights_above_zero():
    distance = WeightedDistance(rows=4, columns=2)
    torch.nn.init.normal_(distance.raw, std=3)
    u, v = torch.randn(5, 4, 2), torch.randn(5, 4, 2)
    alpha = torch.log1p(distance.raw.exp())
    torch.testing.assert_close(distance(u, v), (alpha * (u - v) ** 2).sum((1, 2)))
    assert (distance(u, v) > 0).all() and (distance(u, u) == 0).all()


@pytest.mark.parametrize("name", ["fine", "fine-nice", "fine-mlp", "blind", "object-only"])
def test_the_order_of_the_choices_does_not_matter(name):
    model = make_model(name, channels=1, size=32).eval()
    pictures = torch.rand(2, 7, 1, 32, 32)
    order = torch.tensor([2, 0, 3, 1])
    shuffled = torch.cat((pictures[:, :3], pictures[:, 3:][:, order]), dim=1)
    torch.testing.assert_close(model(shuffled), model(pictures)[:, order])


@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.parametrize("channels", [1, 3])
def test_every_model_gives_four_logits_and_trains_all_its_weights(name, channels):
    model = make_model(name, channels=channels, size=28)
    logits = model(torch.rand(3, 7, channels, 28, 28))
    assert logits.shape == (3, 4)
    torch.nn.functional.cross_entropy(logits, torch.tensor([0, 1, 2])).backward()
    unused = [name for name, weight in model.named_parameters() if weight.grad is None]
    assert not unused


@pytest.mark.parametrize(
    "settings", [{"slots": 0}, {"backbone": "nice", "layers": 0}, {"encoder": "resnet"}, {"encoder": "mlp"}]
)
def test_the_settings_of_the_ablations_work(settings):
    model = make_model("fine-nice", channels=1, size=32, settings=settings)
    assert model(torch.rand(2, 7, 1, 32, 32)).shape == (2, 4)


def test_what_is_standardised_is_seen_in_any_light():
    pictures = torch.rand(2, 7, 1, 32, 32)
    pair_dimmed, one_dimmed = pictures.clone(), pictures.clone()
    pair_dimmed[:, :2] = 0.1 + 0.5 * pictures[:, :2]
    one_dimmed[:, 1] = 0.1 + 0.5 * pictures[:, 1]
    sees = {}
    for standard in STANDARDS:
        torch.manual_seed(0)
        model = make_model("fine", channels=1, size=32, settings={"standardise": standard}).eval()
        logits = model(pictures)
        sees[standard] = [not torch.allclose(model(dimmed), logits, rtol=0.05) for dimmed in (pair_dimmed, one_dimmed)]
    assert sees == {"none": [True, True], "picture": [False, False], "pair": [False, True]}


def test_a_function_composed_once_can_be_applied_to_many():
    model = FINE(FINEConfig(), channels=1, size=32).eval()
    codes = model.encode(torch.rand(1, 5, 1, 32, 32))
    weights = model.compose(codes[:, 0], codes[:, 1])
    together = model.apply_function([weight.expand(3, -1, -1) for weight in weights], codes[0, 2:])
    for number in range(3):
        torch.testing.assert_close(together[number], model.apply_function(weights, codes[:, 2 + number])[0])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"slot": 3}, "did you mean 'slots'"),
        ({"slots": "many"}, "slots=many is not a whole number"),
        ({"encoder": "p4cnn"}, "did you mean 'p4-cnn'"),
        ({"backbone": "nicee"}, "did you mean 'nice'"),
        ({"columns": 7}, "columns must divide"),
        ({"code": 160, "columns": 8}, "square of places"),
        ({"columns": 128, "encoder": "p4-cnn"}, "must be a multiple of"),
        ({"slots": -1}, "cannot have -1 slots"),
        ({"ridge": -1.0}, "ridge"),
        ({"query": "guess"}, "unknown pseudo-inverse"),
        ({"analogy": "guess"}, "unknown analogy"),
        ({"ridge": 0.0}, "ridge above 0"),
        ({"backbone": "nice"}, "symmetry=none"),
        ({"symmetry": "both"}, "unknown symmetry"),
        ({"symmetry": "apart", "backbone": "residual"}, "backbone=linear"),
        ({"layers": 0, "backbone": "residual"}, "give 1 to 1000"),
        ({"keys": "lost"}, "unknown kind of keys"),
        ({"readings": 3}, "give 1, 2 or 4"),
        ({"standardise": "pairs"}, "did you mean 'pair'"),
    ],
)
def test_impossible_settings_get_one_helpful_line(settings, message):
    with pytest.raises(FineError, match=message) as problem:
        make_model("fine", channels=1, size=32, settings=settings)
    assert "\n" not in str(problem.value)


def test_settings_may_be_texts():
    assert model_config("fine", {"slots": "32", "ridge": "1"}) == FINEConfig(slots=32, ridge=1.0)
    assert model_config("object-only", {"sees_object": "no"}) == ControlConfig(sees_object=False)


def test_names_of_models_are_taken_once():
    with pytest.raises(FineError, match="already"):
        register_model("fine", FINE, FINEConfig())
    with pytest.raises(FineError, match="dataclass"):
        register_model("another", FINE, {"slots": 3})
