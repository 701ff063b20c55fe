"""The short round of the fuzzer, with the same inputs each time; `make fuzz` looks for new ones."""

import pytest
from tests.fuzz.targets import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_a_short_attack_finds_nothing(name: str) -> None:
    assert TARGETS[name].attack(examples=150, number=1) >= 10
