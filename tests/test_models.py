"""Laws of the model: equivariance, invertibility, agreement with slow versions, indifference to the order of choices."""

import pytest
import torch

from fine.errors import FineError
from fine.models import MODELS, make_model, model_config, register_model
from fine.models.backbones import NICEBackbone
from fine.models.encoders import make_encoder
from fine.models.fine import FINE, FINEConfig, WeightedDistance
from fine.models.memory import FunctionalMemory, pseudo_inverse
from fine.models.p4 import P4BatchNorm, P4Conv, output_size


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def turned(maps):
    """What a quarter turn of the picture does to a p4 map: space turns, and orientations move on by one."""
    space = torch.rot90(maps.unflatten(1, (-1, 4)), 1, (3, 4))
    return space.roll(1, dims=2).flatten(1, 2)


@pytest.mark.parametrize(("kernel", "stride", "padding", "size"), [(4, 2, 1, 8), (3, 1, 1, 7), (3, 2, 1, 7), (5, 1, 2, 6)])
def test_p4_convolution_turns_with_the_picture(kernel, stride, padding, size):
    options = {"kernel": kernel, "stride": stride, "padding": padding}
    lift = P4Conv(channels_in=2, channels_out=3, lifting=True, **options).double()
    conv = P4Conv(channels_in=2, channels_out=3, **options).double()
    picture, maps = torch.rand(2, 2, size, size).double(), torch.rand(2, 8, size, size).double()
    torch.testing.assert_close(lift(torch.rot90(picture, 1, (2, 3))), turned(lift(picture)))
    torch.testing.assert_close(conv(turned(maps)), turned(conv(maps)))


def test_p4_normalisation_turns_with_the_picture():
    norm, maps = P4BatchNorm(3).double(), torch.rand(5, 12, 4, 4).double()
    torch.testing.assert_close(norm(turned(maps)), turned(norm(maps)))


def test_a_p4_layer_that_would_not_be_equivariant_is_refused():
    with pytest.raises(FineError, match="multiple of the stride"):
        output_size(32, kernel=3, stride=2, padding=1)


@pytest.mark.parametrize("size", [32, 28])
@pytest.mark.parametrize("columns", [8, 2, 1])
def test_a_quarter_turn_permutes_the_rows_of_a_p4_code(size, columns):
    encoder = make_encoder("p4-cnn", channels=3, size=size, code=128, columns=columns).double().eval()
    picture = torch.rand(2, 3, size, size).double()
    code, turned_code = encoder(picture), encoder(torch.rot90(picture, 1, (2, 3)))
    # Rows are (channels that share a column) × 4 orientations × 2 × 2 places: the same permutation for every picture.
    rows = torch.arange(128 // columns).view(1, -1, 2, 2)
    torch.testing.assert_close(turned_code, code[:, turned(rows).flatten()])
    assert not torch.allclose(turned_code, code)


@pytest.mark.parametrize("name", ["p4-cnn", "resnet", "mlp"])
def test_encoders_give_codes_of_the_asked_shape(name):
    for columns in (1, 8):
        encoder = make_encoder(name, channels=1, size=32, code=128, columns=columns)
        assert encoder(torch.rand(5, 1, 32, 32)).shape == (5, 128 // columns, columns)


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
    for columns, ridge, method in ((1, 0.0, "solve"), (8, 0.1, "solve"), (8, 0.1, "iterate")):
        memory = FunctionalMemory(16, 16, slots=4, ridge=ridge, method=method)
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


def test_without_slots_the_query_is_the_weight():
    memory = FunctionalMemory(6, 4, slots=0)
    x, y = torch.randn(3, 6, 2), torch.randn(3, 4, 2)
    assert torch.equal(memory(x, y), memory.query(x, y)) and not list(memory.parameters())


def test_a_full_tied_untrained_memory_returns_the_query():
    memory = FunctionalMemory(4, 4, slots=16, tied=True).double()
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


def test_two_consecutive_nice_layers_share_a_memory():
    backbone = NICEBackbone(rows=16, layers=4, make_memory=lambda i, o: FunctionalMemory(i, o, slots=8))
    assert len(backbone.memories) == 2 and backbone.memory(0) is backbone.memory(1) is not backbone.memory(2)


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
        ({"columns": 16}, "must be a multiple of"),
        ({"slots": -1}, "cannot have -1 slots"),
        ({"ridge": -1.0}, "ridge"),
        ({"query": "guess"}, "unknown pseudo-inverse"),
    ],
)
def test_impossible_settings_get_one_helpful_line(settings, message):
    with pytest.raises(FineError, match=message) as problem:
        make_model("fine", channels=1, size=32, settings=settings)
    assert "\n" not in str(problem.value)


def test_settings_may_be_texts():
    assert model_config("fine", {"slots": "32", "ridge": "1", "tied": "no"}) == FINEConfig(slots=32, ridge=1.0, tied=False)


def test_names_of_models_are_taken_once():
    with pytest.raises(FineError, match="already"):
        register_model("fine", FINE, FINEConfig())
    with pytest.raises(FineError, match="dataclass"):
        register_model("another", FINE, {"slots": 3})
