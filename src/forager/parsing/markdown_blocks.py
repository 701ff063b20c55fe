"""Writes blocks of Markdown below each other: in quotes and lists, with the blank lines that part them."""

import re
from dataclasses import dataclass, field

MOST_NESTED = 12
"""Quotes and lists inside each other; deeper ones are written as the innermost of these, or each line would grow with
the depth of the page."""
MOST_CHARACTERS = 4_000_000
"""Of one page. Links are made absolute, so a hostile page could grow a thousandfold."""
TICKS = re.compile("`{3,}")
FINAL_SPACES = re.compile(r"[ \t]+$", re.MULTILINE)


class FullError(Exception):
    """The page is written as far as it may be."""


@dataclass(slots=True)
class _Container:
    """A quote, a list or an item."""

    rest: str = ""
    """What stands before each of its lines."""
    first: str = ""
    """What stands before its first line instead."""
    is_begun: bool = False
    is_item: bool = False
    marker: str = ""
    """Of a list: `-`, `*`, `.` or `)`."""
    number: int = 0
    """Of an ordered list: of its next item."""
    has_items: bool = False
    is_tight: bool = False
    """Whether its first item follows without a blank line."""


@dataclass(slots=True)
class Blocks:
    lines: list[str] = field(default_factory=list)
    _stack: list[_Container] = field(default_factory=list)
    _size: int = 0
    _has_rule: bool = False
    _last_list: tuple[int, str] | None = None
    """Depth and marker of the list that just ended: one beside it takes another marker, or they would be one."""

    def __str__(self) -> str:
        return "\n".join(self.lines)

    # containers

    def open_quote(self) -> bool:
        return self._push(_Container(rest="> ", first="> "))

    def open_list(self, *, is_ordered: bool, start: int = 1, is_tight: bool = False) -> bool:
        first, other = (".", ")") if is_ordered else ("-", "*")
        marker = other if self._last_list == (len(self._stack), first) else first
        is_nested = bool(self._stack) and self._stack[-1].is_item and self._stack[-1].is_begun
        return self._push(
            _Container(is_begun=True, marker=marker, number=start, is_tight=is_tight or is_nested),
        )

    def open_item(self, number: int | None = None) -> bool:
        """Opens an item of the innermost list."""
        above = self._stack[-1] if self._stack and self._stack[-1].marker else _Container(marker="-")
        if above.marker in "-*":
            first = f"{above.marker} "
        else:
            above.number = above.number if number is None else number
            first = f"{above.number}{above.marker} "
            above.number = min(above.number + 1, 999_999_999)
        return self._push(_Container(rest=" " * len(first), first=first, is_item=True))

    def close(self) -> None:
        closed = self._stack.pop()
        if closed.marker and closed.has_items:
            self._last_list = len(self._stack), closed.marker

    def _push(self, container: _Container) -> bool:
        if len(self._stack) >= MOST_NESTED:
            return False
        self._stack.append(container)
        return True

    # blocks

    def add_rule(self) -> None:
        """Adds a line between what is there and what follows; none at the end, and none in lists."""
        self._has_rule = bool(self.lines) and not self._stack

    def add_heading(self, level: int, text: str) -> None:
        if text := text.strip():
            closing = text.rstrip("#")
            if closing != text and (not closing or closing.endswith(" ")):
                text = f"{closing}\\{text[len(closing) :]}"
            self.add(f"{'#' * level} {text}")

    def add_code(self, code: str, language: str) -> None:
        """Adds a fenced block; white space inside is kept."""
        code = FINAL_SPACES.sub("", code.replace("\r\n", "\n").replace("\r", "\n")).strip("\n")
        if code:
            fence = "`" * max(3, max(map(len, TICKS.findall(code)), default=0) + 1)
            self.add(f"{fence}{language}\n{code}\n{fence}")

    def add(self, text: str) -> None:
        """Adds a block that has its own lines."""
        if self._has_rule:
            self._has_rule = False
            self.add("---")
        stack = self._stack
        begun = next((at for at, each in enumerate(stack) if not each.is_begun), len(stack))
        if self.lines and not self._is_tight(begun):
            self.lines.append("".join([each.rest for each in stack[:begun]]).rstrip())
        rest = "".join([each.rest for each in stack])
        first = "".join([each.rest if each.is_begun else each.first for each in stack])
        for at in range(begun, len(stack)):
            stack[at].is_begun = True
            if at and stack[at].is_item and stack[at - 1].marker:
                stack[at - 1].has_items = True
        head, *others = text.split("\n")
        self.lines.append(first + head)
        bare = rest.rstrip()
        self.lines += [rest + line if line else bare for line in others]
        self._last_list = None
        self._size += len(text) + (len(rest) + 1) * (len(others) + 2)
        if self._size > MOST_CHARACTERS:
            raise FullError

    def _is_tight(self, begun: int) -> bool:
        """Whether the next block begins an item right below the line before it."""
        if begun >= len(self._stack) or not self._stack[begun].is_item or not begun:
            return False
        above = self._stack[begun - 1]
        return bool(above.marker) and (above.has_items or above.is_tight)
