"""The shape of an index: numbered leaves under inner nodes, so that a million of them stay near the start page."""

from dataclasses import dataclass
from typing import NamedTuple


class Node(NamedTuple):
    level: int
    """0 is a leaf."""
    number: int


@dataclass(frozen=True, slots=True)
class IndexTree:
    leaves: int
    fan_out: int

    @property
    def root(self) -> Node:
        level, reach = 1, self.fan_out
        while reach < self.leaves:
            level, reach = level + 1, reach * self.fan_out
        return Node(level, 0)

    def width(self, level: int) -> int:
        """How many nodes a level has."""
        reach: int = self.fan_out**level
        return -(-self.leaves // reach)

    def has(self, node: Node) -> bool:
        return 0 <= node.level <= self.root.level and 0 <= node.number < self.width(node.level)

    def children(self, node: Node) -> list[Node]:
        first = node.number * self.fan_out
        last = min(first + self.fan_out, self.width(node.level - 1))
        return [Node(node.level - 1, number) for number in range(first, last)]

    def parent(self, node: Node) -> Node:
        return Node(node.level + 1, node.number // self.fan_out)

    def inner_nodes(self) -> list[Node]:
        """All nodes between the root and the leaves, both excluded."""
        return [Node(level, n) for level in range(self.root.level - 1, 0, -1) for n in range(self.width(level))]


def compute_fan_out(leaves: int, height: int, smallest: int) -> int:
    """The smallest fan-out with which the leaves fit under a tree of that height."""
    fan_out = smallest
    while fan_out**height < leaves:
        fan_out += 1
    return fan_out
