"""The JSON between page and server: requests are checked, everything is described for OpenAPI."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from fine.demo.photos import LONGEST_PHOTO, MOST_PHOTOS
from fine.demo.wire import LONGEST_TEXT

Png = Annotated[
    str,
    Field(max_length=LONGEST_TEXT, description="a PNG as a data URL, or its bytes as base64"),
]
PhotoText = Annotated[
    str,
    Field(max_length=LONGEST_PHOTO, description="an image as a data URL, or its bytes as base64"),
]
Name = Annotated[str, Field(max_length=200)]
Probability = Annotated[float, Field(ge=0, le=1)]


class StrictModel(BaseModel):
    """A request: unknown fields and values of another type are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Step(StrictModel):
    """A rule by its family and parameters."""

    family: Name
    parameters: list[Annotated[float, Field(allow_inf_nan=False)]] = Field(max_length=8)


class Puzzle(StrictModel):
    """An example pair, a new image and the choices."""

    model: Name
    x: Png
    y: Png
    new: Png
    choices: list[Png] = Field(min_length=2, max_length=8)


class Found(BaseModel):
    """A rule that was found on the pixels of the example."""

    words: str = Field(description="what it does, in plain words")
    label: str = Field(description="its name and parameters, with their errors")


class Reasons(BaseModel):
    """Why a choice was taken."""

    rule: Found | None = Field(description="null if no rule explains the pixels of the example")
    verified: bool = Field(description="whether that rule makes exactly the choice that was taken")
    doubts: list[str] = Field(description="what speaks against any answer; empty: it stands")


class Solved(Reasons):
    """The choice that was taken, and the probability of each."""

    index: int
    probabilities: list[Probability]
    model_probabilities: list[Probability] = Field(description="what the network alone says")


class Play(StrictModel):
    """What is on the page: x, the rules that change it or the changed image y, and x'."""

    model: Name
    source: Name = Field(description="where the wrong object among the choices comes from")
    x: Png
    new: Png
    steps: list[Step] = Field(
        default=[], max_length=4, description="rules that make y of x, one after the other"
    )
    y: Png | None = Field(
        default=None, description="y itself, if it was drawn and not made by rules"
    )
    map: Name = Field(default="all", description="the map to put the function on: all, or a family")
    seed: int = Field(default=0, ge=0, lt=2**32, description="another seed, other wrong choices")


class Choice(BaseModel):
    """One of the images to choose from."""

    image: Png
    kind: str = Field(
        description="right, wrong rule, wrong object, both wrong; possible if y was drawn by hand"
    )
    words: str = Field(description="the rules that made it, in words")
    probability: Probability
    model_probability: Probability = Field(description="what the network alone says")


class Named(BaseModel):
    """A rule, and how probable it is."""

    family: str
    words: str
    probability: Probability


class Played(Reasons):
    """The answer to what is on the page."""

    y: Png
    choices: list[Choice]
    picked: int
    named: list[Named] = Field(description="a rule that was found on the pixels is the first")
    model_named: list[Named] = Field(description="the rules that the network alone names")
    drawn: Png = Field(description="the answer without choices: x' under the first named rule")
    place: tuple[float, float] = Field(description="of the composed function, on the map")


class Example(StrictModel):
    """A before, an after, and images to which the same is to be done."""

    before: PhotoText
    after: PhotoText
    images: list[PhotoText] = Field(default=[], max_length=MOST_PHOTOS)
    anyway: bool = Field(
        default=False, description="whether to draw although no rule explains the example"
    )


class DrawnPhoto(BaseModel):
    """An image under the rule, at its size."""

    image: str = Field(description="a PNG or JPEG as a data URL; empty if there is an error")
    width: int
    height: int
    error: str = Field(description="why it could not be drawn; empty if it is there")


class Applied(BaseModel):
    """The rule behind an example, and what it makes of other images."""

    rule: str = Field(description="its name and parameters, with their errors")
    residual: float = Field(description="the part of the example that it does not explain")
    explained: bool = Field(description="if not, nothing is drawn unless it is asked for anyway")
    doubts: list[str]
    canvas: str = Field(description="keep: results keep the size; expand: nothing is cut off")
    background: str = Field(description="of what is uncovered, as in the example; may be empty")
    images: list[DrawnPhoto]


class RandomImage(BaseModel):
    """An image of a source, and its class."""

    image: Png
    name: str


class QuizPuzzle(BaseModel):
    """A puzzle of the quiz; the answer follows once a choice is made."""

    number: int
    x: Png
    y: Png
    new: Png
    choices: list[Png]


class QuizChoice(StrictModel):
    """What a person chose."""

    model: Name
    source: Name
    choice: int = Field(ge=0, le=3)


class QuizResult(Reasons):
    """The right choice, and the model's."""

    right: int = Field(description="the place of the right choice")
    picked: int = Field(description="the place of the model's choice")
    probabilities: list[Probability]
    model_probabilities: list[Probability] = Field(description="what the network alone says")
    kinds: list[str]
    words: str = Field(description="the hidden rule")


class MapPoint(BaseModel):
    """A composed function on the map."""

    x: float
    y: float
    family: str
    words: str
    hue: float = Field(description="0..1, along the rules of its family")


class Control(BaseModel):
    """A slider: the values that a parameter can take."""

    name: str
    values: list[float]
    texts: list[str] = Field(description="the values as people write them")


class FamilyInfo(BaseModel):
    """A family of rules, and how to choose one of them."""

    name: str
    title: str
    controls: list[Control] = Field(
        description="a slider for each parameter, if every combination of values is a rule"
    )
    rules: list[list[float]] = Field(description="the parameters of every rule")
    words: list[str]


class ModelInfo(BaseModel):
    """A model to choose."""

    name: str
    families: list[str] = Field(description="what it was trained on")
    colour: bool


class SourceInfo(BaseModel):
    """A source of images."""

    name: str
    title: str
    colour: bool


class About(BaseModel):
    """Everything the page offers."""

    models: list[ModelInfo]
    sources: list[SourceInfo]
    families: list[FamilyInfo]
    size: int
    puzzles: int


class Problem(BaseModel):
    """What was wrong with a request, in one line."""

    error: str
