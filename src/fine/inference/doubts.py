"""What speaks against an answer, in words."""

SHOWS_NOTHING = "the hint fits rules that make different things of the new image"
UNKNOWN_RULE = "the hint shows no rule this model knows"
NONE_FITS = "none of the choices is what the rule makes of the new image"
EQUALLY_GOOD = "two choices are equally good"
NONE_STANDS_OUT = "no choice fits much better than the others"
