"""Models as folders: what is saved comes back, and folders of format 1 are still read."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
import torch
from torch import Tensor

from fine import pretrained
from fine.errors import FineError
from fine.images.letters import grid
from fine.io.tensors import read_tensors, save_tensors
from fine.models import make_model
from fine.models.fine import FINE, FINEConfig
from fine.models.groups import GroupedFINE, GroupedFINEConfig
from fine.models.hub import FORMAT, load_model, save_model

BUNDLED = Path(pretrained.__file__).parent
IMAGES = torch.rand(3, 7, 1, 32, 32, generator=torch.Generator().manual_seed(0))


def answers(model: torch.nn.Module, images: Tensor = IMAGES) -> Tensor:
    with torch.no_grad():
        return model.eval()(images)


def edit(folder: Path, **changes: object) -> None:
    content = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**content, **changes}), encoding="utf-8")


@pytest.mark.parametrize("name", ["fine", "fine-grouped", "fine-nice", "fine-mlp"])
def test_a_saved_model_comes_back_the_same(name, tmp_path):
    torch.manual_seed(0)
    model = make_model(name, channels=1, size=32)
    save_model(model, tmp_path)
    content = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    assert (content["format"], content["model"]) == (FORMAT, name)
    loaded = load_model(tmp_path)
    assert type(loaded) is type(model) and loaded.config == model.config and not loaded.training
    assert torch.equal(answers(loaded), answers(model))


def test_a_model_saves_itself_with_a_card(tmp_path):
    torch.manual_seed(0)
    model = FINE(FINEConfig(slots=3), channels=1, size=32)
    model.save_pretrained(tmp_path)
    assert torch.equal(answers(FINE.from_pretrained(tmp_path)), answers(model))
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\nlicense: mit\n") and "grey images of 32 × 32" in card
    assert "slots=3" in card


def test_a_card_that_is_there_is_kept(tmp_path):
    (tmp_path / "README.md").write_text("mine")
    FINE(FINEConfig(slots=3), channels=1, size=32).save_pretrained(tmp_path)
    assert (tmp_path / "README.md").read_text() == "mine"


def test_a_model_is_pushed_as_its_folder(monkeypatch):
    asked = {}

    class Api:
        def __init__(self, *, token):
            asked["token"] = token

        def create_repo(self, name, *, private, exist_ok):
            asked["repo"] = (name, private, exist_ok)
            return SimpleNamespace(repo_id=name)

        def upload_folder(self, *, repo_id, folder_path, commit_message):
            asked["files"] = sorted(path.name for path in Path(folder_path).iterdir())
            asked["message"] = commit_message
            return SimpleNamespace(commit_url=f"hub/{repo_id}/commit")

    monkeypatch.setattr(huggingface_hub, "HfApi", Api)
    model = FINE(FINEConfig(slots=3), channels=1, size=32)
    made = model.push_to_hub("me/mine", private=True, token="t", commit_message="first")
    assert made == "hub/me/mine/commit" and asked["repo"] == ("me/mine", True, True)
    assert asked["files"] == ["README.md", "config.json", "model.safetensors"]
    assert (asked["token"], asked["message"]) == ("t", "first")


@pytest.mark.slow
def test_nobody_waits_for_the_hub_who_does_not_ask_for_it():
    program = "import sys, fine; fine.load('all-glyphs'); print('huggingface_hub' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


# Format 1.


def waves(channels: int) -> Tensor:
    """One puzzle that needs no data and no random numbers: waves of seven lengths."""
    ticks = torch.arange(32.0)
    images = torch.stack([torch.sin(ticks[:, None] / (n + 2) + ticks / 5) for n in range(7)])
    return (images[None, :, None] / 2 + 0.5).expand(-1, -1, channels, -1, -1)


STRINGS = grid(["abc", "abd", "mnp", "mnq", "mnp", "nnp", "mno"])[None]


@pytest.mark.parametrize(
    ("name", "puzzle", "logits"),
    [
        ("affine-cifar", waves(3), [-23.560, -22.276, -24.454, -25.166]),
        ("affine-omniglot", waves(1), [-41.005, -36.413, -33.026, -30.482]),
        ("all-glyphs", waves(1), [-1.956, -3.279, -4.649, -5.680]),
        ("all-strings", STRINGS, [-4.572, -5.814, -6.613, -8.36]),
    ],
)
def test_a_bundled_model_answers_as_it_did_when_it_was_trained(name, puzzle, logits):
    """The logits are those of the version that wrote format 1."""
    found = answers(load_model(BUNDLED / name), puzzle)[0]
    torch.testing.assert_close(found, torch.tensor(logits), rtol=1e-3, atol=2e-3)


def write_as_format_1(model: FINE, folder: Path, **old: object) -> None:
    """The folder of a model as an earlier version wrote it: other words, other names of tensors."""
    save_model(model, folder)
    edit(folder, format=1, config={"slots": model.config.slots, **old})
    content = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    content.pop("model")
    (folder / "config.json").write_text(json.dumps(content), encoding="utf-8")
    words = {
        ".residuals.": ".misfits.",
        "row_covariance": "row_spread",
        "column_covariance": "column_spread",
    }
    tensors = {}
    for name, tensor in read_tensors(folder / "model.safetensors")[0].items():
        for new, older in words.items():
            name = name.replace(new, older)
        tensors[name] = tensor
    save_tensors(folder / "model.safetensors", tensors)


def test_a_folder_of_format_1_is_read(tmp_path):
    torch.manual_seed(0)
    model = FINE(FINEConfig(slots=3, embedding_size=128, columns=8), channels=1, size=32)
    write_as_format_1(model, tmp_path, code=128, columns=8, analogy="fit", symmetry="together")
    loaded = load_model(tmp_path)
    assert type(loaded) is FINE and loaded.config == model.config
    assert torch.equal(answers(loaded), answers(model))


def test_residuals_of_groups_are_read_by_the_names_of_format_1(tmp_path):
    torch.manual_seed(0)
    model = GroupedFINE(GroupedFINEConfig(slots=4, groups=2), channels=1, size=32)
    (memory,) = model.backbone.memories
    memory.residuals.learn(1, torch.randn(50, 16, 16))
    write_as_format_1(model, tmp_path, groups=2)
    names = read_tensors(tmp_path / "model.safetensors")[0].keys()
    assert {name.rpartition(".misfits.")[2] for name in names if ".misfits." in name} == {
        "mean",
        "row_spread",
        "column_spread",
    }
    loaded = load_model(tmp_path)
    assert type(loaded) is GroupedFINE and loaded.config == model.config
    state = loaded.state_dict()
    assert all(torch.equal(state[name], tensor) for name, tensor in model.state_dict().items())


# Refusals.


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 3}, "is not that of a FINE to load: expected format 2"),
        ({"format": None}, "is not that of a FINE to load"),
        ({"config": []}, "is not that of a FINE to load"),
        ({"model": ["fine"]}, "is not that of a FINE to load"),
        ({"model": "fin"}, "unknown model 'fin': did you mean 'fine'"),
        ({"model": "esbn", "config": {}}, "is that of esbn: expected a FINE"),
        ({"size": 0}, "expected two whole numbers"),
        ({"channels": "grey"}, "expected two whole numbers"),
        ({"config": {"slots": 4, "shape": 3}}, "unknown setting of model fine 'shape'"),
        ({"config": {"slots": 4}}, r"has shape \[8, 16, 16\], the model in config.json needs"),
        ({"config": {"keys": "shared"}}, "which the model in config.json lacks"),
        ({"config": {"backbone": "mlp", "symmetry": "none"}}, "'backbone.memories.1.keys'"),
        ({"config": {"slots": 3_000_000}}, "slots=3000000 is too large: give it smaller settings"),
        ({"config": {"slots": 10**30}}, "too large: give it smaller settings"),
        ({"config": {"ridge": 1e300}}, r"ridge is 1e\+300"),
        ({"size": 10**30}, "cannot see images of"),
        ({"channels": 10**30}, "cannot see images of"),
        ({"channels": True}, "expected two whole numbers"),
    ],
    ids=str,
)
def test_a_folder_that_cannot_be_loaded_is_refused_in_one_line(tmp_path, changes, message):
    save_model(FINE(FINEConfig(), channels=1, size=32), tmp_path)
    edit(tmp_path, **changes)
    with pytest.raises(FineError, match=message) as refusal:
        load_model(tmp_path)
    assert "\n" not in str(refusal.value)


def test_weights_that_are_not_finite_are_refused(tmp_path):
    save_model(FINE(FINEConfig(), channels=1, size=32), tmp_path)
    tensors = read_tensors(tmp_path / "model.safetensors")[0]
    tensors["distance.raw"][0] = torch.nan
    save_tensors(tmp_path / "model.safetensors", tensors)
    with pytest.raises(FineError, match=r"'distance.raw' has numbers that are not finite"):
        load_model(tmp_path)


def test_weights_of_another_kind_of_number_are_refused(tmp_path):
    save_model(FINE(FINEConfig(), channels=1, size=32), tmp_path)
    tensors = read_tensors(tmp_path / "model.safetensors")[0]
    tensors["distance.raw"] = tensors["distance.raw"].long()
    save_tensors(tmp_path / "model.safetensors", tensors)
    with pytest.raises(FineError, match=r"'distance.raw' holds torch.int64, the model .* needs"):
        load_model(tmp_path)


class Unregistered(FINE):
    pass


def test_a_model_that_is_not_registered_is_not_saved(tmp_path):
    with pytest.raises(FineError, match="a Unregistered is no registered model"):
        save_model(Unregistered(FINEConfig(), channels=1, size=32), tmp_path)
    assert not list(tmp_path.iterdir())
