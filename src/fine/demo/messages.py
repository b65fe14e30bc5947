"""What the page and the program say to each other, checked on the way in and described for OpenAPI."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from fine.demo.wire import LONGEST_TEXT

Picture = Annotated[str, Field(max_length=LONGEST_TEXT, description="a PNG as a data URL, or its bytes as base64")]
Name = Annotated[str, Field(max_length=200)]
Probability = Annotated[float, Field(ge=0, le=1)]


class Asked(BaseModel):
    """A request: fields nobody has heard of are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Step(Asked):
    """A rule by its family and parameters."""

    family: Name
    parameters: list[Annotated[float, Field(allow_inf_nan=False)]] = Field(max_length=8)


class Puzzle(Asked):
    """An example pair, a new picture and the choices."""

    model: Name
    x: Picture
    y: Picture
    new: Picture
    choices: list[Picture] = Field(min_length=2, max_length=8)


class Solved(BaseModel):
    """The choice of a model, and how likely it thinks each of them."""

    index: int
    probabilities: list[Probability]


class Play(Asked):
    """What is on the page: x, what happens to it or what it became, and x'."""

    model: Name
    source: Name = Field(description="where the wrong object among the choices comes from")
    x: Picture
    new: Picture
    steps: list[Step] = Field(default=[], max_length=4, description="rules that make y of x, one after the other")
    y: Picture | None = Field(default=None, description="y itself, if it was drawn and not made by rules")
    map: Name = Field(default="all", description="the map to put the function on: all, or a family")
    seed: int = Field(default=0, ge=0, lt=2**32, description="another seed, other wrong choices")


class Choice(BaseModel):
    """One of the four pictures to choose from."""

    picture: Picture
    kind: str = Field(description="right, wrong rule, wrong object, both wrong; possible if y was drawn by hand")
    words: str = Field(description="the rule that made it")
    probability: Probability


class Named(BaseModel):
    """A rule that the model thinks likely."""

    family: str
    words: str
    probability: Probability


class Played(BaseModel):
    """What the model makes of it."""

    y: Picture
    choices: list[Choice]
    picked: int
    named: list[Named]
    drawn: Picture = Field(description="its answer without any choices: x' under the first of the named rules")
    place: tuple[float, float] = Field(description="of the composed function, on the map")


class RandomPicture(BaseModel):
    """A picture of a source, and its class."""

    picture: Picture
    name: str


class QuizPuzzle(BaseModel):
    """A puzzle of the quiz; its answer is told once a choice is made."""

    number: int
    x: Picture
    y: Picture
    new: Picture
    choices: list[Picture]


class QuizChoice(Asked):
    """What a person chose."""

    model: Name
    source: Name
    choice: int = Field(ge=0, le=3)


class QuizResult(BaseModel):
    """Who was right."""

    right: int = Field(description="the place of the right choice")
    picked: int = Field(description="the place the model chose")
    probabilities: list[Probability]
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
    """A slider: the values a parameter can take."""

    name: str
    values: list[float]
    texts: list[str] = Field(description="the values as people write them")


class FamilyHere(BaseModel):
    """A family of rules and how to choose one of them."""

    name: str
    title: str
    controls: list[Control] = Field(description="a slider for each parameter, where every combination is a rule")
    rules: list[list[float]] = Field(description="the parameters of every rule")
    words: list[str]


class ModelHere(BaseModel):
    """A model that can be asked."""

    name: str
    families: list[str] = Field(description="what it was trained on")
    colour: bool


class SourceHere(BaseModel):
    """A source of pictures."""

    name: str
    title: str
    colour: bool


class About(BaseModel):
    """What there is to play with."""

    models: list[ModelHere]
    sources: list[SourceHere]
    families: list[FamilyHere]
    size: int
    puzzles: int


class Problem(BaseModel):
    """What was wrong with a request, in one line."""

    error: str
