"""What takes long to make is made once, however many ask for it at the same time."""

import functools
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Asked = ParamSpec("Asked")
Made = TypeVar("Made")


def made_once(most: int) -> Callable[[Callable[Asked, Made]], Callable[Asked, Made]]:
    """Keep the last ``most`` results, as lru_cache does; who asks while one is being made waits, and makes no second one."""

    def keep(make: Callable[Asked, Made]) -> Callable[Asked, Made]:
        kept, making = functools.lru_cache(maxsize=most)(make), threading.Lock()

        @functools.wraps(make)
        def ask(*arguments: Asked.args, **options: Asked.kwargs) -> Made:
            with making:
                return kept(*arguments, **options)  # type: ignore[arg-type]  # unhashable arguments are refused by lru_cache

        return ask

    return keep
