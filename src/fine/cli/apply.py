"""`fine apply`"""

import json as json_format
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fine.apply import Settings, Summary, apply_to_files, draw_preview, list_files
from fine.apply.settings import background_of_files
from fine.cli.arguments import options
from fine.cli.terminal import console, print_json, say
from fine.errors import FineError
from fine.inference import Registered, RuleFunction, function, load_function
from fine.io.files import written_whole

_LISTED = 20
"""Files with errors that are listed; --json lists all."""


@options(Settings, default="as the example shows")
class Apply:
    """Show it once, apply it to the rest: find the rule that made AFTER of BEFORE, and do the same
    to every image of files and folders, at full size."""

    images: Annotated[
        tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="BEFORE AFTER PHOTO …")
    ]
    """The example, and then images or folders of images; folders are searched to the bottom."""
    out: Path | None = None
    """The folder for the results. Their names mirror the input. A file that is there stays."""
    function: Path | None = None
    """A function that was saved, such as turn.json, instead of an example; then all paths are
    images or folders."""
    hint: Annotated[
        tuple[tuple[Path, Path], ...],
        tyro.conf.UseAppendAction,
        tyro.conf.arg(metavar="BEFORE AFTER", help_behavior_hint=""),
    ] = ()
    """Another example of the same rule; may be given again and again."""
    save: Path | None = None
    """Also save the function that is found, to this JSON file."""
    canvas: Annotated[Literal["keep", "expand"] | None, tyro.conf.arg(metavar="{keep,expand}")] = (
        None
    )
    resample: Literal["nearest", "bilinear", "bicubic"] = "bicubic"
    background: str = ""
    """The colour where the result shows nothing of the image, such as white or #2040ff, or
    transparent; by default, what the example shows there."""
    overwrite: bool = False
    """Replace results that are there."""
    preview: Path | None = None
    """Only draw a contact sheet of nine images and their results, to this PNG file."""
    jobs: int | None = None
    """Images to work on at a time; by default, one for each core."""
    anyway: bool = False
    """Go on if no known rule explains the example fully, or if it leaves open which rule it is."""
    json: bool = False
    """Print one JSON object instead of text."""

    def run(self) -> None:
        photos = self._check()
        found = self._find()
        background = self.background or background_of_files(found.background)
        settings = Settings(self.canvas or found.canvas, self.resample, background)
        if self.preview is None:
            self._check_doubts(found.rule)
        if not self.json:
            say(f"rule: {found.rule}")
            say(f"residual: {found.rule.residual:.1%} of the example")
            if found.note:
                say(f"note: {found.note}")
        if self.preview is not None:
            self._draw_preview(self.preview, found.rule, photos, settings)
            return
        if self.save is not None:
            found.save(self.save)
        assert self.out is not None  # as _check has seen
        summary = self._apply(found.rule, photos, self.out, settings)
        if self.json:
            print_json({**_rule_as_json(found.rule), **_summary_as_json(summary)})
        else:
            _show_summary(summary, self.out)
        if summary.stopped:
            raise SystemExit(130)
        if summary.failures or summary.left:
            raise SystemExit(1)

    def _check(self) -> list[Path]:
        """The photos; refuse what cannot be done before any image is read."""
        if self.function is not None and (self.hint or self.save):
            raise FineError("--function needs no example: give neither --hint nor --save with it")
        first = 0 if self.function is not None else 2
        if len(self.images) <= first:
            expected = "an example of two images, before and after, and then images or folders"
            if self.function is not None:
                expected = "images or folders"
            count = len(self.images)
            given = f"{count} path is" if count == 1 else f"{count} paths are"
            raise FineError(f"{given} given: expected {expected}")
        if (self.out is None) == (self.preview is None):
            raise FineError(
                "give either --out, a folder for the results, or --preview, a file for a contact "
                "sheet"
            )
        if self.preview is not None and self.save is not None:
            raise FineError("--preview draws a contact sheet and nothing else: leave out --save")
        if self.out is not None and self.out.exists() and not self.out.is_dir():
            raise FineError(f"--out {self.out} is a file: give a folder for the results")
        if self.preview is not None and self.preview.suffix.lower() != ".png":
            raise FineError(
                f"a contact sheet cannot be drawn to '{self.preview.name}': the name must end in "
                ".png"
            )
        if self.jobs is not None and self.jobs < 1:
            raise FineError(f"--jobs {self.jobs}: give 1 or more")
        Settings(background=self.background)  # refuses what is no colour
        photos = list(self.images[first:])
        list_files(photos, self.out or Path("done"))
        return photos

    def _find(self) -> RuleFunction:
        """The function that was saved, or the one behind the examples."""
        if self.function is not None:
            return load_function(self.function)
        pairs = ((self.images[0], self.images[1]), *self.hint)
        before, after = ([str(path) for path in column] for column in zip(*pairs, strict=True))
        return function(before, after, anyway=True)

    def _check_doubts(self, found: Registered) -> None:
        if self.anyway or self.function is not None or found.sure:
            return
        if not found.explains:
            raise FineError(
                f"no known rule explains the example: {found.shortfall}; give a better example, "
                "or --anyway to apply it as far as it goes"
            )
        raise FineError(
            f"the example leaves open which rule it is: {found}, but {found.reason}; give another "
            "with --hint, or --anyway to apply this one"
        )

    def _draw_preview(
        self, sheet: Path, found: Registered, photos: list[Path], settings: Settings
    ) -> None:
        listing = list_files(photos, self.out or Path("done"))
        drawn = draw_preview(found.rule, listing, settings, str(found))
        with written_whole(sheet) as temporary:
            drawn.save(temporary, format="PNG")
        if self.json:
            print_json({**_rule_as_json(found), "preview": str(sheet)})
            return
        if not found.sure:
            say(f"doubt: {found.reason or 'the rule does not explain the example'}")
        say(f"drawn to {sheet}: {len(listing.targets):,} images would be done")

    def _apply(
        self, found: Registered, photos: list[Path], out: Path, settings: Settings
    ) -> Summary:
        with _progress_bar(quiet=self.json) as bar:
            task = bar.add_task("images", total=None)

            def step(done: int, total: int, path: Path) -> None:
                bar.update(task, completed=done, total=total)

            return apply_to_files(
                found.rule,
                photos,
                out,
                settings,
                name=str(found),
                overwrite=self.overwrite,
                jobs=self.jobs,
                progress=step,
            )


def _progress_bar(*, quiet: bool) -> Progress:
    return Progress(
        TextColumn("images"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=console,
        disable=quiet or not console.is_terminal,
        expand=True,
    )


def _show_summary(summary: Summary, out: Path) -> None:
    there = f", {summary.skipped:,} were there" if summary.skipped else ""
    speed = summary.done / summary.seconds if summary.seconds > 0 else 0.0
    took = f" in {summary.seconds:.1f} s, {speed:.1f} images/s" if summary.done else ""
    say(f"{summary.done:,} done{took}{there}: {out}")
    for note, count in sorted(summary.notes.items()):
        say(f"note: {count:,} with {note}")
    if summary.others:
        names = ", ".join(name for name, _ in summary.others.most_common(5))
        count = summary.others.total()
        files = (
            "1 file is no image and was"
            if count == 1
            else f"{count:,} files are no images and were"
        )
        say(f"note: {files} left alone ({names})")
    for failure in summary.failures[:_LISTED]:
        say(f"error: {failure.error}")
    if len(summary.failures) > _LISTED:
        say(f"error: … and {len(summary.failures) - _LISTED:,} more; --json lists all")
    if summary.failures:
        say(f"{len(summary.failures):,} failed")
    if summary.left:
        say(f"stopped, {summary.left:,} are left: the same command goes on from there")


def _rule_as_json(found: Registered) -> dict[str, Any]:
    return {
        "rule": str(found),
        "residual": round(found.residual, 6),
        "explains": found.explains,
        "ambiguous": found.ambiguous,
        "reason": found.reason,
    }


def _summary_as_json(summary: Summary) -> dict[str, Any]:
    content = asdict(summary)
    return json_format.loads(json_format.dumps(content, default=str))
