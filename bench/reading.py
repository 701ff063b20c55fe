"""What reading a page costs, by the modules that do it: every function that `extract.page` takes from another module of
`extract` is timed; what is left is its own.

No list of stages that would have to be kept: whatever the reader is made of shows up by the name of its module.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import isfunction
from types import ModuleType
from typing import Any

from forager.parsing import page

PACKAGE = "forager.parsing."
OTHER = "page"


class Shares:
    """CPU by module. A function that calls another timed one is charged for the difference."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._inner_s = [0.0]

    def time(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def timed(*arguments: Any, **named: Any) -> Any:
            self._inner_s.append(0.0)
            started_s = time.process_time()
            try:
                return function(*arguments, **named)
            finally:
                took_s = time.process_time() - started_s
                self.seconds[name] = self.seconds.get(name, 0.0) + took_s - self._inner_s.pop()
                self._inner_s[-1] += took_s

        return timed


@contextmanager
def timed_reading(module: ModuleType = page) -> Iterator[Shares]:
    """While inside, calls from that module into others of its package are timed."""
    shares = Shares()
    found = [(name, value) for name, value in vars(module).items() if is_stage(value, module)]
    for name, function in found:
        setattr(module, name, shares.time(function.__module__.removeprefix(PACKAGE), function))
    try:
        yield shares
    finally:
        for name, function in found:
            setattr(module, name, function)


def is_stage(value: object, module: ModuleType) -> bool:
    if not isfunction(value):
        return False
    return value.__module__.startswith(PACKAGE) and value.__module__ != module.__name__
