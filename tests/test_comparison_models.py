"""The comparison models against slow versions that spell out every pair, head and step; their sizes and starting weights."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from fine.errors import FineError
from fine.evaluation import evaluate
from fine.models import MODELS, make_model
from fine.models.context import ContextNorm
from fine.models.encoders import make_encoder
from fine.protocols import Training
from fine.runs import Run, RunConfig
from fine.tasks import Task
from fine.training import train

SEQUENCE_MODELS = ["relation-net", "predi-net", "transformer", "esbn"]
COMPARISON_MODELS = [*SEQUENCE_MODELS, "hyper-net"]


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def size_of(model):
    return sum(weight.numel() for weight in model.parameters())


def slow_context_norm(norm, codes):
    out = torch.empty_like(codes)
    for b in range(codes.shape[0]):
        for d in range(codes.shape[2]):
            feature = codes[b, :, d]
            mean = sum(feature) / 7
            variance = sum((z - mean) ** 2 for z in feature) / 6
            out[b, :, d] = (feature - mean) / torch.sqrt(variance + 1e-8) * norm.gain[d] + norm.shift[d]
    return out


def items_of(puzzle):
    return [torch.cat((code, torch.tensor([float(n)]).double())) for n, code in enumerate(puzzle)]


def slow_relation_net(model, codes):
    logits = []
    for puzzle in codes:
        total = 0
        for one in items_of(puzzle):
            for two in items_of(puzzle):
                hidden = model.pair(torch.cat((one, two))).relu()
                total = total + model.relation[1](hidden).relu()
        logits.append(model.head(total))
    return torch.stack(logits)


def slow_predi_net(model, codes):
    logits = []
    for puzzle in codes:
        items = items_of(puzzle)
        queries = [query(torch.cat(items)) for query in model.queries]
        found = []
        for h in range(32):
            attended = []
            for query in queries:
                weights = torch.stack([query[16 * h : 16 * (h + 1)] @ model.key(item) for item in items]).softmax(0)
                attended.append(sum(w * item for w, item in zip(weights, items, strict=True)))
            one, two = attended
            found += [model.relation(one) - model.relation(two), one[-1:], two[-1:]]
        logits.append(model.head(torch.cat(found)))
    return torch.stack(logits)


def slow_transformer(model, codes):
    attention, logits = model.attention, []
    for puzzle in codes:
        wave = [[(math.cos if k % 2 else math.sin)(n / 10_000 ** ((k - k % 2) / 128)) for k in range(128)] for n in range(7)]
        x = puzzle + torch.tensor(wave).double()
        query, key, value = attention.project(x).chunk(3, dim=1)
        heads = []
        for h in range(8):
            part = slice(16 * h, 16 * (h + 1))
            heads.append((query[:, part] @ key[:, part].T / 4).softmax(1) @ value[:, part])
        x = model.attention_norm(x + attention.combine(torch.cat(heads, dim=1)))
        x = model.feed_forward_norm(x + model.feed_forward(x))
        logits.append(model.head(model.last_norm(x).mean(0)))
    return torch.stack(logits)


def slow_esbn(model, codes):
    """To the letter: T + 1 steps, each of which answers, reads and writes."""
    logits = []
    for puzzle in codes:
        hidden, cell = torch.zeros(2, 512).double()
        read = torch.zeros(257).double()
        values, keys = [], []
        for z in [*puzzle, torch.zeros(128).double()]:
            hidden, cell = model.controller(read, (hidden, cell))
            key, gate, answer = model.key(hidden), model.gate(hidden), model.head(hidden)
            if values:
                similarity = torch.stack([z @ value for value in values])
                confidence = (model.confidence_gain * similarity + model.confidence_bias).sigmoid()
                memory = [torch.cat((k, c[None])) for k, c in zip(keys, confidence, strict=True)]
                read = gate * sum(w * slot for w, slot in zip(similarity.softmax(0), memory, strict=True))
            values.append(z)
            keys.append(key)
        logits.append(answer)
    return torch.stack(logits)


def slow_hyper_net(model, codes):
    backbone, logits = model.backbone, []

    def move(x, t, weight):
        first, second = x[:64], x[64:]
        if t % 2 == 0:
            return torch.cat((first, second + weight @ first.relu()))
        return torch.cat((first + weight @ second.relu(), second))

    for x, y, new, *choices in codes:
        state = torch.zeros(2, 48).double()
        for t in range(4):
            still = (x[:64] if t % 2 == 0 else x[64:]).relu()
            state = backbone.cell(torch.cat((still, backbone.pseudo_outputs[t](y))), tuple(state))
            weight = sum(h * key for h, key in zip(state[0], backbone.memories[t // 2].keys, strict=True))
            x, new = move(x, t, weight), move(new, t, weight)
        alpha = F.softplus(model.distance.raw[:, 0])
        logits.append(torch.stack([-(alpha * (choice - new) ** 2).sum() for choice in choices]))
    return torch.stack(logits)


SLOW = {
    "relation-net": slow_relation_net,
    "predi-net": slow_predi_net,
    "transformer": slow_transformer,
    "esbn": slow_esbn,
    "hyper-net": slow_hyper_net,
}


class GivenCodes(torch.nn.Module):
    """In place of an encoder: its pictures are codes already."""

    def forward(self, pictures):
        return pictures.flatten(1)[:, :, None]


def with_given_codes(name):
    """A model without its encoder, in double precision, with no weight left at a value that hides mistakes, such as 0 or 1."""
    model = make_model(name, channels=1, size=32)
    model.encoder = GivenCodes()
    for weight in model.parameters():
        if weight.ndim < 2:
            torch.nn.init.normal_(weight, mean=0.3, std=0.3)
    return model.double()


@pytest.mark.parametrize("name", COMPARISON_MODELS)
def test_a_model_agrees_with_its_slow_version_and_so_do_gradients(name):
    model = with_given_codes(name)
    answers, gradients = [], []
    codes = (0.5 * torch.randn(3, 7, 128).double()).requires_grad_()
    inputs = [codes, *model.parameters()]
    for slow in (False, True):
        if slow:
            normalised = slow_context_norm(model.normalise, codes) if name in SEQUENCE_MODELS else codes
            logits = SLOW[name](model, normalised)
        else:
            logits = model(codes)
        answers.append(logits)
        gradients.append(torch.autograd.grad(F.cross_entropy(logits, torch.tensor([0, 1, 3])), inputs))
    # Waves of the positions are made in float32.
    tolerance = {"rtol": 1e-5, "atol": 1e-6} if name == "transformer" else {"rtol": 1e-9, "atol": 1e-11}
    torch.testing.assert_close(*answers, **tolerance)
    for (weight, _), fast, slow in zip([("codes", None), *model.named_parameters()], *gradients, strict=True):
        torch.testing.assert_close(fast, slow, **tolerance, msg=lambda text, weight=weight: f"gradient of {weight}: {text}")
        assert fast.abs().max() > 0, weight


def test_a_scaled_esbn_is_one_whose_codes_are_shorter():
    """Similarities divided by √128 are those of codes divided by its root."""
    torch.manual_seed(0)
    plain = make_model("esbn", channels=1, size=32).double()
    scaled = make_model("esbn", channels=1, size=32, settings={"scaled": True}).double()
    scaled.load_state_dict(plain.state_dict())
    codes = torch.randn(5, 7, 128).double()
    torch.testing.assert_close(scaled.answer(codes), plain.answer(codes / 128**0.25))
    assert not torch.allclose(scaled.answer(codes), plain.answer(codes))


def test_context_normalisation_forgets_scale_and_shift_of_a_puzzle():
    norm, codes = ContextNorm(16).double(), torch.randn(5, 7, 16).double()
    normalised = norm(codes)
    torch.testing.assert_close(normalised.mean(1), torch.zeros(5, 16).double())
    torch.testing.assert_close(normalised.var(1), torch.ones(5, 16).double())
    torch.testing.assert_close(norm(3 * codes + torch.randn(5, 1, 16)), normalised)
    torch.testing.assert_close(norm(codes[:1]), normalised[:1])  # no puzzle knows of another
    assert torch.isfinite(norm(torch.ones(2, 7, 16).double())).all()


def test_the_conv_encoder_has_its_published_size():
    assert size_of(make_encoder("conv", channels=1, size=32, code=128, columns=1)) == 197_600


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("esbn", 1_910_759), ("transformer", 430_436), ("predi-net", 1_131_308), ("relation-net", 528_612)],
)
def test_a_model_with_the_conv_encoder_has_its_published_size(name, parameters):
    assert size_of(make_model(name, channels=1, size=32, settings={"encoder": "conv"})) == parameters


@pytest.mark.parametrize("name", list(MODELS))
def test_the_table_of_models_names_their_sizes(name):
    table = (Path(__file__).parent.parent / "docs" / "models" / "README.md").read_text(encoding="utf-8")
    sizes = [size_of(make_model(name, channels=1, size=32, settings={"encoder": encoder})) for encoder in ("p4-cnn", "conv")]
    row = next(line for line in table.splitlines() if line.startswith(f"| [`{name}`]"))
    assert f"| {sizes[0]:,} | {sizes[1]:,} |" in row


def test_hyper_net_is_fine_nice_without_values_and_with_an_lstm():
    without_values = size_of(make_model("fine-nice", channels=1, size=32)) - 2 * 48 * 64 * 64
    lstm = 4 * 48 * (128 + 48) + 2 * 4 * 48  # four gates of 48 on [x_t, y_t] and the last output, two biases each
    assert size_of(make_model("hyper-net", channels=1, size=32)) == without_values + lstm


KAIMING, XAVIER = (lambda i, o: math.sqrt(2 / i)), (lambda i, o: math.sqrt(2 / (i + o)))


@pytest.mark.parametrize(
    ("name", "starts"),
    [
        ("relation-net", {"pair": KAIMING, "relation.1": KAIMING, "head.0": KAIMING, "head.2": XAVIER}),
        (
            "predi-net",
            {"key": XAVIER, "queries.0": XAVIER, "queries.1": XAVIER, "relation": XAVIER, "head.0": KAIMING, "head.2": XAVIER},
        ),
        (
            "transformer",
            {
                "attention.combine": XAVIER,
                "feed_forward.0": KAIMING,
                "feed_forward.2": KAIMING,
                "head.0": KAIMING,
                "head.2": XAVIER,
            },
        ),
        ("esbn", {"key.0": KAIMING, "gate.0": XAVIER, "head": XAVIER}),
        ("esbn", {"encoder.layers.2": KAIMING, "encoder.layers.7": KAIMING, "encoder.layers.9": KAIMING}),
    ],
)
def test_layers_start_as_published(name, starts):
    model = make_model(name, channels=1, size=32, settings={"encoder": "conv"})
    for layer, spread in starts.items():
        layer = model.get_submodule(layer)
        inputs, outputs = layer.weight[0].numel(), layer.weight.shape[0]
        # A sample standard deviation of n normal numbers is off by 1/√(2n) of itself; five times that is never seen.
        assert layer.weight.std().item() == pytest.approx(spread(inputs, outputs), rel=5 / math.sqrt(2 * layer.weight.numel()))
        assert layer.bias is None or not layer.bias.any()


def test_projections_and_gates_start_one_by_one():
    projections = make_model("transformer", channels=1, size=32).attention.project
    for block in projections.weight.chunk(3):
        assert block.std().item() == pytest.approx(XAVIER(128, 128), rel=0.03)
    controller = make_model("esbn", channels=1, size=32).controller
    for weight in (controller.weight_ih, controller.weight_hh):
        for block, gain in zip(weight.chunk(4), (1, 1, 5 / 3, 1), strict=True):
            assert block.std().item() == pytest.approx(gain * XAVIER(*reversed(block.shape)), rel=0.02)
    assert not projections.bias.any() and not controller.bias_ih.any() and not controller.bias_hh.any()


@pytest.mark.parametrize("name", COMPARISON_MODELS)
def test_a_puzzle_alone_gets_the_answer_it_gets_among_others(name):
    model = make_model(name, channels=1, size=32).eval()
    pictures = torch.rand(5, 7, 1, 32, 32)
    together = model(pictures)
    torch.testing.assert_close(torch.cat([model(one[None]) for one in pictures]), together, rtol=1e-4, atol=1e-5)
    assert torch.equal(model(pictures), together)


@pytest.mark.parametrize("name", COMPARISON_MODELS)
def test_training_mode_changes_nothing_but_the_encoder(name):
    model = make_model(name, channels=1, size=32, settings={"encoder": "conv"})  # which has no batch norm
    pictures = torch.rand(3, 7, 1, 32, 32)
    trained = model.train()(pictures)
    with torch.no_grad():
        torch.testing.assert_close(model.eval()(pictures), trained)


@pytest.mark.parametrize("name", COMPARISON_MODELS)
@pytest.mark.parametrize("encoder", ["p4-cnn", "p4m-cnn", "resnet", "mlp", "conv"])
def test_every_model_takes_every_encoder(name, encoder):
    model = make_model(name, channels=3, size=28, settings={"encoder": encoder})
    for b in (1, 2):
        assert model(torch.rand(b, 7, 3, 28, 28)).shape == (b, 4)


def test_hyper_net_hands_its_state_on_from_layer_to_layer():
    model = make_model("hyper-net", channels=1, size=32).double()
    x, y = torch.randn(2, 3, 128, 1).double()
    fourth = model.compose(x, y)[3]
    with torch.no_grad():
        model.backbone.pseudo_outputs[0].bias.add_(1)  # what the cell saw at the first layer
    assert not torch.allclose(model.compose(x, y)[3], fourth)
    assert model.backbone.memory(0) is model.backbone.memory(1) is not model.backbone.memory(2)


def test_the_order_of_choices_matters_to_sequence_models_and_not_to_hyper_net():
    pictures, order = torch.rand(2, 7, 1, 32, 32), torch.tensor([2, 0, 3, 1])
    shuffled = torch.cat((pictures[:, :3], pictures[:, 3:][:, order]), dim=1)
    for name in COMPARISON_MODELS:
        model = make_model(name, channels=1, size=32).eval()
        same = torch.allclose(model(shuffled), model(pictures)[:, order], rtol=1e-4, atol=1e-5)
        assert same is (name == "hyper-net"), name


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("transformer", {"heads": 7}, "does not fit 7 heads"),
        ("transformer", {"heads": 0}, "heads is 0"),
        ("esbn", {"key": -1}, "key is -1"),
        ("hyper-net", {"slots": 0}, "0 slots"),
        ("esbn", {"encoder": "cnn"}, "choose one of"),
        ("relation-net", {"slots": 8}, "unknown setting"),
    ],
)
def test_impossible_settings_get_one_helpful_line(name, settings, message):
    with pytest.raises(FineError, match=message) as problem:
        make_model(name, channels=1, size=32, settings=settings)
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize("name", SEQUENCE_MODELS)
def test_a_sequence_of_another_length_is_refused(name):
    with pytest.raises(FineError, match="5 pictures a puzzle"):
        make_model(name, channels=1, size=32)(torch.rand(2, 5, 1, 32, 32))


@pytest.mark.parametrize("name", COMPARISON_MODELS)
def test_the_same_seed_trains_the_same_weights(name):
    ends = []
    for _ in range(2):
        torch.manual_seed(0)
        model = make_model(name, channels=1, size=32)
        optimiser = torch.optim.Adam(model.parameters())
        for _ in range(3):
            optimiser.zero_grad()
            F.cross_entropy(model(torch.rand(8, 7, 1, 32, 32)), torch.randint(4, (8,))).backward()
            optimiser.step()
        ends.append([weight.detach().clone() for weight in model.parameters()])
    assert all(torch.equal(one, two) for one, two in zip(*ends, strict=True))


@pytest.mark.parametrize("name", COMPARISON_MODELS)
def test_a_trained_model_is_saved_and_gives_the_same_answers_again(name, tmp_path):
    task = replace(Task.preset("glyphs", rules="translation"), train_count=32, test_count=12)
    evaluation = train(RunConfig(model=name, task=task, training=Training(epochs=1, batch=16)), tmp_path / "run")
    again = evaluate(Run(tmp_path / "run").load(), task.test_puzzles())
    assert (again.kinds == evaluation.kinds).all()
