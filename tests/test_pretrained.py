"""Promises of trained models as folders: what is saved comes back, a card tells the truth, and nothing is unpickled."""

import dataclasses
import http.server
import json
import os
import shlex
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import tyro

from fine import FINE, FINEConfig, FineError, Task, Training, load, pretrained
from fine.cli.train import Train
from fine.models import model_config
from fine.pretrained import load_calibration, trained_on
from fine.pretrained.cards import by_family, recipe
from fine.pretrained.exporting import export, what_it_shows
from fine.runs import Run, RunConfig
from fine.storage import read_json
from fine.training import train

FILES = {"model.safetensors", "config.json", "README.md"}


def answers(model: torch.nn.Module) -> torch.Tensor:
    shape = (3, 7, model.channels, model.size, model.size)
    with torch.no_grad():
        return model(torch.rand(shape, generator=torch.Generator().manual_seed(0)))


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A tiny run."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    task = replace(Task.preset("glyphs", rules="reflection+scale"), train_count=64, test_count=60)
    train(RunConfig(task=task, training=Training(epochs=1, batch=16, fresh=True), settings={"slots": 4}), folder)
    return folder


@pytest.mark.parametrize("name", pretrained.names())
def test_a_model_of_the_package_is_whole_and_says_what_it_sees(name):
    model = load(name)
    assert not model.training and (model.channels, model.size) in {(1, 32), (3, 32), (1, 28), (3, 28)}
    assert {file.name for file in pretrained.folder_of(name).iterdir()} - {"calibration.json"} == FILES
    assert answers(model).isfinite().all()


@pytest.mark.parametrize("name", pretrained.picture_models())
def test_how_far_the_word_of_a_model_of_the_package_goes_is_known(name):
    calibration = load_calibration(name)
    assert calibration.false_alarms == 0.05 and 0 < calibration.strangest_hint < 1 and 0.25 < calibration.least_sure < 1


@pytest.mark.parametrize("name", pretrained.names())
def test_the_card_of_a_model_of_the_package_has_data_recipe_scores_limits_and_licence(name):
    text = (Path(pretrained.__file__).parent / name / "README.md").read_text(encoding="utf-8")
    assert text.startswith("---\nlicense: mit\n") and f"# {name}\n" in text and "    fine train --task " in text
    assert all(f"## {heading}\n" in text for heading in ("Training", "Scores", "Limits", "Licence"))
    assert "dirty" not in text, "a packaged model comes from a commit"


def test_the_package_has_a_model_for_all_rules():
    assert "all-glyphs" in pretrained.names()


@pytest.mark.parametrize(
    "config", [FINEConfig(), FINEConfig(slots=3, code=1024), FINEConfig(encoder="p4-cnn", symmetry="none")]
)
@pytest.mark.parametrize(("channels", "size"), [(1, 32), (3, 28)])
def test_a_saved_model_comes_back_the_same(tmp_path, config, channels, size):
    if config.code == 1024 and size == 28:
        config = replace(config, code=256)  # 28 cannot be halved to 8
    torch.manual_seed(0)
    model = FINE(config, channels=channels, size=size).eval()
    model.save_pretrained(tmp_path / "saved")
    assert {file.name for file in (tmp_path / "saved").iterdir()} == FILES
    for back in (FINE.from_pretrained(tmp_path / "saved"), load(tmp_path / "saved"), load(str(tmp_path / "saved"))):
        assert (back.config, back.channels, back.size, back.training) == (config, channels, size, False)
        assert torch.equal(answers(back), answers(model))


def test_a_run_is_loaded_as_it_is_exported(run, tmp_path):
    export(run, tmp_path / "mine")
    assert {file.name for file in (tmp_path / "mine").iterdir()} == FILES
    assert torch.equal(answers(load(run)), answers(load(tmp_path / "mine")))
    assert torch.equal(answers(load(run)), answers(Run(run).load()))


def test_a_folder_says_what_its_model_was_trained_on(run, tmp_path):
    export(run, tmp_path / "mine")
    assert trained_on(run) == trained_on(tmp_path / "mine") == Run(run).config().task
    load(run).save_pretrained(tmp_path / "bare")  # knows nothing of its training
    assert trained_on(tmp_path / "bare") is None


@pytest.mark.parametrize("name", pretrained.names())
def test_a_model_of_the_package_was_trained_on_what_its_card_says(name):
    card = (pretrained.folder_of(name) / "README.md").read_text(encoding="utf-8")
    command = next(line for line in card.splitlines() if line.startswith("    fine train "))
    assert trained_on(name) == tyro.cli(Train, args=shlex.split(command)[2:]).config().task


def test_where_the_pictures_of_a_user_are_is_not_given_away():
    task = replace(Task.preset("folder:/home/me/cats", rules="all"), data_root="/home/me")
    assert what_it_shows(task)["images"] == "folder" and "/home/me" not in str(what_it_shows(task))


@pytest.mark.parametrize("said", [3, {"rules": 3}, {"rules": "all", "more": 1}, []])
def test_a_folder_that_says_nonsense_of_its_training_is_told_in_one_line(run, tmp_path, said):
    export(run, tmp_path / "mine")
    edit(tmp_path / "mine", trained_on=said)
    with pytest.raises(FineError, match=r"was trained on \("):
        trained_on(tmp_path / "mine")


def test_the_card_of_a_run_tells_its_scores(run, tmp_path):
    export(run, tmp_path / "mine")
    text, result = (tmp_path / "mine/README.md").read_text(encoding="utf-8"), read_json(run / "result.json")
    assert "# mine\n" in text and f"{result['accuracy']:.1%} of 60 puzzles" in text
    families = by_family(result)
    assert [family for family, _, _ in families] == ["reflection", "scale"] and sum(row[1] for row in families) == 60
    assert sum(puzzles * right for _, puzzles, right in families) / 60 == pytest.approx(result["accuracy"], abs=1e-3)
    assert all(f"| {family} | {puzzles} | {right:.1%} |" in text for family, puzzles, right in families)


@pytest.mark.parametrize(
    "options",
    [
        "",
        "--task omniglot --rules rotation --fresh --views 8 --seed 3",
        "--task extreme-omniglot-mnist --rules shear --epochs 3 --train-count 500",
        "--protocol paper --model fine-nice --set slots=8 layers=2 --rate 0.001",
        "--size 28 --validation --batch 32 --clip 1.5 --test-count 100",
        "--task folder:/tmp/my pictures --rules all --set standardise=false",
        "--task glyphs --encoder-from runs/first",
    ],
)
def test_the_recipe_on_a_card_asks_for_the_same_run(options):
    words = shlex.split(options) if "my pictures" not in options else ["--task", "folder:/tmp/my pictures", "--rules", "all"]
    asked = tyro.cli(Train, args=words).config()
    kept = replace(asked, settings=dataclasses.asdict(model_config(asked.model, asked.settings)))  # as a run keeps it
    program, command, *again = shlex.split(recipe(kept))
    config = tyro.cli(Train, args=again).config()
    assert (program, command) == ("fine", "train")
    assert replace(config, settings=dataclasses.asdict(model_config(config.model, config.settings))) == kept


def test_a_task_that_no_option_can_ask_for_is_described_in_python():
    text = recipe(RunConfig(task=replace(Task.preset("glyphs", rules="swap"), train_classes=7)))
    assert text.startswith("fine.train(RunConfig(") and "train_classes=7" in text


def test_the_command_exports_a_run(run, tmp_path, fine):
    code, out, err = fine("export", run, tmp_path / "given")
    assert code == 0, err
    assert str(tmp_path / "given") in out and torch.equal(answers(load(tmp_path / "given")), answers(load(run)))


def test_what_cannot_be_exported_is_told_in_one_line_and_leaves_nothing(run, tmp_path, fine):
    unfinished = tmp_path / "unfinished"
    unfinished.mkdir()
    (unfinished / "config.json").write_bytes((run / "config.json").read_bytes())
    before = {file.name: file.read_bytes() for file in run.iterdir()}
    for source, target, said in (
        (tmp_path / "nowhere", tmp_path / "out", "is not a run folder"),
        (unfinished, tmp_path / "out", "is not finished"),
        (run, run, "holds a run, which exporting would overwrite"),
    ):
        code, _, err = fine("export", source, target)
        assert code == 2 and said in err and err.count("\n") == 1
    assert not (tmp_path / "out").exists() and before == {file.name: file.read_bytes() for file in run.iterdir()}


def test_a_run_of_another_kind_of_model_is_refused(tmp_path):
    task = replace(Task.preset("glyphs", rules="reflection"), train_count=32, test_count=20)
    train(RunConfig(model="blind", task=task, training=Training(epochs=1, batch=16)), tmp_path / "blind")
    with pytest.raises(FineError, match="holds a Control: expected a run of fine"):
        load(tmp_path / "blind")


def test_an_unknown_name_is_answered_with_the_names_there_are():
    with pytest.raises(FineError, match="unknown model 'all-glyph': did you mean 'all-glyphs'"):
        load("all-glyph")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda folder: (folder / "config.json").unlink(), "config.json is missing"),
        (lambda folder: (folder / "config.json").write_text("{"), "cannot be read as JSON"),
        (lambda folder: (folder / "config.json").write_text("{}"), "is not that of a FINE to load"),
        (lambda folder: edit(folder, size=28.5), "expected two whole numbers"),
        (lambda folder: edit(folder, config={"slots": 4, "shape": 3}), "'shape'"),
        (lambda folder: edit(folder, config={"slots": 5}), "config.json needs"),
        (lambda folder: (folder / "model.safetensors").unlink(), "model.safetensors is missing"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"no tensors"), "is damaged"),
    ],
)
def test_a_damaged_folder_is_told_in_one_line(tmp_path, damage, said):
    FINE(FINEConfig(slots=4), channels=1, size=32).save_pretrained(tmp_path / "saved")
    damage(tmp_path / "saved")
    with pytest.raises(FineError) as problem:
        load(tmp_path / "saved")
    assert said in str(problem.value) and "\n" not in str(problem.value)


def edit(folder: Path, **changes: object) -> None:
    content = read_json(folder / "config.json")
    (folder / "config.json").write_text(json.dumps({**content, **changes}))


class Hub(http.server.BaseHTTPRequestHandler):
    """A hub on this machine that has one model, someone/mine, in the files of a folder."""

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        file = self.server.folder / Path(self.path).name
        found = self.path.startswith("/someone/mine/resolve/main/") and file.exists()
        self.send_response(200 if found else 404)
        content = file.read_bytes() if found else b""
        if found:
            self.send_header("ETag", f'"{hash(content)}"')
            self.send_header("X-Repo-Commit", "0" * 40)
        else:
            self.send_header("X-Error-Code", "EntryNotFound" if "/someone/mine/" in self.path else "RepoNotFound")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(tmp_path):
    """A hub with a folder of one's own behind it."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.folder, server.asked = tmp_path / "hub", []
    FINE(FINEConfig(slots=4), channels=1, size=32).save_pretrained(server.folder)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def ask(hub: http.server.HTTPServer, name: str, home: Path) -> subprocess.CompletedProcess[str]:
    """FINE.from_pretrained(name) in a process of its own, for the address of the hub is read when it is imported."""
    code = f"import fine; model = fine.FINE.from_pretrained({name!r}); print(model.config.slots, model.size)"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("HF_") and "proxy" not in key.lower()}
    environment |= {"HF_ENDPOINT": f"http://127.0.0.1:{hub.server_port}", "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1"}
    environment |= {"HF_HUB_DISABLE_TELEMETRY": "1"}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)


def test_a_name_is_asked_of_the_hub(hub, tmp_path):
    done = ask(hub, "someone/mine", tmp_path / "home")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["4", "32"]
    assert {Path(path).name for path in hub.asked} == {"config.json", "model.safetensors"}


def test_a_pickle_on_the_hub_is_never_asked_for(hub, tmp_path):
    (hub.folder / "model.safetensors").rename(hub.folder / "pytorch_model.bin")
    done = ask(hub, "someone/mine", tmp_path / "home")
    assert done.returncode and "FineError: the model 'someone/mine' cannot be had from the hub" in done.stderr
    assert not any("bin" in path for path in hub.asked)


def test_a_name_the_hub_does_not_have_is_told_in_one_line(hub, tmp_path):
    done = ask(hub, "someone/nothing", tmp_path / "home")
    assert done.returncode and "FineError: the model 'someone/nothing' cannot be had from the hub" in done.stderr
