"""Settings that earlier versions wrote mean the same model today."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from fine import pretrained
from fine.models import MODELS, model_config
from fine.models.fine import FINE, FINEConfig
from fine.models.groups import GroupedFINEConfig
from fine.models.paper import PaperConfig
from fine.models.upgrades import upgrade_settings

OLD_DEFAULTS = {
    "encoder": "p4m-cnn",
    "standardise": "picture",
    "code": 256,
    "columns": 16,
    "backbone": "linear",
    "layers": 2,
    "slots": 8,
    "analogy": "fit",
    "symmetry": "together",
    "query": "solve",
    "ridge": 0.1,
    "keys": "tied",
    "readings": 4,
    "thorough": False,
    "groups": 0,
    "slot_form": "",
}
"""All settings of `fine`, as a run of format 2 names them."""
OLD_PUBLISHED = {
    "encoder": "p4-cnn",
    "standardise": "none",
    "code": 128,
    "columns": 1,
    "slots": 48,
    "analogy": "similarity",
    "symmetry": "none",
    "layers": 4,
    "ridge": 0.0,
    "keys": "own",
    "readings": 1,
    "thorough": False,
    "groups": 0,
    "slot_form": "",
    "query": "solve",
}
"""All settings of the paper's models but their backbone, as a run of format 2 names them."""


def upgraded(model: str, settings: dict[str, object]) -> tuple[str, object]:
    """The name of a model today, and its configuration."""
    name, words = upgrade_settings(model, settings)
    return name, model_config(name, words)


def test_the_defaults_of_before_are_the_defaults_of_today():
    assert upgraded("fine", OLD_DEFAULTS) == ("fine", FINEConfig())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"code": 64}, {"embedding_size": 64}),
        ({"thorough": True}, {"score_all_directions": True}),
        ({"readings": 1}, {"auxiliary_queries": 0}),
        ({"readings": 2}, {"auxiliary_queries": 1}),
        ({"readings": 4}, {"auxiliary_queries": 3}),
        ({"symmetry": "together"}, {"symmetry": "conjugate"}),
        ({"symmetry": "apart"}, {"symmetry": "two-sided"}),
        ({"symmetry": "none"}, {"symmetry": "none"}),
        ({"analogy": "fit"}, {"analogy": "least-squares"}),
        ({"analogy": "similarity"}, {"analogy": "similarity"}),
        ({"standardise": "picture"}, {"standardise": "image"}),
        ({"standardise": "pair"}, {"standardise": "pair"}),
        ({"standardise": True}, {"standardise": "image"}),  # format 1
        ({"standardise": False}, {"standardise": "none"}),  # format 1
        ({"tied": True}, {"keys": "tied"}),  # format 1
        ({"tied": False}, {"keys": "own"}),  # format 1
        ({"slots": 3, "ridge": 0.2}, {"slots": 3, "ridge": 0.2}),
        ({"groups": 0}, {}),
    ],
    ids=str,
)
def test_every_word_of_before_has_a_word_of_today(old, new):
    assert upgraded("fine", old) == ("fine", FINEConfig(**new))


def test_a_fine_with_groups_is_a_grouped_fine():
    expected = GroupedFINEConfig(slots=24, groups=3)
    assert upgraded("fine", {**OLD_DEFAULTS, "slots": 24, "groups": 3}) == (
        "fine-grouped",
        expected,
    )


@pytest.mark.parametrize("backbone", ["nice", "mlp"])
def test_the_papers_settings_are_the_papers_model(backbone):
    name = f"fine-{backbone}"
    expected = (name, PaperConfig(backbone=backbone))
    assert upgraded(name, {**OLD_PUBLISHED, "backbone": backbone}) == expected
    assert upgraded(name, {}) == expected


def test_settings_that_the_paper_has_are_kept():
    name, config = upgraded("fine-nice", {"code": 64, "slots": 8, "layers": 2, "query": "iterate"})
    expected = PaperConfig(embedding_size=64, slots=8, layers=2, query="iterate")
    assert (name, config) == ("fine-nice", expected)


@pytest.mark.parametrize("settings", [{"columns": 16}, {**OLD_PUBLISHED, "columns": 16}])
def test_the_papers_model_with_settings_beyond_the_paper_is_a_fine(settings):
    name, config = upgraded("fine-nice", {**settings, "code": 256})
    paper = {"encoder": "p4-cnn", "slots": 48, "layers": 4, "backbone": "nice"}
    beyond = {"standardise": "none", "analogy": "similarity", "symmetry": "none", "ridge": 0.0}
    published = FINEConfig(**paper, **beyond, keys="own", auxiliary_queries=0, columns=16)
    assert (name, config) == ("fine", published)
    model = FINE(config, channels=1, size=32)
    assert len(model.backbone.memories) == 2


def test_a_papers_model_with_groups_keeps_its_other_settings():
    settings = {"groups": 2, "analogy": "fit", "ridge": 0.1, "backbone": "mlp"}
    name, config = upgraded("fine-mlp", settings)
    assert name == "fine-grouped"
    assert (config.groups, config.slots, config.analogy) == (2, 48, "least-squares")
    assert (config.encoder, config.backbone, config.columns) == ("p4-cnn", "mlp", 1)


@pytest.mark.parametrize("name", ["esbn", "transformer", "hyper-net", "predi-net", "blind"])
def test_all_models_of_the_package_had_another_word_for_the_size_of_an_embedding(name):
    settings = {"code": 64, "encoder": "conv"}
    own = asdict(MODELS[name].config) | {"embedding_size": 64, "encoder": "conv"}
    assert upgraded(name, settings) == (name, type(MODELS[name].config)(**own))


@dataclass(frozen=True)
class OwnConfig:
    code: int = 3
    groups: int = 2
    analogy: str = "fit"


def test_a_registered_model_keeps_its_own_words(monkeypatch):
    monkeypatch.setitem(MODELS, "own", MODELS["fine"]._replace(config=OwnConfig()))
    settings = {"code": 5, "groups": 4, "analogy": "fit"}
    assert upgrade_settings("own", settings) == ("own", settings)


@pytest.mark.parametrize(
    ("model", "settings"),
    [
        ("no-such-model", {"slots": 3}),
        ("fine", {"readings": "many"}),
        ("fine", {"symmetry": ["together"]}),
        ("fine", {"no_such_setting": 1}),
        ("fine-nice", {"slots": None}),
    ],
    ids=str,
)
def test_what_is_wrong_is_left_for_others_to_refuse(model, settings):
    name, words = upgrade_settings(model, settings)
    assert name == model and set(settings) <= set(words)


@pytest.mark.parametrize("name", pretrained.names())
def test_settings_of_bundled_models_are_read(name):
    path = Path(pretrained.__file__).parent / name / "config.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    if content["format"] != 1:
        pytest.skip("written in the words of today")
    assert upgraded("fine", content["config"])[0] == "fine"
