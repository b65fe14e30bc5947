"""Whatever a run folder or a setting holds: a result or one clear line, within limits."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from hypothesis import given
from hypothesis import strategies as st

from fine.evaluation.calibration import Calibration
from fine.experiments.ledger import Ledger
from fine.experiments.worker import read_curve
from fine.inference import solve_many
from fine.io.tensors import LARGEST_HEADER, read_tensors
from fine.models import MODELS, model_config
from fine.training import Run, RunConfig, Silent, Trainer
from support.fuzzing import JSON, LEAVES, TEXTS, a_result_or_one_line, damaged, spoilt
from support.odd_files import odd_files, without_waiting

FORMATS = Path(__file__).parent / "formats"
NAMES = sorted({name for recipe in MODELS.values() for name in vars(recipe.config)})
SETTINGS = st.dictionaries(st.sampled_from(NAMES), LEAVES | JSON, max_size=3)


@pytest.fixture(scope="module")
def config(fuzzed_runs) -> dict[str, Any]:
    return json.loads((fuzzed_runs / "finished/config.json").read_text())


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("run")


def read_and_build(folder: Path, text: str) -> None:
    """Read a config.json with this text and build its model."""
    path = folder / "config.json"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    with a_result_or_one_line():
        Run(folder).config().build()


@pytest.mark.slow
@given(st.data())
def test_configurations(folder, config, data):
    model = data.draw(st.sampled_from([*MODELS, "fine"]))
    if data.draw(st.booleans()):
        config = {**config, "model": model, "settings": data.draw(SETTINGS)}
    read_and_build(folder, data.draw(spoilt(config) | st.just(json.dumps(config))))


@pytest.mark.slow
@given(st.data())
def test_configurations_of_earlier_formats_and_other_kinds(folder, data):
    paths = [FORMATS / "1/finished", FORMATS / "2/finished", FORMATS / "2/continual"]
    paths += [FORMATS / "2/continual/2-rotation", FORMATS / "3/continual"]
    path = data.draw(st.sampled_from(paths)) / "config.json"
    read_and_build(folder, data.draw(spoilt(json.loads(path.read_text()))))


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("size", [100_000, 2**31 - 1, 2**40, 2**63, 10**20])
def test_giants(fuzzed_runs, name, size):
    """Sizes that overflow when they are multiplied, or are no sizes at all."""
    for setting in ("embedding_size", "slots", "hidden", "layers", "groups"):
        if hasattr(MODELS[name].config, setting):
            with a_result_or_one_line():
                RunConfig(model=name, settings={setting: size}).build()


@given(
    st.sampled_from([*MODELS]),
    st.dictionaries(
        st.sampled_from(["slots", "embedding_size", "ridge", "keys", "encoder", "x"]), TEXTS
    ),
)
def test_settings_as_texts(name, texts):
    with a_result_or_one_line():
        model_config(name, texts)


@pytest.mark.slow
@given(st.data())
def test_weights(fuzzed_runs, data):
    path = fuzzed_runs / "finished/model.safetensors"
    whole = path.read_bytes()
    try:
        path.write_bytes(data.draw(damaged(whole) | changed_tensors(path) | lying_headers()))
        with a_result_or_one_line():
            model = Run(path.parent).load()
            (answer,) = solve_many(model, PUZZLE)
            assert sum(answer.probabilities) == pytest.approx(1, abs=1e-3)
    finally:
        path.write_bytes(whole)


@pytest.mark.slow
@given(st.data())
def test_checkpoints(fuzzed_runs, data):
    run = Run(fuzzed_runs / "stopped")
    whole = run.checkpoint.read_bytes()
    try:
        run.checkpoint.write_bytes(data.draw(damaged(whole) | changed_tensors(run.checkpoint)))
        with a_result_or_one_line():
            Trainer(run, run.config(), torch.device("cpu")).fit(Silent())
    finally:
        run.checkpoint.write_bytes(whole)


PUZZLE = torch.rand(1, 7, 1, 32, 32, generator=torch.Generator().manual_seed(0))
KINDS = [*(torch.float32, torch.float64, torch.float16, torch.int64, torch.bool, torch.complex64)]
VALUES = [1, 0, -1, 1e30, 3e38, 1e300, torch.nan, torch.inf]
NEW_NAMES = ["adam.0.x", "adam.999.step", "model.", "x"]


@st.composite
def changed_tensors(draw: st.DrawFn, path: Path) -> bytes:
    """A file with tensors missing, new, or of another shape or type, and with other texts."""
    tensors, texts = read_tensors(path)
    for _ in range(draw(st.integers(0, 2))):
        name = draw(st.sampled_from(sorted(tensors)))
        same = st.just(list(tensors[name].shape))
        shape = draw(st.lists(st.integers(0, 5), max_size=3) | same)
        kind = draw(st.sampled_from(KINDS))
        act = draw(st.sampled_from(["change", "change", "drop", "new"]))
        if act == "drop" and len(tensors) > 1:
            del tensors[name]
            continue
        name = name if act == "change" else draw(st.sampled_from(NEW_NAMES))
        value = draw(st.sampled_from(VALUES)) if kind.is_floating_point else 1
        tensors[name] = torch.full(shape, value, dtype=torch.float64).to(kind)
    if texts:
        others = spoilt(json.loads(texts["progress"])).map(lambda text: {"progress": text})
        texts = draw(st.sampled_from([{}, texts]) | others)
        texts = {name: text.encode("utf-8", "replace").decode() for name, text in texts.items()}
    return safetensors.torch.save(tensors, texts or None)


@st.composite
def lying_headers(draw: st.DrawFn) -> bytes:
    """A file whose header claims a length that it may not have, and tensors of any size."""
    shape = draw(st.lists(st.integers(0, 5) | st.integers(0, 2**40), max_size=4))
    start, end = draw(st.tuples(*2 * [st.integers(0, 50) | st.integers(0, 2**62)]))
    entry = {"dtype": "F32", "shape": shape, "data_offsets": [start, end]}
    names = draw(st.integers(1, 2_000) | st.just(1))
    header = json.dumps({f"{name}": entry for name in range(names)}).encode()
    length = draw(st.just(len(header)) | st.integers(0, 2**64 - 1) | st.just(LARGEST_HEADER))
    return length.to_bytes(8, "little") + header + draw(st.binary(max_size=100))


READ: dict[str, Callable[[Path], object]] = {
    "config.json": lambda folder: Run(folder).config(),
    "model.safetensors": lambda folder: Run(folder).load(),
    "metrics.csv": lambda folder: read_curve(folder / "metrics.csv"),
    "calibration.json": lambda folder: Calibration.read(folder / "calibration.json"),
    "record.json": lambda folder: Ledger(folder).read("record"),
}
"""File -> what reads it."""


@odd_files
@pytest.mark.parametrize(("name", "read"), READ.items(), ids=READ)
def test_pipes_sockets_devices_and_links(fuzzed_runs, tmp_path, make, name, read):
    run = tmp_path / "run"
    shutil.copytree(fuzzed_runs / "finished", run)
    (run / name).unlink(missing_ok=True)
    make(run / name)
    with without_waiting(), a_result_or_one_line():
        read(run)


@odd_files
def test_a_checkpoint_that_is_no_file(fuzzed_runs, tmp_path, make):
    run = Run(tmp_path / "run")
    shutil.copytree(fuzzed_runs / "stopped", run.folder)
    run.checkpoint.unlink()
    make(run.checkpoint)
    with without_waiting(), a_result_or_one_line():
        Trainer(run, run.config(), torch.device("cpu")).fit(Silent())
