"""A parsed page. It knows from its bytes which elements it cannot have, and is not searched for those."""

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode, SelectolaxError

from forager.errors import DecodeError
from forager.extract.census import Census

# Lexbor's mutation events look at every option for each new one: 100,000 of them took half a minute.
OPTIONS = LexborDocumentOptions.WO_EVENTS.value
_tags = LexborHTMLParser.tags


class Tree(LexborHTMLParser):
    """Keeps no nodes: each of them keeps the tree, and it would be freed late."""

    __slots__ = ("_may_have",)

    def __init__(self, page: bytes, census: Census | None = None) -> None:
        super().__init__(page, options=OPTIONS)
        self._may_have = None if census is None else census.may_have

    def tags(self, name: str) -> list[LexborNode]:
        return _tags(self, name) if self._may_have is None or self._may_have(name) else []

    def strip_tags(self, tags: list[str], recursive: bool = False) -> None:  # noqa: FBT (selectolax has it so)
        super().strip_tags([name for name in tags if self._may_have is None or self._may_have(name)], recursive)


def parse(page: bytes, census: Census | None = None) -> Tree:
    """`census` is that of these bytes, where it was taken. Raises DecodeError when the parser gives up."""
    try:
        return Tree(page, census)
    except (SelectolaxError, RuntimeError) as error:
        raise DecodeError(f"the page cannot be parsed: {error}") from error
