"""A cache for results that take long to make: threads that need the same one wait for it."""

import functools
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Made = TypeVar("Made")


def made_once(most: int) -> Callable[[Callable[Arguments, Made]], Callable[Arguments, Made]]:
    """Like lru_cache, keep the last ``most`` results, but never make one twice at the same time."""

    def decorate(make: Callable[Arguments, Made]) -> Callable[Arguments, Made]:
        cached = functools.lru_cache(maxsize=most)(make)
        lock = threading.Lock()

        @functools.wraps(make)
        def get(*arguments: Arguments.args, **options: Arguments.kwargs) -> Made:
            with lock:
                return cached(*arguments, **options)  # type: ignore[arg-type]  # hashable or refused

        return get

    return decorate
