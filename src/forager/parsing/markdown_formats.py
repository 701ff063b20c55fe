"""The Markdown of a page as HTML and as plain text. By a parser of CommonMark that lets no HTML and no script through,
whatever the page said."""

from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, assert_never

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token


class TextFormat(StrEnum):
    MARKDOWN = "markdown"
    TEXT = "text"
    HTML = "html"


def convert(markdown: str, to: TextFormat) -> str:
    match to:
        case TextFormat.MARKDOWN:
            return markdown
        case TextFormat.TEXT:
            return to_text(markdown)
        case TextFormat.HTML:
            return to_html(markdown)
        case _:
            assert_never(to)


def to_html(markdown: str) -> str:
    """Returns a fragment of HTML."""
    return str(_parser().render(markdown))


def to_text(markdown: str) -> str:
    """Returns the words, a line for each block; cells of a row are parted by tabs."""
    lines: list[str] = []
    cells: list[str] | None = None
    for token in _parser().parse(markdown):
        match token.type:
            case "inline":
                said = _words(token.children or [])
                if cells is not None:
                    cells.append(said)
                elif said:
                    lines.append(said)
            case "fence" | "code_block":
                lines.append(token.content.rstrip("\n"))
            case "tr_open":
                cells = []
            case "tr_close":
                if cells is not None and any(cells):
                    lines.append("\t".join(cells).rstrip())
                cells = None
    return "\n".join(lines)


def _words(tokens: "Sequence[Token]") -> str:
    parts: list[str] = []
    for token in tokens:
        if token.type in {"text", "code_inline"}:
            parts.append(token.content)
        elif token.type in {"hardbreak", "softbreak"}:
            parts.append("\n")
    return "".join(parts).strip()


@lru_cache(1)
def _parser() -> "MarkdownIt":
    """Imported here: few processes need it."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
