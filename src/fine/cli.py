"""The command line: `fine …` turns options into the same calls a Python program makes, and prints what they return."""

import itertools
import os
import shlex
import sys
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import torch
import tyro
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from fine.drawing import draw_sheet, show
from fine.drawing.sheet import FORMATS
from fine.errors import FineError, unknown
from fine.evaluation import BLIND_CHANCE, OBJECT_CHANCE, Evaluation, evaluate
from fine.images.checking import status, verify
from fine.images.downloading import download
from fine.images.official import OFFICIAL, find_data_root, official_source
from fine.progress import Shown
from fine.protocols import PROTOCOLS, Training
from fine.puzzles import KINDS, Puzzles
from fine.rules import rule_set
from fine.runs import Run, RunConfig
from fine.storage import write_json
from fine.tasks import Task
from fine.training import resume, train

console = Console()

# None stands for "as the task or the protocol has it" and need not be shown as something to type.
OptionalInt = Annotated[int | None, tyro.conf.arg(metavar="INT")]
OptionalFloat = Annotated[float | None, tyro.conf.arg(metavar="FLOAT")]
OptionalPath = Annotated[Path | None, tyro.conf.arg(metavar="PATH")]


@dataclass(frozen=True)
class Train:
    """Train a model on puzzles, then test it on pictures it has never seen."""

    task: str = "glyphs"
    """Pictures to train and test on: glyphs, omniglot, cifar100, mnist, extreme-cifar100, extreme-cifar100-omniglot,
    extreme-omniglot-mnist, or folder:PATH with one subfolder per class."""
    rules: str = "affine"
    """What happens to a picture: translation, rotation, reflection, shear, scale, fisheye, wave, black-white, swap,
    several joined by +, affine (the first five) or all."""
    model: str = "fine"
    """fine, fine-nice or fine-mlp (the paper's two); esbn, transformer, hyper-net, predi-net or relation-net, which the paper
    compares them with; or a control: blind, object-only."""
    set: tuple[str, ...] = ()
    """Settings of the model, such as slots=32 ridge=1."""
    protocol: str = "quick"
    """quick (6 epochs, one-cycle rate) or paper (200 epochs, batch 32, constant rate)."""
    epochs: OptionalInt = None
    """Passes over the training puzzles, if not the protocol's."""
    batch: OptionalInt = None
    """Puzzles a step, if not the protocol's."""
    rate: OptionalFloat = None
    """Learning rate, if not the protocol's."""
    clip: OptionalFloat = None
    """Largest norm of the gradient, if not the protocol's."""
    fresh: bool = False
    """Draw new puzzles for every epoch instead of showing the same ones again."""
    views: OptionalInt = None
    """Sides a puzzle may be seen from in training: 1 as drawn, 4 by quarter turns, 8 mirrored too."""
    train_count: OptionalInt = None
    """Training puzzles, if not the task's."""
    test_count: OptionalInt = None
    """Test puzzles, if not the task's."""
    size: int = 32
    """Width and height of the pictures: 32 or 28."""
    seed: int = 0
    """Fixes the starting weights, the training puzzles and their order."""
    validation: bool = False
    """Test on training classes held back, instead of the test classes: for choosing settings."""
    out: OptionalPath = None
    """Run folder; by default a new one, runs/TASK-RULES-MODEL-SEED."""
    resume: OptionalPath = None
    """Continue the run in this folder; all other options come from it."""
    device: str = "cpu"
    """cpu or cuda."""
    threads: int = 0
    """CPU threads; 0 lets torch choose."""
    data_root: str = ""
    """Folder of the official data files; otherwise FINE_DATA or the user cache folder."""

    def run(self) -> None:
        use_device(self.device, self.threads)
        if self.resume is not None:
            folder, config = self.resume, Run(self.resume).config()
        else:
            config = self.config()
            folder = self.out or self._free_folder()
        say(f"training {config.model} on {config.task.rules} puzzles over {config.task.images} in {folder}")
        try:
            with Shown(console, epochs=config.training.epochs, puzzles=config.task.train_count) as progress:
                if self.resume is not None:
                    evaluation = resume(folder, device=self.device, progress=progress)
                else:
                    evaluation = train(config, folder, device=self.device, progress=progress)
        except KeyboardInterrupt:
            remedy = f"continue with: fine train --resume {shlex.quote(str(folder))}"
            say(f"stopped; {remedy if Run(folder).exists else 'nothing was written'}")
            raise SystemExit(130) from None
        print_evaluation(evaluation)
        say(f"run folder: {folder}    solved and missed puzzles: {folder / 'puzzles.png'}")

    def _free_folder(self) -> Path:
        """runs/TASK-RULES-MODEL-SEED, or the first of …-2, …-3 that holds no run."""
        name = f"{self.task}-{self.rules}-{self.model}-{self.seed}".replace("/", "-").replace(":", "-")
        candidates = (
            Path("runs") / f"{name}{suffix}" for suffix in itertools.chain([""], (f"-{k}" for k in itertools.count(2)))
        )
        return next(folder for folder in candidates if not Run(folder).exists)

    def config(self) -> RunConfig:
        """The run these options ask for."""
        if self.protocol not in PROTOCOLS:
            raise unknown("protocol", self.protocol, PROTOCOLS)
        task = Task.preset(self.task, rules=self.rules)
        task = replace(task, size=self.size, validation=self.validation, data_root=self.data_root, **self._given(Task))
        training = replace(PROTOCOLS[self.protocol], seed=self.seed, fresh=self.fresh, **self._given(Training))
        return RunConfig(model=self.model, task=task, training=training, settings=read_settings(self.set))

    def _given(self, kind: type) -> dict[str, Any]:
        """The options that were given and belong to ``kind``."""
        optional = {"epochs", "batch", "rate", "clip", "views", "train_count", "test_count"}
        names = optional & {entry.name for entry in fields(kind)}
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


@dataclass(frozen=True)
class Evaluate:
    """Test a trained model, on the puzzles of its own task or of another."""

    folder: tyro.conf.Positional[Path]
    """The run folder."""
    task: str = ""
    """Another task to test on, such as omniglot for a model trained on glyphs."""
    rules: str = ""
    """Other rules to test on."""
    test_count: OptionalInt = None
    """Test puzzles, if not the task's."""
    by_rule: bool = False
    """Also show a row for every rule."""
    json: OptionalPath = None
    """Write the numbers to this file too."""
    picture: OptionalPath = None
    """Draw solved and missed puzzles to this PNG or SVG file."""
    device: str = "cpu"
    """cpu or cuda."""
    threads: int = 0
    """CPU threads; 0 lets torch choose."""
    data_root: str = ""
    """Folder of the official data files; otherwise FINE_DATA or the user cache folder."""

    def run(self) -> None:
        use_device(self.device, self.threads)
        run = Run(self.folder)
        config = run.config()
        task = config.task
        if self.task:
            task = Task.preset(self.task, rules=self.rules or config.task.rules.partition(":")[0])
        elif self.rules:
            task = replace(task, rules=self.rules, test_rules="")
        count = task.test_count if self.test_count is None else self.test_count
        if count < 1:
            raise FineError(f"test_count is {count}: give at least 1")
        if self.picture is not None and self.picture.suffix.lower().removeprefix(".") not in FORMATS:
            raise FineError(f"cannot draw puzzles as '{self.picture.name}': the name must end in .{' or .'.join(FORMATS)}")
        # A model sees pictures as it was trained to: grey or colour, and of its own size.
        root = self.data_root or config.task.data_root
        task = replace(task, channels=config.channels, size=config.task.size, test_count=count, data_root=root)
        evaluation = evaluate(run.load(device=self.device), task.test_puzzles(), device=self.device)
        print_evaluation(evaluation)
        if self.by_rule:
            console.print(rule_table(evaluation))
        if self.json is not None:
            write_json(self.json, evaluation.summary())
        if self.picture is not None:
            evaluation.draw(self.picture)
            say(f"solved and missed puzzles: {self.picture}")


@dataclass(frozen=True)
class ShowPuzzles:
    """Show puzzles in the terminal, and draw them to a file if asked."""

    task: str = "glyphs"
    """Where the pictures come from; the names are those of `fine train`."""
    rules: str = "affine"
    """What happens to a picture; the names are those of `fine train`."""
    count: int = 4
    """How many puzzles."""
    start: int = 0
    """Number of the first one."""
    answers: bool = False
    """Mark the right choices and name the rules."""
    out: OptionalPath = None
    """Draw them to this PNG or SVG file."""
    train: bool = False
    """Show training puzzles instead of test puzzles."""
    seed: int = 0
    """Seed of the training puzzles."""
    size: int = 32
    """Width and height of the pictures: 32 or 28."""
    redraws: bool = False
    """Instead of showing puzzles, count for each family how many had choices that look alike and were drawn again."""
    data_root: str = ""
    """Folder of the official data files; otherwise FINE_DATA or the user cache folder."""

    def run(self) -> None:
        if self.count < 1 or self.start < 0:
            raise FineError(f"cannot show {self.count} puzzles from number {self.start}: give a count ≥ 1 and a start ≥ 0")
        end = self.start + self.count
        task = Task.preset(self.task, rules=self.rules)
        task = replace(task, size=self.size, train_count=end, test_count=end, data_root=self.data_root)
        if self.redraws:
            console.print(self._redraw_table(task))
            return
        puzzles = self._draw(task)
        numbers = range(self.start, end)
        if self.out is not None:
            draw_sheet(puzzles, numbers, self.out, answers=self.answers)
            say(f"drawn to {self.out}")
        show(puzzles, numbers, console=console, answers=self.answers)

    def _draw(self, task: Task) -> Puzzles:
        return task.training_puzzles(seed=self.seed) if self.train else task.test_puzzles()

    def _redraw_table(self, task: Task) -> Table:
        table = Table("family", "puzzles", "drawn again", "share")
        rules = task.rules if self.train else task.test_rules or task.rules
        _, colon, split = rules.partition(":")
        for family in rule_set(rules).families:
            attempts = self._draw(replace(task, rules=family + colon + split, test_rules="")).attempts
            again = int((attempts > 1).sum())
            table.add_row(family, f"{len(attempts):,}", f"{again:,}", f"{again / len(attempts):.2%}")
        return table


@dataclass(frozen=True)
class Data:
    """Show which image data is there; download it; verify it."""

    action: tyro.conf.Positional[Literal["show", "download", "verify"]] = "show"
    """What to do."""
    sources: tyro.conf.Positional[tuple[str, ...]] = ()
    """omniglot, cifar100, mnist; all of them if none is named."""
    data_root: str = ""
    """Folder of the official data files; otherwise FINE_DATA or the user cache folder."""

    def run(self) -> None:
        root = find_data_root(self.data_root or None)
        names = self.sources or tuple(OFFICIAL)
        for name in names:
            official_source(name)  # refuse an unknown name before anything is fetched
        say(f"data root: {root}")
        {"show": self._show, "download": self._download, "verify": self._verify}[self.action](names, root)

    def _show(self, names: tuple[str, ...], root: Path) -> None:
        table = Table("source", "file", "state", "MB", "what")
        rows = [row for row in status(root) if row.source in names]
        for row in rows:
            what = row.detail if row.state == "present" else ""
            table.add_row(row.source, row.path.name, row.state, f"{row.size / 1e6:.1f}", what)
        console.print(table)
        for row in rows:
            if row.state == "damaged":
                say(row.detail)
        say("glyphs and folder:PATH need no download; get the others with: fine data download NAME")

    def _download(self, names: tuple[str, ...], root: Path) -> None:
        for name in names:
            written = download(name, root)
            say(f"{name}: {len(written)} files written" if written else f"{name}: was there already")

    def _verify(self, names: tuple[str, ...], root: Path) -> None:
        words = {True: "official checksum", False: "other checksum than the official one", None: "no checksum published"}
        for name in names:
            found = verify(name, root)
            say(f"{name}: whole, {found.pictures:,} pictures of {found.classes:,} classes, {found.channels} channels")
            for path, matches in found.official.items():
                say(f"  {path.name}: {words[matches]}")


Command = Train | Evaluate | Annotated[ShowPuzzles, tyro.conf.subcommand("puzzles")] | Data

DESCRIPTION = "Show one example pair, get the function that made it: train and test FINE on IQ puzzles."


def say(text: str) -> None:
    """Print a line as it is: not wrapped, so that paths can be copied, and with [brackets] left alone."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def read_settings(texts: tuple[str, ...]) -> dict[str, str]:
    """("slots=32", …) as a mapping."""
    for text in texts:
        if "=" not in text:
            raise FineError(f"'{text}' is not a setting: write NAME=VALUE, such as slots=32")
    return dict(text.split("=", 1) for text in texts)


def use_device(device: str, threads: int) -> None:
    """Check that the device is there and set the number of threads."""
    try:
        torch.zeros(1, device=device).item()  # reading it back also refuses `meta`, which holds no numbers
    except (RuntimeError, AssertionError) as problem:
        raise FineError(f"device '{device}' cannot be used here: choose cpu, or cuda on a machine that has it") from problem
    if threads < 0:
        raise FineError(f"threads is {threads}: give 0 to let torch choose, or a positive number")
    if threads:
        torch.set_num_threads(threads)


def print_evaluation(evaluation: Evaluation) -> None:
    """Accuracy beside the chance levels, and where the mistakes are."""
    low, high = evaluation.interval
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_row("[bold]accuracy[/]", f"[bold green]{evaluation.accuracy:.1%}[/]", f"95 % interval {low:.1%} – {high:.1%}")
    table.add_row("right object only", f"{OBJECT_CHANCE:.1%}", "chance for one who ignores the rule")
    table.add_row("blind", f"{BLIND_CHANCE:.1%}", "chance for one who guesses among four")
    mistakes = ", ".join(f"{share:.1%} {name}" for name, share in evaluation.mistakes.items())
    table.add_row("mistakes", f"{1 - evaluation.accuracy:.1%}", mistakes)
    rules, images = evaluation.puzzles.rules.name, evaluation.puzzles.images.name
    say(f"\n{len(evaluation.puzzles):,} test puzzles, {rules} over {images} never seen in training")
    console.print(table)


def rule_table(evaluation: Evaluation) -> Table:
    """A row for every hidden rule."""
    table = Table("rule", "puzzles", *KINDS)
    for row in evaluation.by_rule():
        table.add_row(row["rule"], str(row["puzzles"]), *(f"{row[kind]:.1%}" for kind in KINDS))
    return table


def fail(problem: FineError) -> NoReturn:
    """Say what is wrong in one line, and exit with code 2."""
    Console(stderr=True).print(f"[bold red]error:[/] {escape(str(problem))}", highlight=False, soft_wrap=True)
    raise SystemExit(2) from None


def main() -> None:
    """Run one command; an error is one line on standard error and exit code 2."""
    if int(os.environ.get("RANK", "0")):
        console.quiet = True  # under torchrun, one process speaks for all
    arguments = sys.argv[1:] or ["--help"]
    try:
        command = tyro.cli(Command, prog="fine", description=DESCRIPTION, args=arguments)
        command.run()
    except FineError as problem:
        fail(problem)
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except (MemoryError, RuntimeError) as problem:
        if "memory" not in str(problem).lower():
            raise
        fail(FineError("there is not enough memory for this: use a smaller --batch, fewer slots or fewer puzzles"))
    except BrokenPipeError:  # the reader went away, as `fine … | head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
