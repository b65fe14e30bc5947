"""A cache for results that take long to make: threads that need the same one wait for it."""

import functools
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Made = TypeVar("Made")


def made_once(most: int) -> Callable[[Callable[Arguments, Made]], Callable[Arguments, Made]]:
    """Like lru_cache, keep the last ``most`` results, but never make one twice at the same time.

    Whoever needs another result does not wait for one that is being made.
    """

    def decorate(make: Callable[Arguments, Made]) -> Callable[Arguments, Made]:
        kept: OrderedDict[Hashable, Future[Made]] = OrderedDict()
        lock = threading.Lock()

        def find(key: Hashable) -> tuple[Future[Made], bool]:
            """The result, which may be on its way, and whether it is still to be made."""
            with lock:
                if key in kept:
                    kept.move_to_end(key)
                    return kept[key], False
                future = kept[key] = Future()
                if len(kept) > most:
                    kept.popitem(last=False)
                return future, True

        def forget(key: Hashable) -> None:
            with lock:
                kept.pop(key, None)

        @functools.wraps(make)
        def get(*arguments: Arguments.args, **options: Arguments.kwargs) -> Made:
            key = key_of(*arguments, **options)
            future, to_be_made = find(key)
            if to_be_made:
                try:
                    future.set_result(make(*arguments, **options))
                except BaseException as problem:
                    forget(key)
                    future.set_exception(problem)
            return future.result()

        return get

    return decorate


def key_of(*arguments: Any, **options: Any) -> Hashable:
    """What a call is known by; its arguments must be hashable."""
    return arguments, tuple(sorted(options.items()))
