"""Laws of loading: what is saved comes back the same, and what cannot be loaded is refused."""

from dataclasses import replace

import pytest
import torch

from fine import FINE, FINEConfig, FineError, RunConfig, Task, Training, load, pretrained, train
from fine.models import make_model, paper
from fine.models.hub import save_model
from fine.pretrained import load_calibration, trained_on
from fine.training import Run
from support.folders_of_models import FILES, answers, edit_config

# Bundled models


@pytest.mark.parametrize("name", pretrained.names())
def test_a_bundled_model_is_whole_and_says_what_it_sees(name):
    model = load(name)
    assert isinstance(model, paper.FINE) and not model.training
    assert (model.channels, model.size) in {(1, 32), (3, 32), (1, 28), (3, 28)}
    files = {file.name for file in pretrained.folder_of(name).iterdir()}
    assert files - {"calibration.json"} == FILES
    assert answers(model).isfinite().all()


@pytest.mark.parametrize("name", pretrained.image_models())
def test_a_bundled_model_of_images_is_calibrated(name):
    calibration = load_calibration(name)
    assert calibration.false_alarms == 0.05
    assert 0 < calibration.max_residual < 1 and 0.25 < calibration.min_confidence < 1


def test_there_is_a_bundled_model_for_all_rules_and_one_for_strings():
    assert "all-glyphs" in pretrained.image_models()
    assert set(pretrained.names()) - set(pretrained.image_models()) == {"all-strings"}


def test_an_unknown_name_is_answered_with_the_names_there_are():
    with pytest.raises(FineError, match="unknown model 'all-glyph': did you mean 'all-glyphs'"):
        load("all-glyph")


TOO_LONG = "cannot be looked for (File name too long): give its name, or its folder"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x" * 300, TOO_LONG),
        ("\0", "unknown model"),
        ("", "config.json is missing"),
        (3, "a model is no int: give its name, or its folder"),
        (None, "a model is no NoneType: give its name, or its folder"),
    ],
    ids=["long", "zero", "empty", "number", "nothing"],
)
def test_a_name_that_is_none_is_refused_in_one_line(name, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FineError) as problem:
        load(name)
    assert message in str(problem.value)


@pytest.mark.parametrize("look", [trained_on, load_calibration])
def test_nothing_is_looked_for_under_a_name_too_long_for_a_file(look):
    with pytest.raises(FineError, match="File name too long"):
        look("x" * 300)


# Exported folders


@pytest.mark.parametrize(
    "config",
    [
        FINEConfig(),
        FINEConfig(slots=3, embedding_size=1024),
        FINEConfig(encoder="p4-cnn", symmetry="none"),
    ],
)
@pytest.mark.parametrize(("channels", "size"), [(1, 32), (3, 28)])
def test_a_saved_model_comes_back_the_same(tmp_path, config, channels, size):
    if config.embedding_size == 1024 and size == 28:
        config = replace(config, embedding_size=256)  # 28 cannot be halved to 8
    torch.manual_seed(0)
    model = FINE(config, channels=channels, size=size).eval()
    folder = tmp_path / "saved"
    model.save_pretrained(folder)
    assert {file.name for file in folder.iterdir()} == FILES
    for back in (FINE.from_pretrained(folder), load(folder), load(str(folder))):
        assert (back.config, back.channels, back.size) == (config, channels, size)
        assert not back.training and torch.equal(answers(back), answers(model))


@pytest.mark.parametrize("name", ["fine-nice", "fine-mlp", "fine-grouped"])
def test_any_model_that_composes_functions_comes_back_the_same(tmp_path, name):
    torch.manual_seed(0)
    model = make_model(name, channels=1, size=32).eval()
    save_model(model, tmp_path)
    back = load(tmp_path)
    assert type(back) is type(model) and back.config == model.config and not back.training
    assert torch.equal(answers(back), answers(model))


def test_a_folder_of_format_1_is_loaded(tmp_path):
    """A bundled model is one; with its format said wrongly, its settings are not known."""
    source = pretrained.folder_of("all-glyphs")
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes((source / name).read_bytes())
    assert torch.equal(answers(load(tmp_path)), answers(load("all-glyphs")))
    edit_config(tmp_path, format=2)
    with pytest.raises(FineError, match="setting of model fine"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "config.json").unlink(), "config.json is missing"),
        (lambda folder: (folder / "config.json").write_text("{"), "cannot be read as JSON"),
        (lambda folder: (folder / "config.json").write_text("{}"), "is not that of a FINE to load"),
        (lambda folder: edit_config(folder, size=28.5), "expected two whole numbers"),
        (lambda folder: edit_config(folder, config={"slots": 4, "shape": 3}), "'shape'"),
        (lambda folder: edit_config(folder, config={"slots": 5}), "config.json needs"),
        (lambda folder: edit_config(folder, model="esbn", config={}), "expected a FINE"),
        (lambda folder: (folder / "model.safetensors").unlink(), "model.safetensors is missing"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"?"), "is damaged"),
    ],
)
def test_a_damaged_folder_is_refused_in_one_line(tmp_path, damage, message):
    FINE(FINEConfig(slots=4), channels=1, size=32).save_pretrained(tmp_path / "saved")
    damage(tmp_path / "saved")
    with pytest.raises(FineError) as problem:
        load(tmp_path / "saved")
    assert message in str(problem.value) and "\n" not in str(problem.value)


# Runs


def test_a_run_is_loaded_as_it_is(run):
    assert torch.equal(answers(load(run)), answers(Run(run).load()))
    assert trained_on(run) == Run(run).config().task


@pytest.mark.slow
def test_a_run_of_another_kind_of_model_is_refused(tmp_path):
    task = replace(Task.preset("glyphs", rules="reflection"), train_count=32, test_count=20)
    training = Training(epochs=1, batch=16)
    train(RunConfig(model="blind", task=task, training=training), tmp_path / "blind")
    with pytest.raises(FineError, match="holds a Control: expected a run of fine"):
        load(tmp_path / "blind")
