"""Whatever a file, a setting or a command line holds: a result or one clear line, in 5 seconds and a gigabyte at most."""

import contextlib
import gzip
import io
import json
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image, features

from fine import cli
from fine.experiments import Ledger, compare, make_experiment, markdown
from fine.experiments.durations import read_duration, show_duration
from fine.experiments.work import read_curve
from fine.images import cifar100, downloading, folder, mnist, omniglot
from fine.models import MODELS, model_config
from fine.progress import Silent
from fine.protocols import Training
from fine.report import html_page
from fine.rules import rule_set
from fine.runs import Run, RunConfig, read_tensors
from fine.tasks import Task
from fine.training import Trainer, train
from fuzzing import JSON, LEAVES, NUMBERS, TEXTS, a_result_or_one_line, damaged, limits, spoilt

ROOT = Path(__file__).parent.parent


# Pictures

LABELS = bytes([0, 0, 8, 1]) + (10_000).to_bytes(4, "big") + bytes(i % 10 for i in range(10_000))
DIGITS = bytes([0, 0, 8, 3]) + b"".join(n.to_bytes(4, "big") for n in (10_000, 28, 28)) + bytes(10_000 * 28 * 28)


@given(
    st.sampled_from(["t10k-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz"]),
    damaged(LABELS).map(lambda raw: gzip.compress(raw, 1)) | damaged(gzip.compress(LABELS)) | damaged(gzip.compress(DIGITS)),
)
def test_idx_files(tmp_path_factory, name, content):
    path = tmp_path_factory.getbasetemp() / "mnist" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    with a_result_or_one_line():
        mnist.check(path)


RECORDS = bytes(range(256)) * 61  # five of 3,074 bytes, and a rest
NAMES = "\n".join(f"class{number}" for number in range(100)).encode()


@pytest.fixture(scope="module")
def small_sources():
    """Official files of a few pictures instead of tens of thousands."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cifar100, "_RECORDS", {"train.bin": 3, "test.bin": 2})
        patch.setattr(omniglot, "_CHARACTERS", {"images_background.zip": 1, "images_evaluation.zip": 1})
        patch.setattr(omniglot, "_DRAWINGS", 2)
        yield


@given(
    damaged(RECORDS[: 3 * 3074]), damaged(RECORDS[: 2 * 3074]) | st.just(RECORDS[: 2 * 3074]), damaged(NAMES) | st.just(NAMES)
)
def test_cifar_files(small_sources, tmp_path_factory, train_file, test_file, names):
    root = tmp_path_factory.getbasetemp()
    (root / "cifar-100-binary").mkdir(exist_ok=True)
    for name, content in (("train.bin", train_file), ("test.bin", test_file), ("fine_label_names.txt", names)):
        (root / "cifar-100-binary" / name).write_bytes(content)
    with a_result_or_one_line():
        cifar100.load(size=32, data_root=root)


def picture_file(kind: str, mode: str = "RGB", size: tuple[int, int] = (105, 105)) -> bytes:
    file = io.BytesIO()
    noise = np.random.default_rng(0).integers(256, size=(*size[::-1], 4), dtype=np.uint8)
    Image.fromarray(noise).convert(mode).save(file, kind)
    return file.getvalue()


DRAWING = picture_file("PNG", "1")


def zipped(entries: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return file.getvalue()


FOLDER = "images_background/Greek/character01"
NAMED = st.characters(codec="utf-8", exclude_characters="\0")  # what a zip can hold in a name
SOUND = zipped({f"{FOLDER}/0001_01.png": DRAWING, f"{FOLDER}/0001_02.png": DRAWING})


@given(
    damaged(SOUND)
    | damaged(DRAWING).map(lambda drawing: zipped({f"{FOLDER}/0001_01.png": DRAWING, f"{FOLDER}/0001_02.png": drawing}))
    | st.dictionaries(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)
        | st.just(f"{FOLDER}/0001_01.png"),
        st.binary(max_size=50),
        max_size=3,
    ).map(zipped)
)
@example(zipped({f"{FOLDER}/0001_01.png": DRAWING, f"{FOLDER}/0001_02.png": bytes(20_000_000)}))  # a bomb
@example(SOUND[:22] + b"\0\0\0\0\0\x07" + SOUND[28:])  # the name of an entry goes on into the next: it was quoted whole
def test_zips(small_sources, tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "images_background.zip"
    path.write_bytes(content)
    with a_result_or_one_line():
        omniglot.check(path)
        omniglot._decode(path, 32)


def tarred(members: list[tuple[str, bytes, bytes]]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, kind, content in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "../../outside"
            member.size = len(content) if kind == tarfile.REGTYPE else 0
            archive.addfile(member, io.BytesIO(content))
    return file.getvalue()


MEMBER = st.tuples(
    st.sampled_from(["cifar/train.bin", "../../outside", "/tmp/../outside", "train.bin", "./x/../train.bin"])
    | st.text(max_size=10),
    st.sampled_from([tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE]),
    st.binary(max_size=30),
)


@given(damaged(tarred([("cifar/train.bin", tarfile.REGTYPE, b"content")])) | st.lists(MEMBER, max_size=4).map(tarred))
def test_archives_write_nothing_outside_of_their_folder(tmp_path_factory, content):
    place = tmp_path_factory.mktemp("archive")
    (place / "far/in").mkdir(parents=True)
    (place / "far/in/archive.tar.gz").write_bytes(content)
    with a_result_or_one_line():
        downloading._unpack(place / "far/in/archive.tar.gz", {"train.bin"})
    written = {str(path.relative_to(place)) for path in place.rglob("*")}
    assert written <= {"far", "far/in", "far/in/archive.tar.gz", "far/in/train.bin"}
    assert not (place / "far/in/train.bin").is_symlink()


KINDS = ["PNG", "JPEG", "GIF", "BMP", "TIFF", "PPM", *(["WEBP"] if features.check("webp") else [])]
KINDS += [kind for kind, module in (("JPEG2000", "jpg_2000"), ("AVIF", "avif")) if features.check(module)]
SAMPLES = [picture_file(kind, size=(40, 30)) for kind in KINDS] + [
    picture_file("PNG", mode, (9, 9)) for mode in ("P", "LA", "I;16")
]


@given(st.sampled_from(SAMPLES).flatmap(damaged))
def test_pictures_of_a_folder(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "picture"
    path.write_bytes(content)
    with a_result_or_one_line():
        folder._read(path, 32)


# Runs


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """A finished run, and one that was stopped after an epoch."""
    place = tmp_path_factory.mktemp("fuzzed")
    noise = np.random.default_rng(0)
    for label in "abcd":
        (place / "pictures" / label).mkdir(parents=True)
        for number in range(3):
            pixels = noise.integers(256, size=(32, 32), dtype=np.uint8)
            Image.fromarray(pixels).save(place / "pictures" / label / f"{number}.png")
    task = Task(images=f"folder:{place / 'pictures'}", rules="swap", train_count=4, test_count=2)
    config = RunConfig(task=task, training=Training(epochs=2, batch=2))
    train(config, place / "finished")

    class Stop(Silent):
        def epoch(self, **_: float) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(config, place / "stopped", progress=Stop())
    with torch.device("meta"):  # the first time takes seconds, which are not the files' fault
        torch.nn.init.orthogonal_(torch.empty(2, 3))
        torch.nn.Conv2d(1, 1, 3)
    return place


@pytest.fixture(scope="module")
def config(runs) -> dict[str, Any]:
    return json.loads((runs / "finished/config.json").read_text())


SETTINGS = st.dictionaries(
    st.sampled_from(sorted({name for recipe in MODELS.values() for name in vars(recipe.config)})), LEAVES | JSON, max_size=3
)


@given(st.data())
def test_configurations(runs, config, data):
    path = runs / "other/config.json"
    path.parent.mkdir(exist_ok=True)
    model = data.draw(st.sampled_from([*MODELS, "fine"]))
    whole = config | ({"model": model, "settings": data.draw(SETTINGS)} if data.draw(st.booleans()) else {})
    path.write_text(data.draw(spoilt(whole) | st.just(json.dumps(whole))), encoding="utf-8", errors="surrogatepass")
    with a_result_or_one_line():
        Run(path.parent).config().build()


@pytest.mark.parametrize("name", [*MODELS])
@pytest.mark.parametrize("size", [100_000, 2**31 - 1, 2**40, 2**63, 10**20])
def test_giants(runs, name, size):
    """Sizes that overflow when they are multiplied, or are no sizes at all."""
    for setting in ("code", "slots", "hidden", "layers"):
        if hasattr(MODELS[name].config, setting):
            with a_result_or_one_line():
                RunConfig(model=name, settings={setting: size}).build()


@given(st.sampled_from([*MODELS]), st.dictionaries(st.sampled_from(["slots", "code", "ridge", "keys", "encoder", "x"]), TEXTS))
def test_settings_as_texts(name, texts):
    with a_result_or_one_line():
        model_config(name, texts)


@given(st.data())
def test_weights(runs, data):
    path = runs / "finished/model.safetensors"
    whole = path.read_bytes()
    try:
        path.write_bytes(data.draw(damaged(whole) | changed_tensors(path)))
        with a_result_or_one_line():
            Run(path.parent).load()
    finally:
        path.write_bytes(whole)


@given(st.data())
def test_states(runs, data):
    run = Run(runs / "stopped")
    whole = run.state.read_bytes()
    try:
        run.state.write_bytes(data.draw(damaged(whole) | changed_tensors(run.state)))
        with a_result_or_one_line():
            Trainer(run, run.config(), torch.device("cpu")).fit(Silent())
    finally:
        run.state.write_bytes(whole)


@st.composite
def changed_tensors(draw: st.DrawFn, path: Path) -> bytes:
    """A file of tensors of which some are missing, new, or of another shape or type, with other texts beside them."""
    tensors, texts = read_tensors(path)
    for _ in range(draw(st.integers(0, 2))):
        name = draw(st.sampled_from(sorted(tensors)))
        shape = draw(st.lists(st.integers(0, 5), max_size=3) | st.just(list(tensors[name].shape)))
        kind = draw(st.sampled_from([torch.float32, torch.float64, torch.float16, torch.int64, torch.bool, torch.complex64]))
        act = draw(st.sampled_from(["change", "change", "drop", "new"]))
        if act == "drop" and len(tensors) > 1:
            del tensors[name]
        else:
            tensors[name if act == "change" else draw(st.sampled_from(["adam.0.x", "adam.999.step", "model.", "x"]))] = (
                torch.ones(shape, dtype=kind)
            )
    if texts:
        progress = json.loads(texts["progress"])
        texts = draw(st.sampled_from([{}, texts]) | spoilt(progress).map(lambda text: {"progress": text}))
        texts = {name: text.encode("utf-8", "replace").decode() for name, text in texts.items()}
    return safetensors.torch.save(tensors, texts or None)


# The ledger, and texts


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    return json.loads(next((ROOT / "results/ledger").glob("omniglot_rotation_fine_*.json")).read_text())


@given(st.data())
def test_ledgers(record, tmp_path_factory, data):
    ledger = Ledger(tmp_path_factory.getbasetemp() / "ledger")
    ledger.folder.mkdir(exist_ok=True)
    path = ledger.path(record["key"])
    path.write_text(data.draw(spoilt(record)), encoding="utf-8", errors="surrogatepass")
    with a_result_or_one_line():
        ledger.entries()
        comparison = compare(make_experiment("table1"), ledger)
        markdown(comparison)
        html_page([comparison])


@given(damaged(b"epoch,loss,accuracy,rate,puzzles/s\n1,0.5,0.25,0.002,100\n2,0.4,0.5,0.001,100\n"))
@example(b"epoch,loss,accuracy\n1,0.5\n")  # a row without its last column
def test_learning_curves(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "metrics.csv"
    path.write_bytes(content)
    with a_result_or_one_line():
        read_curve(path)


DURATIONS = st.lists(st.tuples(TEXTS | st.integers(0, 10**9).map(str), st.sampled_from("hms"))).map(
    lambda parts: "".join(number + unit for number, unit in parts)
)


@given(TEXTS | DURATIONS)
@example("9" * 400 + "h")  # infinitely many seconds
@example("9" * 3000 + "h")  # an error that repeated all of it
def test_durations(text):
    with a_result_or_one_line():
        show_duration(read_duration(text))


RULES = st.lists(st.sampled_from(["rotation", "swap", "affine", "all", "translation", ":seen", ":unseen", "", ":"]) | TEXTS)


@given(TEXTS | RULES.map("+".join) | RULES.map("".join))
def test_rule_sets(text):
    with a_result_or_one_line():
        assert len(rule_set(text)) >= 2


# The command line

OPTIONS = {
    "train": "task rules model set encoder-from protocol epochs batch rate clip fresh turned views through ask hints by noise "
    "covered train-count test-count size seed validation out resume device threads data-root",
    "evaluate": "task rules test-count by-rule json picture device threads data-root",
    "puzzles": "task rules count start answers out train seed size redraws data-root",
    "data": "data-root",
    "reproduce": "list jobs seeds budget models columns protocol images epochs batch rate fresh turned views through "
    "train-count test-count results work cluster device data-root",
    "report": "results out protocol images",
}
LAST = {  # said last, so that it counts: what works should be quick
    "train": ["--train-count", "4", "--test-count", "2", "--epochs", "1", "--task", "folder:pictures"],
    "evaluate": ["--test-count", "2"],
    "puzzles": ["--count", "1", "--task", "folder:pictures"],
    "reproduce": ["--dry-run"],
}
WORDS = st.sampled_from(
    [
        "fine",
        "esbn",
        "rotation",
        "swap",
        "folder:pictures",
        "finished",
        "pictures",
        "table1",
        "all",
        "show",
        "verify",
        "cpu",
        "meta",
        "cuda",
        "slots=2",
        "slots=-1",
        "code=1000000000",
        "x.png",
        "x/y.svg",
        "1",
        "0",
        "-1",
        "2h",
        "nan",
        "1e999",
        "--",
    ]
)
VALUES = (WORDS | TEXTS | NUMBERS.map(str)).map(lambda text: text.replace("\0", ""))  # no system hands on zero characters


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    command = draw(st.sampled_from(sorted(OPTIONS)))
    words = [command, *draw(st.lists(VALUES, max_size=2))]
    for option in draw(st.lists(st.sampled_from(OPTIONS[command].split()), max_size=4, unique=True)):
        words += [f"--{option}", *draw(st.lists(VALUES, max_size=2))]
    return words + LAST.get(command, [])


@given(command_lines() | st.lists(VALUES, max_size=4))
def test_command_lines(runs, words):
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        patch.chdir(runs)
        patch.setenv("FINE_DATA", str(runs / "nowhere"))
        patch.setattr(sys, "argv", ["fine", *words])
        code: object = 0
        threads = torch.get_num_threads()
        try:
            with limits():
                try:
                    cli.main()
                except SystemExit as stop:
                    code = stop.code or 0
        finally:
            torch.set_num_threads(threads)
    assert code in (0, 1, 2), said.getvalue()
    assert "Traceback" not in said.getvalue()
