"""Laws of the paper's model, and its agreement with a slow reference and with the extended code."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from fine.errors import FineError
from fine.models.fine import FINE as ExtendedFINE  # noqa: N811 (an acronym, not a constant)
from fine.models.fine import FINEConfig
from fine.models.paper import (
    FINE,
    MLP,
    NICE,
    FunctionalMemory,
    PaperConfig,
    WeightedDistance,
    make_backbone,
    pseudo_inverse,
)

VARIANTS = {
    "fine-nice": {},
    "fine-mlp": {"backbone": "mlp"},
    "no layers": {"layers": 0},
    "an odd number of layers": {"layers": 3},
    "no slots": {"slots": 0},
    "iterated query": {"query": "iterate"},
}
variants = pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS.keys())


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def make(**settings: object) -> FINE:
    return FINE(PaperConfig(**settings), channels=1, size=32).double()


# The slow reference: the paper, read from the weights in a checkpoint, one image, one puzzle, one
# slot at a time. It calls nothing of fine.models.


def slow_logits(weights: dict[str, Tensor], puzzle: Tensor, config: PaperConfig) -> Tensor:
    """x, y, x' and k choices (3 + k, channels, size, size) -> logits (k,), as in Section 3.2."""
    x, y, new, *choices = [slow_embedding(weights, image) for image in puzzle]
    nice = config.backbone == "nice" and config.layers > 0
    for t in range(config.layers if nice else 2):
        gamma = f"backbone.pseudo_outputs.{t}"
        pseudo_output = weights[f"{gamma}.weight"] @ y + weights[f"{gamma}.bias"]
        memory = f"backbone.memories.{t // 2 if nice else t}"
        values, keys = weights.get(f"{memory}.values"), weights.get(f"{memory}.keys")
        if nice:
            weight = slow_weight(values, keys, F.relu(x.chunk(2)[t % 2]), pseudo_output)
            x, new = slow_coupling(t, weight, x), slow_coupling(t, weight, new)
        else:
            weight = slow_weight(values, keys, x, pseudo_output)
            x, new = weight @ x, weight @ new
            if t == 0:
                x, new = F.relu(x), F.relu(new)
    alpha = F.softplus(weights["distance.raw"].flatten())
    return torch.stack([-sum(alpha * (choice - new) ** 2) for choice in choices])


def slow_weight(values: Tensor | None, keys: Tensor | None, x: Tensor, y: Tensor) -> Tensor:
    """The weight (o, i) of one layer, from its input (i,) and its pseudo-output (o,)."""
    # y x⁺, where x⁺ = xᵀ / |x|² for a vector. 1e-8 keeps the x⁺ of zero at zero; hidden layers of
    # an untrained MLP are so small that without it gradients would differ in their fifth digit.
    query = torch.outer(y, x) / (x @ x + 1e-8)
    if values is None or keys is None:
        return query
    weight = torch.zeros_like(query)
    for value, key in zip(values, keys, strict=True):
        coefficient = (value * query).sum() / math.sqrt(len(x) * len(y))  # Eq. 1
        weight = weight + coefficient * key  # Eq. 2
    return weight


def slow_coupling(t: int, weight: Tensor, u: Tensor) -> Tensor:
    """Layer t of NICE: even layers shift the second half, odd layers the first."""
    first, second = u.chunk(2)
    if t % 2 == 0:
        return torch.cat((first, second + weight @ F.relu(first)))
    return torch.cat((first + weight @ F.relu(second), second))


def slow_embedding(weights: dict[str, Tensor], image: Tensor) -> Tensor:
    """The p4-CNN in evaluation mode (Cohen and Welling, 2016): (channels, size, size) -> (d,)."""
    maps = image[:, None]  # (channels, orientations, h, w)
    for number in range(0, 1000, 3):  # a convolution, its batch normalisation and a ReLU
        if f"encoder.layers.{number}.weight" not in weights:
            break
        if number > 0:
            maps = F.relu(maps)  # between layers: an embedding may be negative
        filters = weights[f"encoder.layers.{number}.weight"]  # (o, i, orientations × k × k)
        kernel = math.isqrt(filters.shape[2] // maps.shape[1])
        filters = filters.unflatten(2, (-1, kernel, kernel))
        turned = []
        for turns in range(4):
            # A turned filter finds in orientation h what it found before in orientation h − turns.
            bank = filters.rot90(turns, dims=(3, 4)).roll(turns, dims=2)
            turned.append(F.conv2d(maps.flatten(0, 1), bank.flatten(1, 2), stride=2, padding=1))
        norm = {
            name: weights[f"encoder.layers.{number + 1}.norm.{name}"][:, None, None, None]
            for name in ("weight", "bias", "running_mean", "running_var")
        }
        maps = torch.stack(turned, dim=1) - norm["running_mean"]
        maps = maps / (norm["running_var"] + 1e-5).sqrt() * norm["weight"] + norm["bias"]
    return maps.permute(0, 2, 3, 1).flatten()  # channel by channel, place by place


@variants
def test_the_model_is_the_slow_reference(settings):
    model = make(**settings)
    images, answers = torch.rand(2, 7, 1, 32, 32, dtype=torch.float64), torch.tensor([3, 0])
    with torch.no_grad():
        model(images)  # so that running statistics are not 0 and 1
    model.eval()  # the reference sees one image at a time, too few to normalise over
    logits = model(images)
    weights = model.state_dict(keep_vars=True)
    slow = torch.stack([slow_logits(weights, puzzle, model.config) for puzzle in images])
    torch.testing.assert_close(logits, slow, rtol=1e-9, atol=1e-12)
    names = [name for name, _ in model.named_parameters()]
    gradients = [
        dict(zip(names, torch.autograd.grad(loss, model.parameters()), strict=True))
        for loss in (F.cross_entropy(logits, answers), F.cross_entropy(slow, answers))
    ]
    torch.testing.assert_close(*gradients, rtol=1e-7, atol=1e-10)


# The extended code, with the settings that make it the paper's model.


def extended(**settings: object) -> ExtendedFINE:
    as_published = {
        "encoder": "p4-cnn",
        "standardise": "none",
        "embedding_size": 128,
        "columns": 1,
        "slots": 48,
        "analogy": "similarity",
        "symmetry": "none",
        "layers": 4,
        "ridge": 0.0,
        "keys": "own",
        "auxiliary_queries": 0,
        "backbone": "nice",
    }
    return ExtendedFINE(FINEConfig(**as_published | settings), channels=1, size=32).double()


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(
    "settings",
    [*VARIANTS.values(), {"encoder": "resnet"}],
    ids=[*VARIANTS.keys(), "another encoder"],
)
def test_the_extended_code_with_the_papers_settings_gives_the_same_numbers(settings, training):
    model, other = make(**settings).train(training), extended(**settings).train(training)
    other.load_state_dict(model.state_dict())
    images, answers = torch.rand(3, 7, 1, 32, 32, dtype=torch.float64), torch.tensor([3, 0, 1])
    results = []
    for each in (model, other):
        logits = each(images)
        F.cross_entropy(logits, answers).backward()
        gradients = {name: weight.grad for name, weight in each.named_parameters()}
        results.append({"logits": logits, "state": each.state_dict(), "gradients": gradients})
    torch.testing.assert_close(*results, rtol=1e-9, atol=1e-12)


@variants
def test_a_seed_gives_the_same_start_as_in_the_extended_code(settings):
    starts = []
    for build in (make, extended):
        torch.manual_seed(5)
        starts.append(build(**settings).state_dict() | {"next": torch.rand(1)})
    torch.testing.assert_close(*starts, rtol=0, atol=0)


# The pseudo-inverse and the memory.


@pytest.mark.parametrize("method", ["solve", "iterate"])
@pytest.mark.parametrize("columns", [1, 3, 6])
def test_the_pseudo_inverse_satisfies_moore_and_penrose(method, columns):
    x = random(4, 6, columns) + torch.eye(6, columns)  # of full column rank
    inverse = pseudo_inverse(x, method=method, iterations=60)
    close = {"rtol": 1e-4, "atol": 1e-5}  # 1e-8 is added to the diagonal of xᵀx
    torch.testing.assert_close(x @ inverse @ x, x, **close)
    torch.testing.assert_close(inverse @ x @ inverse, inverse, **close)
    torch.testing.assert_close((x @ inverse).mT, x @ inverse, **close)
    torch.testing.assert_close((inverse @ x).mT, inverse @ x, **close)


@pytest.mark.parametrize("shape", [(4, 6, 1), (4, 6, 3), (4, 3, 6)])
def test_both_methods_find_the_same_pseudo_inverse(shape):
    x = random(*shape)
    exact = pseudo_inverse(x)
    torch.testing.assert_close(pseudo_inverse(x, method="iterate"), exact, rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(torch.linalg.pinv(x), exact, rtol=1e-4, atol=1e-6)


def test_the_pseudo_inverse_of_zero_is_zero():
    zero = torch.zeros(2, 6, 1)
    for method in ("solve", "iterate"):
        assert torch.equal(pseudo_inverse(zero, method=method), zero.mT)


@pytest.mark.parametrize("method", ["solve", "iterate"])
def test_the_query_of_enough_columns_is_the_matrix_that_made_them(method):
    memory = FunctionalMemory(5, 4, slots=2, method=method)
    matrix, x = random(3, 4, 5), random(3, 5, 20)
    torch.testing.assert_close(memory.query(x, matrix @ x), matrix, rtol=1e-5, atol=1e-6)


def test_the_query_of_one_column_takes_x_to_y():
    memory = FunctionalMemory(5, 4, slots=2)
    x, y = random(3, 5, 1), random(3, 4, 1)
    torch.testing.assert_close(memory.query(x, y) @ x, y, rtol=1e-6, atol=1e-6)


def test_the_memory_is_equations_1_and_2_one_slot_at_a_time():
    memory = FunctionalMemory(5, 4, slots=7).double()
    x, y = random(3, 5, 1), random(3, 4, 1)
    weights = memory(x, y)
    for puzzle in range(3):
        slow = slow_weight(memory.values, memory.keys, x[puzzle, :, 0], y[puzzle, :, 0])
        torch.testing.assert_close(weights[puzzle], slow)


@pytest.mark.parametrize("slots", [0, 7])
def test_the_weight_is_linear_in_y(slots):
    memory = FunctionalMemory(5, 4, slots=slots).double()
    x, y, z = random(3, 5, 1), random(3, 4, 1), random(3, 4, 1)
    torch.testing.assert_close(memory(x, 2 * y - 3 * z), 2 * memory(x, y) - 3 * memory(x, z))


def test_without_slots_the_query_is_the_weight():
    memory = FunctionalMemory(5, 4, slots=0)
    x, y = random(3, 5, 1), random(3, 4, 1)
    assert torch.equal(memory(x, y), memory.query(x, y))
    assert not list(memory.parameters())


def test_a_new_memory_keeps_the_norm_of_a_query_in_the_span_of_its_values():
    memory = FunctionalMemory(5, 4, slots=20).double()  # 4 × 5 = 20 slots span every query
    x, y = random(3, 5, 1), random(3, 4, 1)
    norms = [weight.flatten(1).norm(dim=1) for weight in (memory(x, y), memory.query(x, y))]
    torch.testing.assert_close(*norms, rtol=1e-5, atol=0)  # slots are made in single precision


# The backbones and the model.


def nice(layers: int) -> NICE:
    return make_backbone(PaperConfig(layers=layers, slots=6), rows=8).double()


@pytest.mark.parametrize("layers", [1, 3, 4])
def test_nice_inverts_what_it_runs(layers):
    backbone = nice(layers)
    x, y, new = (random(3, 8, 1) for _ in range(3))
    weights = backbone.compose(x, y)
    assert not torch.allclose(backbone.run(weights, new), new)
    torch.testing.assert_close(backbone.invert(weights, backbone.run(weights, new)), new)
    torch.testing.assert_close(backbone.run(weights, backbone.invert(weights, new)), new)


def test_two_consecutive_layers_of_nice_share_a_memory():
    backbone = nice(4)
    assert len(backbone.memories) == 2
    x, y = random(3, 8, 1), random(3, 8, 1)
    before = backbone.compose(x, y)
    with torch.no_grad():
        backbone.memories[1].keys.zero_()
    after = backbone.compose(x, y)
    for t in (0, 1):
        assert torch.equal(after[t], before[t])
    for t in (2, 3):
        assert before[t].any() and not after[t].any()


@pytest.mark.parametrize("name", ["nice", "mlp"])
def test_a_backbone_is_not_linear(name):
    backbone = make_backbone(PaperConfig(backbone=name, slots=6), rows=8).double()
    weights = backbone.compose(random(3, 8, 1), random(3, 8, 1))
    x = random(3, 8, 1)
    assert not torch.allclose(backbone.run(weights, -x), -backbone.run(weights, x))


def test_zero_layers_of_nice_are_the_mlp():
    assert isinstance(make(layers=0).backbone, MLP)
    assert isinstance(make(layers=1).backbone, NICE)


@pytest.mark.parametrize("columns", [1, 2])
def test_the_distance_is_positive_and_zero_between_the_same(columns):
    distance = WeightedDistance(rows=4, columns=columns).double()
    torch.nn.init.normal_(distance.raw, std=3)
    u, v = random(5, 4, columns), random(5, 4, columns)
    alpha = torch.log1p(distance.raw.exp())
    torch.testing.assert_close(distance(u, v), (alpha * (u - v) ** 2).sum((1, 2)))
    assert (distance(u, v) > 0).all() and (distance(u, u) == 0).all()


def test_the_distance_is_a_weighted_sum_of_squares():
    distance = WeightedDistance(rows=3)
    with torch.no_grad():
        distance.raw.copy_(torch.tensor([[0.0], [-100.0], [100.0]]))  # softplus: log 2, 0, 100
    u, v = torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([[0.0], [0.0], [5.0]])
    assert distance(u, v).item() == pytest.approx(math.log(2) + 100 * 4)


@variants
def test_the_nearer_a_choice_the_higher_its_score(settings):
    model = make(embedding_size=32, **settings)
    x, y, new = (random(5, 32, 1) for _ in range(3))
    guess = model.apply_function(model.compose(x, y), new)
    away = torch.tensor([3.0, 0.0, 1.0, 2.0])
    choices = guess[:, None] + away[:, None, None] * random(32, 1)
    logits = model.score(torch.cat((torch.stack((x, y, new), dim=1), choices), dim=1))
    assert logits.argsort(dim=1, descending=True).tolist() == [[1, 2, 3, 0]] * 5
    torch.testing.assert_close(logits[:, 1], torch.zeros(5, dtype=torch.float64))


def test_probabilities_follow_the_scores_and_sum_to_one():
    torch.manual_seed(0)
    model = FINE(PaperConfig(), channels=1, size=32).eval()
    images = torch.rand(3, 7, 1, 32, 32)
    with torch.no_grad():
        probabilities, logits = model.probabilities(images), model(images)
    torch.testing.assert_close(probabilities.sum(1), torch.ones(3))
    assert torch.equal(probabilities.argsort(1), logits.argsort(1))


def test_a_checkpoint_has_these_names_and_shapes():
    def shapes(**settings: object) -> dict[str, tuple[int, ...]]:
        state = make(**settings).state_dict()
        return {k: tuple(v.shape) for k, v in state.items() if not k.startswith("encoder.")}

    def expected(*, layers: int, width: int) -> dict[str, tuple[int, ...]]:
        names: dict[str, tuple[int, ...]] = {"distance.raw": (128, 1)}
        for number in range(2):
            names[f"backbone.memories.{number}.values"] = (48, width, width)
            names[f"backbone.memories.{number}.keys"] = (48, width, width)
        for t in range(layers):
            names[f"backbone.pseudo_outputs.{t}.weight"] = (width, 128)
            names[f"backbone.pseudo_outputs.{t}.bias"] = (width,)
        return names

    assert shapes(backbone="nice") == expected(layers=4, width=64)
    assert shapes(backbone="mlp") == expected(layers=2, width=128)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"slots": -1}, "a memory cannot have -1 slots: give 0 or more"),
        ({"layers": -1}, "a backbone cannot have -1 layers: give 0 or more"),
        ({"layers": 1001}, "NICE cannot have 1001 layers: give at most 1000"),
        ({"encoder": "resnet", "embedding_size": 7}, "embeddings of 7 rows: use an even number"),
        ({"backbone": "nise"}, "unknown backbone 'nise': did you mean 'nice'?"),
        ({"query": "solved"}, "unknown pseudo-inverse 'solved': did you mean 'solve'?"),
    ],
)
def test_a_setting_that_will_not_do_is_refused(settings, message):
    with pytest.raises(FineError) as refusal:
        make(**settings)
    assert message in str(refusal.value)
