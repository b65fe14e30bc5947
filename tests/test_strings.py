"""Laws of letter strings: what rules do, how puzzles are made, what the code of a string makes linear, what is refused."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fine import FINE, FINEConfig, FineError, RunConfig, Task, Training, evaluate, load, make_model, solve_text, train
from fine.models import model_config
from fine.models.encoders import make_encoder
from fine.models.string_encoder import BLOCKS, FREQUENCIES, PLACE
from fine.puzzles import KINDS
from fine.strings import SETTINGS, check_text, draw_string_puzzles, grid, load_strings, string_rules, under
from fine.strings.alphabet import ALPHABET, LONGEST, PERMUTED, SEEN, UNSEEN, texts_of
from fine.strings.oracle import StringOracle
from fine.strings.source import POOLS

ALL = string_rules("all")
RULES = {str(rule): rule for rule in ALL.rules}
TEXTS = st.text(ALPHABET, min_size=1, max_size=LONGEST)


def becomes(name: str, text: str, **options: str) -> str:
    return under(RULES[name], text, **options)


@pytest.mark.parametrize(
    ("rule", "x", "y"),
    [
        ("successor", "abz", "bca"),
        ("predecessor", "abz", "zay"),
        ("caesar +3", "abz", "dec"),
        ("first +1", "mmnnpp", "nnnnpp"),
        ("last +1", "abc", "abd"),
        ("last +1", "mmnnpp", "mmnnqq"),  # the classic: the last letter of abc is a group of one
        ("last -1", "aaa", "zzz"),
        ("reverse", "abc", "cba"),
        ("rotate left", "abc", "bca"),
        ("rotate right", "abc", "cab"),
        ("swap-ends", "abcd", "dbca"),
        ("double", "abb", "aabbbb"),
        ("delete first", "abc", "bc"),
        ("delete last", "abc", "ab"),
        ("sort up", "cabb", "abbc"),
        ("sort down", "cabb", "cbba"),
    ],
)
def test_a_rule_does_what_its_name_says(rule, x, y):
    assert becomes(rule, x) == y


@settings(max_examples=50, deadline=None)
@given(TEXTS)
def test_what_undoes_what(text):
    for name in ("reverse", "swap-ends"):
        assert becomes(name, becomes(name, text)) == text
    for one, two in (("successor", "predecessor"), ("caesar -2", "caesar +2"), ("rotate left", "rotate right")):
        assert becomes(one, becomes(two, text)) == becomes(two, becomes(one, text)) == text
    assert becomes("double", text)[::2] == text
    assert becomes("sort up", becomes("sort down", text)) == becomes("sort up", text)
    assert becomes("successor", becomes("caesar +2", text)) == becomes("caesar +3", text)
    # the last group is the first one of the string backwards
    assert becomes("last +1", text) == becomes("reverse", becomes("first +1", becomes("reverse", text)))


@settings(max_examples=50, deadline=None)
@given(TEXTS)
def test_families_of_letters_keep_places_and_families_of_places_keep_letters(text):
    for rule in string_rules("letters").rules:
        assert len(under(rule, text)) == len(text)
    for rule in string_rules("places").rules:
        assert set(under(rule, text)) <= set(text)


def test_another_alphabet_has_other_successors_and_moves_no_places():
    assert sorted(PERMUTED) == list(ALPHABET) and PERMUTED.endswith(UNSEEN)
    assert becomes("successor", PERMUTED[:3], order=PERMUTED) == PERMUTED[1:4] != becomes("successor", PERMUTED[:3])
    for name in ("reverse", "double", "delete first", "rotate left", "swap-ends"):
        assert becomes(name, "facade", order=PERMUTED) == becomes(name, "facade")


@pytest.mark.parametrize("name", POOLS)
def test_a_pool_holds_what_it_says_and_nothing_twice(name):
    texts = load_strings(name).class_names
    letters, lengths = POOLS[name]
    assert len(set(texts)) == len(texts) == 4_000
    assert set("".join(texts)) == set(letters) and {len(text) for text in texts} == set(lengths)
    assert any(one == two for text in texts for one, two in pairwise(text)), "there should be groups"


def some(task: str, count: int = 300, rules: str = "all"):
    return replace(Task.preset(task, rules=rules), train_count=count, test_count=count)


@pytest.mark.parametrize("name", ["strings", "strings-longer", "strings-letters", "strings-permuted"])
def test_choices_are_two_strings_under_two_rules_and_the_example_tells_them_apart(name):
    puzzles = some(name).test_puzzles()
    order = PERMUTED if name == "strings-permuted" else ALPHABET
    for number, (x, y, new, *choices) in enumerate(puzzles.texts(range(len(puzzles)))):
        right, wrong = (puzzles.rules.rules[rule] for rule in puzzles.specs[number, 3:5])
        other = puzzles.images.class_names[puzzles.specs[number, 2]]
        made = {KINDS[0]: (right, new), KINDS[1]: (wrong, new), KINDS[2]: (right, other), KINDS[3]: (wrong, other)}
        kinds = [KINDS[kind] for kind in puzzles.kinds[number]]
        assert [under(rule, text, order=order) for rule, text in (made[kind] for kind in kinds)] == choices
        assert len(set(choices)) == 4 and len({x, new, other}) == 3
        assert y == under(right, x, order=order) not in (x, under(wrong, x, order=order))
        assert kinds[puzzles.answers[number]] == "right"


def test_pictures_show_the_texts():
    puzzles = some("strings").test_puzzles()
    batch = puzzles.render(range(20))
    assert batch.pictures.shape == (20, 7, 1, 32, 32) and batch.answers.tolist() == puzzles.answers[:20].tolist()
    assert [tuple(texts) for texts in texts_of(batch.pictures)] == puzzles.texts(range(20))


def test_a_puzzle_is_the_same_however_many_are_drawn_with_it():
    few, many = some("strings", 50).test_puzzles(), some("strings", 200).test_puzzles()
    assert few.specs.tolist() == many.specs[:50].tolist()
    late = draw_string_puzzles(few.images, ALL, 10, seed=3, start=40, classes=range(100))
    early = draw_string_puzzles(few.images, ALL, 50, seed=3, classes=range(100))
    assert late.specs.tolist() == early.specs[40:].tolist()


def test_every_family_is_drawn_as_often_and_neither_of_two_rules_first():
    specs = some("strings", 6_000).test_puzzles().specs
    families = [rule.family.name for rule in ALL.rules]
    for column in (3, 4):
        names, counts = np.unique([families[rule] for rule in specs[:, column]], return_counts=True)
        share = 1 / len(names)
        assert len(names) == 11 and (abs(counts / 6_000 - share) < 5 * (share * (1 - share) / 6_000) ** 0.5 + 0.01).all()


def test_training_and_tests_share_no_string_and_training_shows_no_unseen_letter():
    train_task, shown = some("strings", 2_000), {}
    for name, puzzles in (
        ("train", train_task.training_puzzles()),
        ("test", train_task.test_puzzles()),
        ("longer", some("strings-longer", 2_000).test_puzzles()),
        ("letters", some("strings-letters", 2_000).test_puzzles()),
    ):
        shown[name] = [text for texts in puzzles.texts(range(2_000)) for text in (texts[0], texts[2])]
        if name != "letters":
            assert {letter for texts in puzzles.texts(range(2_000)) for text in texts for letter in text} <= set(SEEN)
    assert not set(shown["train"]) & (set(shown["test"]) | set(shown["longer"]) | set(shown["letters"]))
    assert min(map(len, shown["longer"])) > max(map(len, shown["train"]))
    assert set("".join(shown["letters"])) == set(UNSEEN)


@pytest.mark.parametrize("name", ["strings", "strings-longer", "strings-letters", "strings-permuted"])
def test_the_oracle_solves_them(name):
    puzzles = some(name, 1_000).test_puzzles()
    assert evaluate(StringOracle(puzzles.rules), puzzles).accuracy > 0.99  # where a third rule fits as well, it may guess


def code_of(text: str, places: int = 4) -> torch.Tensor:  # (places, blocks, numbers of a letter)
    encoder = make_encoder("strings", channels=1, size=32, code=places * PLACE, columns=1)
    return encoder(grid([text]))[0].detach().view(places, BLOCKS, -1)


LEFT, RIGHT = 0, 1


@settings(max_examples=50, deadline=None)
@given(st.text(ALPHABET, min_size=4, max_size=LONGEST))
def test_in_the_code_rules_are_linear_at_every_length(text):
    plain, turned = code_of(text), code_of(text[::-1])
    torch.testing.assert_close(turned[:, [LEFT, RIGHT]], plain[:, [RIGHT, LEFT]])
    torch.testing.assert_close(code_of(text[1:])[:3, LEFT], plain[1:, LEFT])
    torch.testing.assert_close(code_of(text[:-1])[:3, RIGHT], plain[1:, RIGHT])
    doubled = code_of(becomes("double", text))
    torch.testing.assert_close(doubled[:, LEFT], plain[[0, 0, 1, 1], LEFT])


@settings(max_examples=50, deadline=None)
@given(st.text(ALPHABET, min_size=1, max_size=LONGEST), st.sampled_from([-3, -2, 2, 3]))
def test_a_step_in_the_alphabet_turns_the_circle_whatever_the_letter(text, steps):
    angles = 2 * torch.pi * steps / 26 * torch.tensor(FREQUENCIES)
    turn = torch.block_diag(*(torch.tensor([[a.cos(), -a.sin()], [a.sin(), a.cos()]]) for a in angles))
    moved = code_of(becomes(f"caesar {steps:+d}", text))[:, [LEFT, RIGHT]]
    torch.testing.assert_close(moved, code_of(text)[:, [LEFT, RIGHT]] @ turn.T, atol=1e-5, rtol=1e-4)


def test_nothing_of_a_long_string_is_out_of_place():
    codes = code_of("abcdefghijklmnop", places=2)
    torch.testing.assert_close(codes[:, LEFT], code_of("ab", places=2)[:, LEFT])
    torch.testing.assert_close(codes[:, RIGHT], code_of("op", places=2)[:, RIGHT])


def quick_config(**task) -> RunConfig:
    chosen = replace(Task.preset("strings", rules="all"), **{"train_count": 2_000, "test_count": 1_000, **task})
    chosen_settings = {**SETTINGS, "code": 2 * PLACE, "slots": 8}
    return RunConfig(task=chosen, training=Training(epochs=3, fresh=True, rate=5e-3), settings=chosen_settings)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of a few seconds, on two places from either end."""
    folder = tmp_path_factory.mktemp("runs") / "strings"
    return folder, train(quick_config(), folder)


def test_rules_over_unseen_strings_are_learned(run):
    assert run[1].interval[0] > 0.55, "more than one who finds the object and ignores the rule"


def test_the_same_seed_makes_the_same_model(tmp_path):
    made = [train(quick_config(train_count=200, test_count=50), tmp_path / name).probabilities for name in "ab"]
    assert made[0].tolist() == made[1].tolist()


def test_a_comparison_model_takes_strings_as_it_takes_pictures(tmp_path):
    task = some("strings", 40)
    evaluation = train(RunConfig(model="relation-net", task=task, training=Training(epochs=1)), tmp_path / "run")
    assert len(evaluation.puzzles) == 40


def test_fine_evaluate_takes_other_tests(run, fine):
    for name in ("strings", "strings-longer", "strings-letters", "strings-permuted"):
        code, out, _ = fine("evaluate", run[0], "--task", name, "--test-count", 50)
        assert code == 0 and "50 test puzzles, all" in out
    assert fine("evaluate", "oracle", "--task", "strings", "--test-count", 50).out.count("100.0%")


def test_fine_puzzles_writes_strings(fine, tmp_path):
    code, out, _ = fine(
        "puzzles", "--task", "strings", "--rules", "all", "--count", 2, "--answers", "--out", tmp_path / "a.svg"
    )
    x, y, new, *choices = some("strings").test_puzzles().texts([0])[0]
    assert code == 0 and f"{x} → {y}" in out and f"{new} → ?" in out and all(choice in out for choice in choices)
    assert all(text in (tmp_path / "a.svg").read_text(encoding="utf-8") for text in (x, y, new))


def test_fine_solve_ranks_all_rules_and_writes_the_answer(fine):
    code, out, _ = fine("solve", "--text", "abc", "abd", "mmnnpp")
    assert code == 0 and "mmnnpp → mmnnqq" in out
    content = json.loads(fine("solve", "--text", "abc", "cba", "kjihg", "--json").out)
    assert content["model"] == "all-strings" and content["answer"] == "ghijk"
    assert len(content["rules"]) == len(ALL) and sum(rule["probability"] for rule in content["rules"]) == pytest.approx(1)
    assert {rule["rule"] for rule in content["rules"] if rule["explains"]} >= {"reverse"}


def test_a_rule_that_makes_y_of_x_comes_first_and_otherwise_the_most_probable():
    model = load("all-strings")
    answer = solve_text(model, "pqr", "qrs", "tuvwxyz")  # which the model alone takes for another rule
    explaining = [rule.explains for rule in answer.rules]
    assert explaining == sorted(explaining, reverse=True) and answer.rules[0].explains and answer.text == "uvwxyza"
    assert max(answer.rules, key=lambda rule: rule.probability).answer != answer.text and answer.probability == pytest.approx(1)
    answer = solve_text(model, "abc", "abcd", "xyz")
    assert not any(rule.explains for rule in answer.rules)
    assert answer.rules[0] == max(answer.rules, key=lambda rule: rule.probability)


def test_a_rule_that_leaves_nothing_is_not_ranked():
    answer = solve_text(FINE(model_config("fine", SETTINGS), channels=1, size=32), "a", "b", "c")
    assert len(answer.rules) == len(ALL) - 2 and answer.probability <= 1


def refusing(message: str):
    return pytest.raises(FineError, match=message)


def test_what_cannot_be_read_is_refused_in_one_line(fine):
    for texts, message in (
        (("abc", "abD", "x"), "y 'abD' has the unknown letter 'D': use a to z"),
        (("abc", "", "x"), "y '' has 0 letters: give 1 to 16"),
        (("abc", "abd", "x" * 17), "has 17 letters: give 1 to 16"),
        (("abc", "abd"), "2 strings are given: expected 3"),
    ):
        code, _, err = fine("solve", "--text", *texts)
        assert code == 2 and message in " ".join(err.split())
    with refusing("unknown letter 'é'"):
        check_text("é", "x")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("solve", "--text", "abc", "abd", "mnp", "--model", "all-glyphs"), "reads pictures, not strings"),
        (("solve", "a.png", "b.png", "--text", "a", "b", "c"), "give no pictures"),
        (("puzzles", "--task", "strings", "--rules", "affine"), "unknown rules of strings 'affine'"),
        (("puzzles", "--task", "strings", "--rules", "reverse"), "has 1 rule"),
        (("puzzles", "--task", "strings", "--rules", "all:unseen"), "unknown split of string rules"),
        (("puzzles", "--task", "strings", "--rules", "all", "--size", 28), "size 28 will not do"),
        (("puzzles", "--task", "strings", "--rules", "all", "--redraws"), "leave out --redraws"),
        (("evaluate", "oracle", "--task", "strings", "--hints", 2), "one plain hint"),
        (("train", "--task", "strings", "--rules", "all", "--turned"), "a string cannot be turned"),
        (("train", "--task", "strings", "--rules", "all", "--views", 4), "cannot be seen from 4 sides"),
        (("train", "--task", "strings", "--rules", "all", "--through", 0.5), "cannot be seen through a rule"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(fine, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = fine(*arguments)
    assert code == 2 and message in " ".join(err.split()) and not list(tmp_path.iterdir())


def test_strings_and_pictures_do_not_mix():
    with refusing("cannot be about strings and glyphs"):
        Task(images="strings", rules="all", test_images="glyphs").test_puzzles()
    with refusing("reads grids with 1 channel, not 3"):
        make_model("fine", channels=3, size=32, settings=SETTINGS)
    with refusing("moves letters, not points"):
        RULES["reverse"].family.source(torch.zeros(1, 1, 2))
    with refusing("this model reads strings, not pictures"):
        FINE(model_config("fine", SETTINGS), channels=1, size=32).function(torch.rand(1, 32, 32), torch.rand(1, 32, 32))
    assert FINEConfig().encoder != "strings"
