"""Fuzz tests for as long as there is time: pytest --fuzz-minutes 60 tests/laws tests/demo

Every fuzz test has an equal share of the time and spends it on new random cases, in rounds of 100.
All other tests are left out. A failure is printed as hypothesis does: the smallest case that fails,
and a line `@reproduce_failure(…)` that brings it back. It is also kept in .hypothesis, where the
next run begins with it. Each test tells in the summary how many cases it tried.
"""

import functools
import time
from typing import Any

import pytest

OPTION = "--fuzz-minutes"


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "run only the fuzz tests, together for about so many minutes, with new cases"
    parser.addoption(OPTION, type=float, metavar="MINUTES", help=text)


def is_fuzz_test(item: pytest.Item) -> bool:
    return "fuzz" in item.path.name and getattr(item.obj, "is_hypothesis_test", False)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    minutes = config.getoption(OPTION)
    if minutes is None:
        return
    config.hook.pytest_deselected(items=[item for item in items if not is_fuzz_test(item)])
    items[:] = [item for item in items if is_fuzz_test(item)]
    for item in items:
        item.stash[SHARE] = 60 * minutes / len(items)


SHARE = pytest.StashKey[float]()
"""Seconds that a test has."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Round after round of a fuzz test, until its time is over or one fails."""
    if SHARE not in pyfuncitem.stash:
        return None
    # Imported late: most test runs need none of it.
    from hypothesis import settings  # noqa: PLC0415

    settings.load_profile("new")
    handle = pyfuncitem.obj.hypothesis  # by which plug-ins may put something around a test
    test, cases = handle.inner_test, 0

    @functools.wraps(test)
    def counted(*arguments: Any, **named: Any) -> None:
        nonlocal cases
        cases += 1
        test(*arguments, **named)

    handle.inner_test = counted
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    started = time.monotonic()
    try:
        while time.monotonic() - started < pyfuncitem.stash[SHARE]:
            pyfuncitem.obj(**arguments)
    finally:
        seconds = time.monotonic() - started
        pyfuncitem.user_properties.append(("figure", f"{cases:,} cases in {seconds:.0f} s"))
    return True
