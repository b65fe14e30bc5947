"""`fine train`"""

import itertools
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from fine.cli.terminal import OptionalFloat, OptionalInt, OptionalPath, console, given, print_evaluation, say, use_device
from fine.errors import FineError, unknown
from fine.progress import Shown
from fine.protocols import PROTOCOLS, Training
from fine.questions import FORWARDS, question
from fine.runs import Run, RunConfig
from fine.strings import SETTINGS
from fine.tasks import Task
from fine.training import resume, train


@dataclass(frozen=True)
class Train:
    """Train a model on puzzles, then test it on pictures it has never seen."""

    task: str = "glyphs"
    """Pictures to train and test on: glyphs, omniglot, cifar100, mnist, extreme-cifar100, extreme-cifar100-omniglot,
    extreme-omniglot-mnist, or folder:PATH with one subfolder per class; or letters instead of pictures: strings,
    strings-longer, strings-letters, strings-permuted."""
    rules: str = "affine"
    """What happens to a picture: translation, rotation, reflection, shear, scale, fisheye, wave, black-white, swap,
    several joined by +, affine (the first five) or all. To a string: successor, predecessor, caesar, first, last, reverse,
    rotate, swap-ends, double, delete, sort, several joined by +, or all."""
    model: str = "fine"
    """fine, fine-nice or fine-mlp (the paper's two); esbn, transformer, hyper-net, predi-net or relation-net, which the paper
    compares them with; or a control: blind, object-only."""
    set: tuple[str, ...] = ()
    """Settings of the model, such as slots=32 ridge=1."""
    encoder_from: str = ""
    """A finished run folder whose trained encoder to start from."""
    protocol: str = "quick"
    """quick (6 epochs, one-cycle rate; of strings with new puzzles in each) or paper (200 epochs, batch 32, constant rate)."""
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
    turned: bool = False
    """Turn or mirror every picture of a training puzzle by itself before any rule, a new way each time."""
    views: OptionalInt = None
    """Sides a puzzle may be seen from in training: 1 as drawn, 4 by quarter turns, 8 mirrored too."""
    through: OptionalFloat = None
    """Share of the puzzles to be seen through a rule of the training, all pictures through the same: 0 to 1."""
    arrival: str = ""
    """How families are learnt that come one after another: plain, grow, anchor or rehearsal; empty: all together."""
    ask: str = "hints"
    """What is asked, in training and in the test: hints, backwards, chain or odd-one-out, as `fine evaluate` has them."""
    hints: int = 0
    """Hints that are shown; 0: one, two in a chain, four with an odd one out."""
    by: str = "inverse"
    """How a backwards puzzle is solved: inverse, turned or tried."""
    noise: float = 0.0
    """Share of the pixels of hints that have a random brightness instead of their own."""
    covered: float = 0.0
    """Share of each picture of a hint that a black square covers."""
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
        asked = "" if config.question == FORWARDS else f", asked '{config.question}',"
        title = f"training {config.model} on {config.task.rules} puzzles over {config.task.images}{asked} in {folder}"
        try:
            with Shown(console, title, epochs=config.training.epochs, puzzles=config.task.train_count) as progress:
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
        task = replace(task, size=self.size, validation=self.validation, data_root=self.data_root, **given(self, Task))
        protocol = PROTOCOLS["strings" if task.shows_strings and self.protocol == "quick" else self.protocol]
        fresh = self.fresh or protocol.fresh
        training = replace(
            protocol, seed=self.seed, fresh=fresh, turned=self.turned, arrival=self.arrival, **given(self, Training)
        )
        return RunConfig(
            model=self.model,
            task=task,
            training=training,
            settings={**(SETTINGS if task.shows_strings and self.model == "fine" else {}), **read_settings(self.set)},
            encoder_from=self.encoder_from,
            question=question(self.ask, hints=self.hints, noise=self.noise, covered=self.covered, by=self.by),
        )


def read_settings(texts: tuple[str, ...]) -> dict[str, str]:
    """("slots=32", …) as a mapping."""
    for text in texts:
        if "=" not in text:
            raise FineError(f"'{text}' is not a setting: write NAME=VALUE, such as slots=32")
    return dict(text.split("=", 1) for text in texts)
