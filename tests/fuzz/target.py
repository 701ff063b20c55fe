"""What an attack is made of: inputs, and a check that must hold for all of them."""

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy, tuples


class Target(NamedTuple):
    check: Callable[..., None]
    inputs: tuple[SearchStrategy[Any], ...]

    def attack(self, examples: int, number: int) -> int:
        """How many inputs were tried; raises what they broke, in its smallest form. The number makes it repeatable."""
        tried = Counter[str]()

        def counted(values: tuple[Any, ...]) -> None:
            tried["inputs"] += 1
            self.check(*values)

        chosen = settings(
            max_examples=examples,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink),
        )
        seed(number)(chosen(given(tuples(*self.inputs))(counted)))()
        return tried["inputs"]


def over(*inputs: SearchStrategy[Any]) -> Callable[[Callable[..., None]], Target]:
    """Makes a check a target."""
    return lambda check: Target(check, inputs)
