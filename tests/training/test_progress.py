"""Progress: a title once there is a step, then one line an epoch where there is no terminal."""

import io

from rich.console import Console

from fine.training import ProgressBar


def test_without_a_terminal_there_is_one_line_an_epoch():
    text = io.StringIO()
    with ProgressBar(Console(file=text, width=200), "training [it]", epochs=2, puzzles=10) as bar:
        assert not text.getvalue()  # a run that is refused announces nothing
        for epoch in (1, 2):
            for done in (5, 10):
                bar.step(epoch=epoch, done=done * epoch, loss=1.0, accuracy=0.5)
            bar.epoch(epoch=epoch, loss=0.25, accuracy=0.75, speed=1234.5)
    assert text.getvalue().splitlines() == [
        "training [it]",
        "epoch 1/2  loss 0.250  accuracy 75.0%  1,234 puzzles/s",
        "epoch 2/2  loss 0.250  accuracy 75.0%  1,234 puzzles/s",
    ]


def test_a_terminal_shows_a_bar_and_no_lines():
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=120)
    with ProgressBar(console, "training it", epochs=2, puzzles=10) as bar:
        bar.step(epoch=1, done=10, loss=1.0, accuracy=0.5)
        bar.epoch(epoch=1, loss=1.0, accuracy=0.5, speed=10.0)
    shown = text.getvalue()
    assert "training it" in shown and "loss 1.000  accuracy 50.0%" in shown and "left" in shown
