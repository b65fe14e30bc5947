"""A task: the images and rules that a model learns from, and the new ones that it is tested on.

task = Task.preset("omniglot", rules="rotation")   # the paper's: 100 / 800 characters
train, test = task.training_puzzles(), task.test_puzzles()
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from fine.errors import FineError, unknown
from fine.images import Images, are_strings, load_images, load_strings
from fine.images.mixture import origins
from fine.images.sources import PLUGINS
from fine.plugins import plugin_names
from fine.puzzles.puzzles import Puzzles
from fine.puzzles.sampling import draw_puzzles
from fine.puzzles.strings import draw_string_puzzles
from fine.puzzles.variants import PLAIN, Variant, draw_variant
from fine.randomness import random_order
from fine.rules import rule_set, tested_rules
from fine.rules.strings import string_rules

# Addresses of random numbers: no two uses share any. Those of training are in training/feed.py.
_SPLIT, _TRAIN, _TEST = 1, 2, 3


@dataclass(frozen=True)
class Task:
    """Images and rules of training and of tests, and the number of puzzles of each.

    Examples:
        >>> import fine
        >>> task = fine.Task.preset("glyphs", rules="rotation")
        >>> len(task.training_classes), len(task.testing_classes), task.train_count
        (200, 200, 10000)
        >>> mine = fine.Task(images="folder:photos", rules="rotation+scale", train_count=500)
    """

    images: str = "glyphs"
    """Source of the training images: glyphs, omniglot, cifar100, cutouts, mnist or folder:PATH;
    several joined by + are a mixture."""
    rules: str = "affine"
    """What may happen to an image: families joined by +, affine or all; ":seen" leaves out the
    rules of extreme tests."""
    test_images: str = ""
    """Source of the test images; empty: other classes of the training source."""
    test_rules: str = ""
    """Rules of the test puzzles; empty: those of training."""
    distractors: str = "any"
    """How the wrong rule of a puzzle is drawn: any, family (another of the right one's family),
    near (one that does nearly the same), several joined by + in turn, or seen or unseen."""
    test_distractors: str = ""
    """How that of a test puzzle is drawn; empty: as in training."""
    train_classes: int = 0
    """Classes to learn from; 0: half of the source."""
    test_classes: int = 0
    """Classes to be tested on; 0: all others."""
    train_count: int = 10_000
    """Training puzzles; with --resample-each-epoch, how many are drawn for each epoch."""
    test_count: int = 20_000
    """Test puzzles."""
    size: int = 32
    """Width and height of the images: 32, or 28."""
    channels: int = 0
    """1 shows every image in grey, 3 in colour; 0: as in the training source."""
    validation: bool = False
    """Test on a fifth of the training classes, which training then leaves out, under the training
    rules: for choosing settings without the test classes."""
    data_root: str = ""
    """Folder of the official data files; empty: FINE_DATA, or the user's cache folder."""

    @staticmethod
    def preset(name: str, *, rules: str) -> "Task":
        """The task called ``name`` under these rules, with the paper's sizes where it has them."""
        if name not in PRESETS:
            others = plugin_names(PLUGINS)
            if name.startswith("folder:") or name in others:
                return Task(images=name, rules=rules, test_count=5_000)
            raise unknown("task", name, (*PRESETS, "folder:PATH", *others))
        task = PRESETS[name]
        if task.test_rules:
            learned = f"{rules}:seen" if task.test_rules == "unseen" else rules
            return replace(task, rules=learned, test_rules=f"{rules}:{task.test_rules}")
        return replace(task, rules=rules)

    def shared(self) -> dict[str, Any]:
        """What is set in the task, for others to read: not where files are on this machine."""
        images, test_images = (name.partition(":")[0] for name in (self.images, self.test_images))
        public = replace(self, images=images, test_images=test_images, data_root="")
        return {name: value for name, value in asdict(public).items() if value}

    def training_puzzles(
        self, *, seed: int = 0, epoch: int = 0, variant: Variant = PLAIN
    ) -> Puzzles:
        """The training puzzles, or a variant of each.

        A later ``epoch`` continues the numbering, so that its puzzles are new.
        """
        puzzles = self._draw(
            self._training_images,
            self.rules,
            self.train_count,
            seed=_address(seed, _TRAIN),
            start=epoch * self.train_count,
            classes=self.training_classes,
            distractors=self.distractors,
        )
        return self._vary(puzzles, variant, self.training_classes)

    def test_puzzles(self, variant: Variant = PLAIN) -> Puzzles:
        """The test puzzles, or a variant of each: one fixed set, whatever the seed of a run."""
        rules = self.rules if self.validation else self.test_rules or self.rules
        puzzles = self._draw(
            self._testing_images,
            tested_rules(rules),
            self.test_count,
            seed=_address(0, _TEST),
            classes=self.testing_classes,
            distractors=self.test_distractors or self.distractors,
        )
        return self._vary(puzzles, variant, self.testing_classes)

    def _draw(
        self,
        images: Images,
        rules: str,
        count: int,
        *,
        seed: int,
        start: int = 0,
        classes: Sequence[int],
        distractors: str,
    ) -> Puzzles:
        if self.shows_strings:
            if distractors != "any":
                raise FineError("puzzles over strings have no distractors but any")
            return draw_string_puzzles(
                images, string_rules(rules), count, seed=seed, start=start, classes=classes
            )
        return draw_puzzles(
            images,
            rule_set(rules),
            count,
            seed=seed,
            start=start,
            classes=classes,
            distractors=distractors,
        )

    def _vary(self, puzzles: Puzzles, variant: Variant, classes: Sequence[int]) -> Puzzles:
        if variant == PLAIN:
            return puzzles
        if self.shows_strings:
            raise FineError(
                f"puzzles over strings have no variants such as '{variant}': leave out --variant, "
                "--hints, --noise and --covered"
            )
        return draw_variant(puzzles, variant, classes=classes)

    @property
    def shows_strings(self) -> bool:
        """Whether the puzzles are about strings, shown as grids of letters."""
        return are_strings(self.images)

    @property
    def image_channels(self) -> int:
        """Channels of the images that a model of this task sees."""
        return self._training_images.pixels.shape[1]

    @property
    def training_classes(self) -> Sequence[int]:
        """Numbers of the classes that training puzzles show."""
        return self._classes[0]

    @property
    def testing_classes(self) -> Sequence[int]:
        """Numbers of the classes that test puzzles show, never training classes of one source."""
        return self._classes[1]

    @property
    def training_class_names(self) -> frozenset[str]:
        """What the classes of training puzzles are called: the same class in any source."""
        names = self._training_images.class_names
        return frozenset(names[number] for number in self.training_classes)

    @property
    def testing_class_names(self) -> frozenset[str]:
        """What the classes of test puzzles are called."""
        names = self._testing_images.class_names
        return frozenset(names[number] for number in self.testing_classes)

    @cached_property
    def _training_images(self) -> Images:
        images = self._load(self.images)
        return images.with_channels(self.channels) if self.channels else images

    @cached_property
    def _testing_images(self) -> Images:
        if not self._tests_other_source:
            return self._training_images
        return self._load(self.test_images).with_channels(self.image_channels)

    @property
    def _tests_other_source(self) -> bool:
        return not self.validation and self.test_images not in ("", self.images)

    def _load(self, name: str) -> Images:
        if are_strings(self.images) != are_strings(name):
            raise FineError(
                f"a task cannot be about {self.images} and {name}: strings and images have no "
                "rules in common"
            )
        if are_strings(name):
            return load_strings(name, size=self.size)
        return load_images(name, size=self.size, data_root=self.data_root or None)

    @cached_property
    def _classes(self) -> tuple[Sequence[int], Sequence[int]]:
        """Training and test classes, in an order that no seed of a run changes."""
        order = random_order(len(self._training_images.class_names), _SPLIT).tolist()
        half = -(-len(order) // 2)
        train = order[: self.train_classes or half]
        if self.validation:
            kept = len(train) - max(2, len(train) // 5)
            train, test = train[:kept], train[kept:]
        elif self._tests_other_source:
            names = self._testing_images.class_names
            others = random_order(len(names), _SPLIT).tolist()
            if origins(self.test_images) & origins(self.images):
                learned = {self._training_images.class_names[number] for number in train}
                others = [number for number in others if names[number] not in learned]
            test = others[: self.test_classes or len(others)]
        else:
            test = order[len(train) :][: self.test_classes or len(order)]
        self._check_enough("train", train, self.train_classes)
        self._check_enough("test", test, self.test_classes)
        return train, test

    def _check_enough(self, use: str, classes: list[int], wanted: int) -> None:
        needed = 2 if self.validation else max(2, wanted)
        if len(classes) < needed:
            source = self.test_images if use == "test" and self._tests_other_source else self.images
            count = f"{len(classes)} {'class' if len(classes) == 1 else 'classes'}"
            remedy = "ask for fewer, or add classes"
            if source.startswith("folder:"):
                remedy = (
                    "training takes half of the classes and the test the others, so make at least "
                    "4 subfolders"
                )
            raise FineError(
                f"{source} leaves {count} to {use} on where {needed} are needed: {remedy}"
            )


def _address(seed: int, use: int) -> int:
    return seed * 16 + use


_EXTREME = Task(test_rules="unseen", train_count=5_000, test_count=10_000)
_UNIVERSAL = Task(
    images="glyphs+omniglot+cifar100+cutouts",
    rules="universal",
    distractors="any+near",
    train_classes=1_600,
    test_count=5_000,
)
_STRINGS = Task(images="strings", rules="all", train_classes=2_000, test_count=5_000)

PRESETS: dict[str, Task] = {
    "glyphs": Task(images="glyphs", train_classes=200, test_classes=200, test_count=5_000),
    "omniglot": Task(images="omniglot", train_classes=100, test_classes=800),
    "cifar100": Task(images="cifar100", train_classes=50, test_classes=50),
    "mnist": Task(images="mnist", train_classes=5, test_classes=5),
    "extreme-cifar100": replace(_EXTREME, images="cifar100", train_classes=50, test_classes=50),
    "extreme-cifar100-omniglot": replace(
        _EXTREME,
        images="cifar100",
        test_images="omniglot",
        train_classes=50,
        test_classes=800,
        channels=1,
    ),
    "extreme-omniglot-mnist": replace(
        _EXTREME, images="omniglot", test_images="mnist", train_classes=100, test_classes=10
    ),
    "universal": replace(_UNIVERSAL, channels=1),
    "universal-colour": replace(_UNIVERSAL, channels=3),
    "strings": replace(_STRINGS, test_classes=2_000),
    "strings-longer": replace(_STRINGS, test_images="strings-longer"),
    "strings-letters": replace(_STRINGS, test_images="strings-letters"),
    "strings-permuted": replace(_STRINGS, test_rules="permuted", test_classes=2_000),
}
"""Tasks by name. The extreme ones train on the seen rules and test on the unseen ones."""


def usual_rules(name: str) -> str:
    """The rules of the task called ``name`` where none are asked for."""
    return PRESETS[name].rules if name in PRESETS else Task.rules
