"""Every quoted number of the paper is the one in the paper's own source, where that is at hand."""

import os
import re
from pathlib import Path

import pytest

from fine.experiments.paper import CONTRADICTIONS, ENCODERS, EXTREME, FAMILIES, QUOTED, Quoted

NAMES = {
    "RelationNet": "relation-net",
    "PrediNet": "predi-net",
    "HyperNet": "hyper-net",
    "Transformer": "transformer",
    "ESBN": "esbn",
    "FINE-MLP": "fine-mlp",
    "FINE-NICE": "fine-nice",
    "FINE": "fine",
    "Group CNN": "p4-cnn",
    "3-layer ResNet": "resnet",
    "MLP": "mlp",
}

Rows = dict[str, list[Quoted]]


@pytest.fixture(scope="module")
def source() -> str:
    """The LaTeX of the paper: paper/fine.tex beside the folder of the data, or in ../shared."""
    roots = [Path(__file__).parents[3] / "shared"]
    if os.environ.get("FINE_DATA"):
        roots.append(Path(os.environ["FINE_DATA"]).absolute().parent)
    for root in roots:
        path = root / "paper" / "fine.tex"
        if path.is_file():
            return path.read_text(encoding="utf-8")
    pytest.skip("the source of the paper is not at hand")


def plain(latex: str) -> str:
    """A piece of a table without its markup: "$\\ModelName${\\small{}-MLP}" is "FINE-MLP"."""
    text = latex.replace(r"\ModelName", "FINE").replace(r"\pm", "±").replace(r"\&", "&")
    text = re.sub(r"\\(cline|multicolumn|multirow)\{[^}]*\}(\{[^}]*\})?", "", text)
    text = re.sub(r"\\[a-zA-Z]+|[{}$]", "", text)
    return re.sub(r"\s+", " ", text.replace(" -", "-")).strip()


def table(source: str, name: str) -> Rows:
    """The rows of numbers of the table with this label."""
    inside = r"(?:(?!\\begin\{tabular\}).)*?"
    table = rf"\\begin\{{tabular\}}({inside})\\end\{{tabular\}}{inside}\\label\{{tab:{name}"
    (body,) = re.findall(table, source, re.DOTALL)
    rows: Rows = {}
    for line in body.split(r"\tabularnewline"):
        first, *cells = [plain(piece) for piece in re.split(r"(?<!\\)&", line)]
        if cells and all(re.fullmatch(r"[\d.]+(±[\d.]+)?", cell) for cell in cells):
            rows[NAMES[first]] = [quoted(cell) for cell in cells]
    return rows


def quoted(text: str) -> Quoted:
    mean, _, spread = text.partition("±")
    return Quoted(float(mean), float(spread) if spread else None)


def means(rows: Rows) -> dict[str, list[float]]:
    return {name: [number.mean for number in row] for name, row in rows.items()}


def ours(name: str, columns: tuple[str, ...]) -> Rows:
    quoted = QUOTED[name].items()
    return {model: [numbers[column] for column in columns] for model, numbers in quoted}


@pytest.mark.parametrize(
    ("name", "label", "columns", "count"),
    [
        ("table1", "Omniglot-transformation-task", (*FAMILIES, "affine"), 70),
        ("table2", "CIFAR100-single-transformation-task}", FAMILIES, 63),
        ("table4", "more-extreme-ood", EXTREME, 54),
    ],
)
def test_means_are_those_of_the_tables_in_the_text(source, name, label, columns, count):
    theirs = means(table(source, label))
    if name == "table4":  # which says in the text that its FINE is the one with NICE
        theirs["fine-nice"] = theirs.pop("fine")
    assert means(ours(name, columns)) == theirs
    assert sum(map(len, theirs.values())) == count


def test_table_3_is_that_of_the_paper_with_rows_as_columns(source):
    theirs = table(source, "CIFAR100-multi-transformation-task")
    models = ("relation-net", "predi-net", "transformer", "esbn", "fine-mlp", "fine-nice")
    assert list(theirs) == list(ENCODERS) and list(QUOTED["table3"]) == list(models)
    for encoder, numbers in theirs.items():
        assert numbers == [QUOTED["table3"][model][encoder] for model in models]


@pytest.mark.parametrize(
    ("name", "label", "columns"),
    [
        ("table1", "Omniglot-task-std", (*FAMILIES, "affine")),
        ("table2", "CIFAR100-single-transformation-task-std", FAMILIES),
    ],
)
def test_deviations_are_those_of_the_appendix(source, name, label, columns):
    """The appendix has one row for FINE, that of NICE, except for reflection, which is MLP's."""
    theirs = table(source, label)
    fine = theirs.pop("fine")
    expected = {
        model: dict(zip(columns, numbers, strict=True)) for model, numbers in theirs.items()
    }
    expected |= {"fine-nice": dict(zip(columns, fine, strict=True)), "fine-mlp": {}}
    expected["fine-mlp"]["reflection"] = expected["fine-nice"].pop("reflection")
    swapped = {("table1", "esbn", "shear"): 84.5, ("table1", "esbn", "scale"): 83.4}
    for model, numbers in QUOTED[name].items():
        for column, number in numbers.items():
            if (name, model, column) in swapped:
                assert number == Quoted(swapped[name, model, column])
                theirs_is_another = expected[model][column].mean != number.mean
                assert theirs_is_another, "the paper does not contradict itself here after all"
            else:
                assert number == expected[model].get(column, Quoted(number.mean))


def test_numbers_in_the_text_are_there(source):
    text = re.sub(r"\s+", " ", source.replace("\\", ""))
    sizes = QUOTED["figure-training-size"]["fine-nice"]
    few, some, many, most = (
        f"{sizes[size].mean:.1f}%" for size in ("100", "1000", "10000", "100000")
    )
    assert f"sizes 100 or 1000 and achieve fair accuracy ({few} and {some}, respectively)" in text
    assert f"average test accuracy of {many} on training set of size 10,000" in text
    assert f"the {most} accuracy on 100,000 data points" in text
    assert "peaks at 100,000 training points with around $85%$" in text
    assert "achieves around $95%$ test accuracy at 1M training points" in text
    assert QUOTED["scaling"] == {
        "fine-nice": {"100000": Quoted(85, about=True)},
        "fine-mlp": {"1000000": Quoted(95, about=True)},
    }


def test_the_paper_does_contradict_itself_where_we_say_so(source):
    text = re.sub(r"\s+", " ", source)
    assert "with 48 memories" in text and "8-32 basis weight matrices" in text
    assert (
        "test accuracy of more than 80" in text
        and QUOTED["table2"]["fine-nice"]["fisheye"].mean == 76.8
    )
    assert QUOTED["table3"]["fine-nice"]["p4-cnn"].mean == 81.6
    page = (Path(__file__).parents[2] / "docs/reproduce.md").read_text(encoding="utf-8")
    for sentence in CONTRADICTIONS:
        assert sentence in " ".join(page.split())
