"""`python -m fine` is `fine`; this is what torchrun starts."""

from fine.cli import main

main()
