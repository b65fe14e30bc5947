"""Models by name: all take the same images, give four logits, and are built from settings."""

from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from fine.errors import FineError
from fine.models import MODELS, make_model, model_config, name_of, refuse_giant, register_model
from fine.models.controls import ControlConfig
from fine.models.fine import FINE, FINEConfig

BUILT_IN = list(MODELS)
DOCS = Path(__file__).parents[2] / "docs" / "models" / "README.md"
every_model = pytest.mark.parametrize("name", BUILT_IN)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def size_of(model: nn.Module) -> int:
    return sum(weight.numel() for weight in model.parameters())


@every_model
@pytest.mark.parametrize("channels", [1, 3])
def test_every_model_gives_four_logits_and_trains_all_its_weights(name, channels):
    size = 32 if name == "fine-pyramid" else 28  # which is not halved to 8×8 places
    model = make_model(name, channels=channels, size=size)
    logits = model(torch.rand(3, 7, channels, size, size))
    assert logits.shape == (3, 4)
    F.cross_entropy(logits, torch.tensor([0, 1, 2])).backward()
    assert not [name for name, weight in model.named_parameters() if weight.grad is None]


@pytest.mark.parametrize(
    "name",
    ["fine", "fine-grouped", "fine-pyramid", "fine-nice", "fine-mlp", "blind", "object-only"],
)
def test_the_order_of_the_choices_does_not_matter(name):
    model = make_model(name, channels=1, size=32).eval()
    images = torch.rand(2, 7, 1, 32, 32)
    order = torch.tensor([2, 0, 3, 1])
    shuffled = torch.cat((images[:, :3], images[:, 3:][:, order]), dim=1)
    torch.testing.assert_close(model(shuffled), model(images)[:, order])


@pytest.mark.parametrize(
    "settings",
    [{"slots": 0}, {"layers": 0}, {"encoder": "resnet"}, {"encoder": "mlp"}],
    ids=str,
)
def test_the_settings_of_the_papers_ablations_work(settings):
    model = make_model("fine-nice", channels=1, size=32, settings=settings)
    assert model(torch.rand(2, 7, 1, 32, 32)).shape == (2, 4)


@pytest.mark.parametrize("name", [name for name in BUILT_IN if name != "fine-grouped"])
def test_the_table_of_models_names_their_sizes(name):
    sizes = []
    for encoder in ("p4-cnn", "conv"):
        settings = {"encoder": encoder} if hasattr(MODELS[name].config, "encoder") else {}
        sizes.append(size_of(make_model(name, channels=1, size=32, settings=settings)))
    lines = DOCS.read_text(encoding="utf-8").splitlines()
    row = next(line for line in lines if line.startswith(f"| [`{name}`]"))
    assert f"| {sizes[0]:,} | {sizes[1]:,} |" in row


def test_a_grouped_fine_is_as_large_as_another():
    sizes = {name: size_of(make_model(name, channels=1, size=32)) for name in BUILT_IN[:2]}
    assert sizes["fine-grouped"] == sizes["fine"]


def test_settings_may_be_texts():
    assert model_config("fine", {"slots": "32", "ridge": "1"}) == FINEConfig(slots=32, ridge=1.0)
    assert model_config("object-only", {"sees_object": "no"}) == ControlConfig(sees_object=False)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("fin", {}, "unknown model 'fin': did you mean 'fine'"),
        ("fine", {"slot": 3}, "unknown setting of model fine 'slot': did you mean 'slots'"),
        ("fine", {"slots": 2.5}, "slots=2.5 is not a whole number; its usual value is 8"),
        ("fine", {"score_all_directions": "maybe"}, "is not true or false"),
        ("fine", {"encoder": 3}, "encoder=3 is not str"),
        ("fine", {"ridge": "inf"}, "ridge=inf is not finite; its usual value is 0.1"),
    ],
)
def test_a_wrong_setting_is_refused_in_one_line(name, settings, message):
    with pytest.raises(FineError, match=message):
        model_config(name, settings)


def test_a_name_is_registered_once_and_with_a_dataclass():
    with pytest.raises(FineError, match="there is a model called 'fine' already"):
        register_model("fine", FINE, FINEConfig())
    with pytest.raises(FineError, match="expected an instance of a dataclass"):
        register_model("another", FINE, {"slots": 3})
    with pytest.raises(FineError, match="expected an instance of a dataclass"):
        register_model("another", FINE, FINEConfig)


@every_model
def test_a_model_knows_its_name(name):
    model = make_model(name, channels=1, size=32)
    # Controls keep no configuration, so both have the first name of their class.
    assert name_of(model) == ("blind" if name == "object-only" else name)


def test_a_model_that_is_not_registered_has_no_name():
    with pytest.raises(FineError, match="a Linear is no registered model"):
        name_of(nn.Linear(1, 1))


@pytest.mark.parametrize(
    ("name", "settings", "size"),
    [
        ("fine-mlp", {"embedding_size": 2**14}, 32),
        ("fine-nice", {"slots": 2**24}, 32),
        ("fine-nice", {"layers": 1000}, 32),
        ("relation-net", {"hidden": 2**20, "relation": 2**20}, 32),
        ("relation-net", {"hidden": 10**5, "relation": 10**5}, 32),
        ("fine", {"encoder": "mlp", "symmetry": "none"}, 800),
        ("fine", {"slots": 3_000_000}, 32),
        ("fine", {"slots": 10**30}, 32),
        ("fine-pyramid", {"fine_slots": 3_000_000}, 32),
    ],
)
def test_a_model_that_would_fill_the_memory_is_refused_before_it_is_made(name, settings, size):
    with pytest.raises(FineError, match="give it smaller settings") as refusal:
        refuse_giant(name, channels=1, size=size, settings=settings)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("channels", "size"), [(1, 10**30), (10**30, 32), (768, 33), (3, 513), (0, 32), (1, -1)]
)
def test_images_that_would_fill_the_memory_are_refused(channels, size):
    """An encoder that halves images has a layer more for twice the size, so the model is small."""
    with pytest.raises(FineError, match="a fine cannot see images of"):
        refuse_giant("fine", channels=channels, size=size)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("fine", {"slots": 5_000}),  # whose weights are 10 MB, and whose fit takes 6 GB
        ("fine", {"slots": 200, "symmetry": "two-sided"}),
        ("fine", {"slots": 1, "embedding_size": 3344, "columns": 1, "symmetry": "two-sided"}),
        ("fine-grouped", {"slots": 5_000, "groups": 5}),
        ("fine-pyramid", {"fine_slots": 5_000}),
    ],
)
def test_a_memory_that_would_take_too_much_to_read_is_refused(name, settings):
    def make() -> None:
        refuse_giant(name, channels=1, size=32, settings=settings)
        make_model(name, channels=1, size=32, settings=settings)

    with pytest.raises(FineError, match="numbers, more than 67,108,864: give fewer slots"):
        make()


def test_a_small_model_is_not_counted_and_a_larger_one_in_outline():
    """Counting takes more than a second in a new process, most of it imports of torch."""
    assert refuse_giant("fine", channels=1, size=32, settings={"slots": 48}) is None
    outline = refuse_giant("fine", channels=1, size=32, settings={"slots": 300})
    assert all(weight.is_meta for weight in outline.parameters())
    shapes = {key: weight.shape for key, weight in outline.state_dict().items()}
    model = make_model("fine", channels=1, size=32, settings={"slots": 300})
    assert shapes == {key: weight.shape for key, weight in model.state_dict().items()}


@every_model
def test_the_models_of_the_package_are_no_giants(name):
    refuse_giant(name, channels=3, size=32)


@dataclass(frozen=True)
class CuriousConfig:
    hidden: int = 2**14


class Curious(nn.Module):
    """Looks at its numbers while it is made, which shapes without numbers do not allow."""

    def __init__(self, config: CuriousConfig, *, channels: int, size: int):
        super().__init__()
        self.scale = torch.ones(config.hidden).sum().item()


def test_a_model_that_cannot_be_counted_is_not_refused(monkeypatch):
    monkeypatch.setattr("fine.models.registry.MODELS", dict(MODELS))
    register_model("curious", Curious, CuriousConfig())
    refuse_giant("curious", channels=1, size=32, settings={"hidden": 2**20})
