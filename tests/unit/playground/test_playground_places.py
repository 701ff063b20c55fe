"""Where things are: numbers from a seed, index trees, addresses."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import forager_playground
from forager.errors import UsageError
from forager_playground.listen import list_addresses
from forager_playground.seeded import number, numbers, pick_distinct, pick_many
from forager_playground.tree import IndexTree, Node, compute_fan_out


def test_numbers_are_the_same_for_ever() -> None:
    assert numbers(3, 1, "a") == (2113855815, 2831643995, 2582480733)
    assert numbers(2, 1, "a") == numbers(3, 1, "a")[:2]
    assert number(10, 1, "a") == 5
    assert pick_distinct("abcdef", 9, 1) != sorted(pick_distinct("abcdef", 9, 1))
    assert sorted(pick_distinct("abcdef", 9, 1)) == list("abcdef")
    assert set(pick_many("ab", 50, 1)) == {"a", "b"}


@given(st.integers(1, 3000), st.integers(2, 40))
def test_every_leaf_hangs_under_the_root_once(leaves: int, fan_out: int) -> None:
    tree = IndexTree(leaves, fan_out)
    found: list[Node] = []
    inner: list[Node] = []
    waiting = [tree.root]
    while waiting:
        node = waiting.pop()
        assert tree.has(node)
        for child in tree.children(node):
            assert tree.parent(child) == node
            (waiting if child.level else found).append(child)
            if child.level:
                inner.append(child)
    assert sorted(found) == [Node(0, n) for n in range(leaves)]
    assert sorted(inner) == sorted(tree.inner_nodes())


def test_a_tree_grows_in_breadth_when_its_height_is_given() -> None:
    assert compute_fan_out(9, 4, 3) == 3
    assert IndexTree(250_000, compute_fan_out(250_000, 4, 3)).root.level == 4


def test_addresses_follow_each_other_and_stay_on_loopback() -> None:
    assert list_addresses("127.0.0.254", 3) == ["127.0.0.254", "127.0.0.255", "127.0.1.0"]
    for wrong in ("10.0.0.1", "0.0.0.0", "126.255.255.255", "localhost", "::1"):
        with pytest.raises(UsageError):
            list_addresses(wrong, 2)


def test_importing_the_playground_loads_nothing_of_it() -> None:
    code = (
        "import sys, forager_playground; print(sorted(m for m in sys.modules if m.startswith('forager_playground.')))"
    )
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.strip() == "[]"


def test_all_public_names_exist() -> None:
    assert all(getattr(forager_playground, name) is not None for name in forager_playground.__all__)
    with pytest.raises(AttributeError):
        _ = forager_playground.nothing
