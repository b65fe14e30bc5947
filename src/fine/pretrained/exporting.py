"""A finished run as a folder to give away: weights, configuration and card, as the hub has them.

export(Path("runs/rotation"), Path("my-model"))      # then fine.load("my-model")
"""

from pathlib import Path

from fine.errors import FineError
from fine.evaluation.calibration import FILE
from fine.evaluation.same_family import same_family_scores
from fine.io.files import read_json, write_json, write_text
from fine.models.hub import save_model
from fine.pretrained.cards import card
from fine.pretrained.loading import holds_run, load, load_calibration
from fine.training.run import Run


def export(run_folder: Path, folder: Path, *, same_family: int = 0) -> None:
    """Write the trained model of a run to ``folder``, with its card.

    With ``same_family``, the card also has scores on so many puzzles whose wrong rules are of the
    same family as the right ones.
    """
    run = Run(run_folder)
    config = run.config()
    if not run.finished:
        raise FineError(
            f"{run_folder} is not finished: continue it with `fine train --resume {run_folder}`, "
            "then export it"
        )
    if (folder / "config.json").exists() and holds_run(folder):
        raise FineError(
            f"{folder} holds a run, which exporting would overwrite: choose another folder"
        )
    model, calibration = load(run_folder), load_calibration(run_folder)
    result = read_json(run_folder / "result.json")
    if same_family:
        result["same_family"] = same_family_scores(model, config.task, count=same_family)
    try:
        name = folder.resolve().name
        text = card(name, config, result, calibrated=calibration is not None)
    except (KeyError, TypeError, ValueError) as problem:
        raise FineError(
            f"{run_folder / 'result.json'} lacks what a card needs ({problem}): train the run again"
        ) from problem
    write_text(folder / "README.md", text)
    save_model(model, folder)
    content = read_json(folder / "config.json")
    write_json(folder / "config.json", {**content, "trained_on": config.task.shared()})
    if calibration is None:
        (folder / FILE).unlink(missing_ok=True)  # of another model that was exported here
    else:
        calibration.save(folder / FILE)
