"""Compares two texts line by line, as `diff -u` does, within bounds of time and memory. Pure.

The algorithm is Myers': its time grows with the number of differences. Texts that differ in more places than
`MOST_EDITS` are shown as one block that was replaced: such a diff is nothing to read, and a hostile page must not take
minutes of a server's time.
"""

import difflib
import re
from collections.abc import Sequence
from typing import NamedTuple

MOST_EDITS = 1000
"""Half a second and 35 MB at worst."""
CONTEXT = 3
MOST_LINES = 10_000
"""Of the result."""
LONGEST_LINE = 2000
BETWEEN_TAGS = re.compile(r">(?=<)")
Opcode = tuple[str, int, int, int, int]


class Diff(NamedTuple):
    text: str
    added: int
    removed: int
    is_rough: bool
    """The texts differ in too many places: what lies between is shown as replaced."""
    is_truncated: bool


def lines_of(text: str) -> list[str]:
    """Returns the lines of a text. A page without line breaks has one per tag, so that a change is found."""
    lines = text.splitlines()
    return [part for line in lines for part in (BETWEEN_TAGS.sub(">\n", line).split("\n") if "><" in line else [line])]


def unified(old: Sequence[str], new: Sequence[str], old_name: str, new_name: str) -> Diff:
    """Returns a unified diff; empty if both are the same."""
    opcodes, is_rough = compare(old, new)
    matcher = difflib.SequenceMatcher(None, "", "")
    matcher.opcodes = opcodes  # type: ignore[attr-defined]  # grouping is the library's, finding them is ours
    shown: list[str] = []
    added = sum(end - start for tag, _, _, start, end in opcodes if tag in {"insert", "replace"})
    removed = sum(end - start for tag, start, end, _, _ in opcodes if tag in {"delete", "replace"})
    for group in matcher.get_grouped_opcodes(CONTEXT) if added or removed else ():
        shown += [] if shown else [f"--- {old_name}", f"+++ {new_name}"]
        shown.append(f"@@ -{_span(group[0][1], group[-1][2])} +{_span(group[0][3], group[-1][4])} @@")
        for tag, i, j, k, m in group:
            if tag == "equal":
                shown += [f" {_cut(line)}" for line in old[i:j]]
                continue
            shown += [f"-{_cut(line)}" for line in old[i:j]] + [f"+{_cut(line)}" for line in new[k:m]]
        if len(shown) > MOST_LINES:
            break
    text = "".join(f"{line}\n" for line in shown[:MOST_LINES])
    return Diff(text, added, removed, is_rough, len(shown) > MOST_LINES)


def compare(old: Sequence[str], new: Sequence[str], most_edits: int = MOST_EDITS) -> tuple[list[Opcode], bool]:
    """Returns what turns one list of lines into the other, and whether it is rough."""
    start, end = _common(old, new)
    middle_old, middle_new = old[start : len(old) - end], new[start : len(new) - end]
    matches = _matches(middle_old, middle_new, most_edits)
    blocks = [(0, 0, start)] if start else []
    blocks += [(start + i, start + k, size) for i, k, size in matches or ()]
    blocks.append((len(old) - end, len(new) - end, end))
    return _opcodes(blocks), matches is None


def _common(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Returns how many lines at the beginning and at the end are the same."""
    shorter = min(len(old), len(new))
    start = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    left = shorter - start
    end = next((at for at in range(left) if old[-1 - at] != new[-1 - at]), left)
    return start, end


def _matches(old: Sequence[str], new: Sequence[str], most_edits: int) -> list[tuple[int, int, int]] | None:
    """Returns blocks of equal lines on the shortest way from one to the other; None if it takes too many edits."""
    trail: list[dict[int, int]] = []
    furthest = {1: 0}
    for edits in range(min(len(old) + len(new), most_edits) + 1):
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (
                diagonal != edits and furthest.get(diagonal - 1, -1) < furthest.get(diagonal + 1, -1)
            )
            x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            y = x - diagonal
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= len(old) and y >= len(new):
                trail.append(dict(furthest))
                return _walk_back(trail, len(old), len(new))
        trail.append({diagonal: furthest[diagonal] for diagonal in range(-edits, edits + 1, 2)})
    return None


def _walk_back(trail: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int, int]]:
    blocks: list[tuple[int, int, int]] = []
    for edits in range(len(trail) - 1, 0, -1):
        before, diagonal = trail[edits - 1], x - y
        down = diagonal == -edits or (diagonal != edits and before.get(diagonal - 1, -1) < before.get(diagonal + 1, -1))
        previous = diagonal + 1 if down else diagonal - 1
        from_x = before[previous]
        entry_x = from_x if down else from_x + 1
        if x > entry_x:
            blocks.append((entry_x, entry_x - diagonal, x - entry_x))
        x, y = from_x, from_x - previous
    if x:
        blocks.append((0, 0, x))
    return blocks[::-1]


def _opcodes(blocks: list[tuple[int, int, int]]) -> list[Opcode]:
    found: list[Opcode] = []
    i = k = 0
    for old_at, new_at, size in blocks:
        tag = "replace" if i < old_at and k < new_at else "delete" if i < old_at else "insert" if k < new_at else ""
        if tag:
            found.append((tag, i, old_at, k, new_at))
        i, k = old_at + size, new_at + size
        if size:
            found.append(("equal", old_at, i, new_at, k))
    return found


def _span(start: int, end: int) -> str:
    """Returns the beginning and length of a range, as `diff -u` writes it."""
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…"
