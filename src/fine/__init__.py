"""FINE, the Functional Indirection Neural Estimator: from one example pair, the function behind it.

    import fine

    model = fine.load("all-glyphs")
    puzzles = fine.Task.preset("glyphs", rules="rotation").test_puzzles()
    x, y, new, *choices = puzzles.render([0]).images[0]       # or files, Pillow images, arrays
    print(fine.solve(model, x, y, new, choices))              # which choice is to new as y is to x?
    print(*fine.explain(model, x, y))                         # which rule made y from x?
    f = fine.function(x, y, model=model)                      # the function itself
    print(f.choose(new, choices), f.inverse().note)

`fine.train(fine.RunConfig(task=task), Path("runs/mine"))` trains a model of your own;
`fine.load("runs/mine")` loads it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fine.errors import FineError
from fine.version import __version__

if TYPE_CHECKING:  # what type checkers and editors see; `_HOMES` says the same to Python
    from fine.continual import ContinualConfig
    from fine.drawing import draw_evaluation, draw_sheet, show
    from fine.evaluation import Evaluation, PairedTest, evaluate, paired_test
    from fine.exchange import Predictions, evaluate_predictions, export_puzzles
    from fine.images import Images, load_images
    from fine.inference import (
        Answer,
        Drawn,
        Function,
        NamedRule,
        PuzzleImages,
        Registered,
        RuleFunction,
        draw_answer,
        explain,
        function,
        load_function,
        read_image,
        register,
        solve,
        solve_many,
        solve_text,
    )
    from fine.models import make_model, register_model
    from fine.models.any_backbone import WeightMemory, compose_weights
    from fine.models.fine import FINE, FINEConfig
    from fine.pretrained import load
    from fine.puzzles import Puzzles, Task, Variant, draw_puzzles
    from fine.rules import register_family, rule_set
    from fine.training import PROTOCOLS, Run, RunConfig, Training, resume, train

__all__ = [  # noqa: RUF022 (in groups)
    # Data: images, rules, puzzles
    "Images",
    "Puzzles",
    "Task",
    "Variant",
    "draw_puzzles",
    "load_images",
    "register_family",
    "rule_set",
    # Models
    "FINE",
    "FINEConfig",
    "WeightMemory",
    "compose_weights",
    "load",
    "make_model",
    "register_model",
    # Training and evaluation
    "PROTOCOLS",
    "ContinualConfig",
    "Evaluation",
    "PairedTest",
    "Run",
    "RunConfig",
    "Training",
    "evaluate",
    "paired_test",
    "resume",
    "train",
    # Your own images and strings
    "Answer",
    "Drawn",
    "Function",
    "NamedRule",
    "PuzzleImages",
    "Registered",
    "RuleFunction",
    "draw_answer",
    "explain",
    "function",
    "load_function",
    "read_image",
    "register",
    "solve",
    "solve_many",
    "solve_text",
    # Puzzles for other programs, and their answers
    "Predictions",
    "evaluate_predictions",
    "export_puzzles",
    # Drawing
    "draw_evaluation",
    "draw_sheet",
    "show",
    # Besides
    "FineError",
    "__version__",
]

_HOMES = {
    "continual": ("ContinualConfig",),
    "drawing": ("draw_evaluation", "draw_sheet", "show"),
    "evaluation": ("Evaluation", "PairedTest", "evaluate", "paired_test"),
    "exchange": ("Predictions", "evaluate_predictions", "export_puzzles"),
    "images": ("Images", "load_images"),
    "inference": (
        *("Answer", "Drawn", "Function", "NamedRule", "PuzzleImages", "Registered"),
        *("RuleFunction", "draw_answer", "explain", "function", "load_function", "read_image"),
        *("register", "solve", "solve_many", "solve_text"),
    ),
    "models": ("make_model", "register_model"),
    "models.any_backbone": ("WeightMemory", "compose_weights"),
    "models.fine": ("FINE", "FINEConfig"),
    "pretrained": ("load",),
    "puzzles": ("Puzzles", "Task", "Variant", "draw_puzzles"),
    "rules": ("register_family", "rule_set"),
    "training": ("PROTOCOLS", "Run", "RunConfig", "Training", "resume", "train"),
}
"""Module -> the public names in it. A module is imported when one of its names is first used, so
that `import fine` does not wait for torch."""
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """A public name, or a module of the package, that has not been used before."""
    if name in _HOME_OF:
        value = getattr(import_module(f"fine.{_HOME_OF[name]}"), name)
        globals()[name] = value  # from now on it is found without this function
        return value
    if name in _HOMES:
        return import_module(f"fine.{name}")
    raise AttributeError(f"module 'fine' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *(home for home in _HOMES if "." not in home)})
