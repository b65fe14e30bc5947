"""Puzzles over strings: what they show, that hints tell rules apart, and which letters are kept."""

from dataclasses import replace

import numpy as np
import pytest

from fine.errors import FineError
from fine.images import load_strings
from fine.images.letters import ALPHABET, PERMUTED, SEEN, UNSEEN, texts_of
from fine.puzzles import KINDS, OTHER, RIGHT, WRONG, Puzzles, Task, Variant
from fine.puzzles.strings import draw_string_puzzles
from fine.rules.strings import string_rules, under

ALL = string_rules("all")
TASKS = ("strings", "strings-longer", "strings-letters", "strings-permuted")


def small(name: str, count: int = 300) -> Task:
    return replace(Task.preset(name, rules="all"), train_count=count, test_count=count)


@pytest.mark.parametrize("name", TASKS)
def test_choices_are_two_strings_under_two_rules_and_the_hint_tells_them_apart(name):
    puzzles = small(name).test_puzzles()
    order = PERMUTED if name == "strings-permuted" else ALPHABET
    for number, (x, y, new, *choices) in enumerate(puzzles.texts(range(len(puzzles)))):
        spec = puzzles.specs[number]
        right, wrong = (puzzles.rules.rules[spec[column]] for column in (RIGHT, WRONG))
        other = puzzles.images.class_names[spec[OTHER]]
        of_new, of_other = (
            [under(rule, text, order=order) for rule in (right, wrong)] for text in (new, other)
        )
        by_kind = [*of_new, *of_other]
        assert [by_kind[kind] for kind in puzzles.kinds[number]] == choices
        assert len(set(choices)) == 4 and len({x, new, other}) == 3
        assert y == under(right, x, order=order)
        assert y not in (x, under(wrong, x, order=order))
        assert KINDS[puzzles.kinds[number, puzzles.answers[number]]] == "right"


def test_grids_show_the_texts():
    puzzles = small("strings").test_puzzles()
    batch = puzzles.render(range(20))
    assert batch.images.shape == (20, 7, 1, 32, 32)
    assert batch.answers.tolist() == puzzles.answers[:20].tolist()
    assert [tuple(texts) for texts in texts_of(batch.images)] == puzzles.texts(range(20))


def test_a_puzzle_is_the_same_however_many_are_drawn_with_it():
    few, many = small("strings", 50).test_puzzles(), small("strings", 200).test_puzzles()
    assert few.specs.tolist() == many.specs[:50].tolist()
    late = draw_string_puzzles(few.images, ALL, 10, seed=3, start=40, classes=range(100))
    early = draw_string_puzzles(few.images, ALL, 50, seed=3, classes=range(100))
    assert late.specs.tolist() == early.specs[40:].tolist()


def test_every_family_is_drawn_as_often_and_neither_of_two_rules_first():
    specs = small("strings", 6_000).test_puzzles().specs
    families = np.array([rule.family.name for rule in ALL.rules])
    for column in (RIGHT, WRONG):
        names, counts = np.unique(families[specs[:, column]], return_counts=True)
        share = 1 / len(names)
        deviation = (share * (1 - share) / 6_000) ** 0.5
        # a pair of equal rules is drawn again, which shifts the shares a little
        assert len(names) == 11
        assert (abs(counts / 6_000 - share) < 5 * deviation + 0.01).all()


@pytest.fixture(scope="module")
def shown() -> dict[str, Puzzles]:
    task = small("strings", 2_000)
    return {
        "train": task.training_puzzles(),
        "test": task.test_puzzles(),
        "longer": small("strings-longer", 2_000).test_puzzles(),
        "letters": small("strings-letters", 2_000).test_puzzles(),
    }


def given(puzzles: Puzzles) -> set[str]:
    """Every x and x'."""
    return {texts[place] for texts in puzzles.texts(range(len(puzzles))) for place in (0, 2)}


@pytest.mark.parametrize("test", ["test", "longer", "letters"])
def test_training_and_tests_share_no_string(shown, test):
    assert not given(shown["train"]) & given(shown[test])


@pytest.mark.parametrize("name", ["train", "test", "longer"])
def test_unseen_letters_are_not_even_shown_in_answers(shown, name):
    puzzles = shown[name]
    letters = {letter for texts in puzzles.texts(range(2_000)) for text in texts for letter in text}
    assert letters <= set(SEEN)


def test_other_tests_are_about_longer_strings_and_unseen_letters(shown):
    longest = max(map(len, given(shown["train"])))
    assert min(map(len, given(shown["longer"]))) > longest
    assert set("".join(given(shown["letters"]))) == set(UNSEEN)


def test_what_no_puzzle_can_be_drawn_from_is_refused():
    strings = load_strings("strings")
    with pytest.raises(FineError, match="cannot draw 0 puzzles"):
        draw_string_puzzles(strings, ALL, 0, seed=0, classes=range(100))
    places = string_rules("reverse+double")
    with pytest.raises(FineError, match="after 200 draws there is no puzzle over strings"):
        draw_string_puzzles(strings, places, 50, seed=0, classes=range(2))
    with_t = [number for number, text in enumerate(strings.class_names) if "t" in text]
    steps = string_rules("successor+caesar")  # of which most take t to an unseen letter
    with pytest.raises(FineError, match="no string may be shown under both rules"):
        draw_string_puzzles(strings, steps, 50, seed=0, classes=with_t[:50])


def test_strings_have_no_variants():
    with pytest.raises(FineError, match="leave out --variant"):
        small("strings").test_puzzles(Variant("chain", 2))


def test_strings_and_images_do_not_mix():
    with pytest.raises(FineError, match="cannot be about strings and glyphs"):
        Task(images="strings", rules="all", test_images="glyphs").test_puzzles()
    with pytest.raises(FineError, match="cannot be about glyphs and strings"):
        Task(images="glyphs", test_images="strings").test_puzzles()
