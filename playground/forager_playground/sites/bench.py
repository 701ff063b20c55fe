"""The benchmark's web: realistic pages of about 47 KB with 60 links, cheap to make and to serve.

A page is put together from a few hundred ready-made paragraphs. Of its links six lead on in a tree (new to a crawler
that goes breadth first), the rest to pages it is likely to know: on a site of more than six times as many pages as
the crawl's limit, 90 % of all links are known already.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from forager_playground.answer import Answer, missing
from forager_playground.language import english
from forager_playground.page import STYLE, Link
from forager_playground.seeded import number, numbers
from forager_playground.site import ALLOW_ALL, SitePage
from forager_playground.sites.numbered import find_number, path_of

CHILDREN = 6
MENU = 14
RELATED = 40
BLOCKS = 512
BLOCKS_PER_PAGE = 73


@dataclass(frozen=True, slots=True)
class Bench:
    seed: int
    number: int
    size: int = 1000
    robots: str | None = ALLOW_ALL
    traps: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"bench-{self.number}"

    def pages(self) -> Iterator[SitePage]:
        for page in range(self.size):
            links = tuple(Link(path_of(target)) for target in self._targets(page))
            yield SitePage(path_of(page), 200, self._title(page), "en", "en", links)

    def answer(self, path: str, query: str) -> Answer:
        page = find_number(path, self.size)
        if page is None or query:
            return missing()
        return Answer(body=self._render(page).encode())

    def _title(self, page: int) -> str:
        titles = english().titles
        return f"{titles[number(len(titles), self.seed, self.number, page)]}, part {page} · Journal {self.number}"

    def _targets(self, page: int) -> list[int]:
        """Menu, then tree, then related: the order in which the page shows them."""
        menu = [n % self.size for n in range(MENU)]
        first = page * CHILDREN + 1
        children = list(range(first, min(first + CHILDREN, self.size)))
        drawn = numbers(RELATED + CHILDREN - len(children), self.seed, self.number, page, "links")
        reach = min(first + CHILDREN, self.size)  # what a crawler that goes breadth first has seen by now
        return menu + children + [n * reach >> 32 for n in drawn]

    def _render(self, page: int) -> str:
        title = self._title(page)
        targets = self._targets(page)
        menu, body = targets[:MENU], targets[MENU:]
        blocks = make_blocks(self.seed)
        text = [blocks[n % BLOCKS] for n in numbers(BLOCKS_PER_PAGE, self.seed, self.number, page, "text")]
        for place, target in enumerate(body[:30]):
            text[place * 2] += (
                f'<p class="more">See also <a href="{path_of(target)}">part {target} of the journal</a>.</p>\n'
            )
        related = "".join(f'<li><a href="{path_of(target)}">Related: part {target}</a></li>\n' for target in body[30:])
        summary = f"Part {page} of journal {self.number}: {english().sentences[page % len(english().sentences)]}"
        return (
            f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
            f'<meta name="description" content="{summary}">\n'
            f'<meta name="viewport" content="width=device-width,initial-scale=1">\n'
            f'<meta property="og:title" content="{title}">\n<meta property="og:type" content="article">\n'
            f"<style>:root{{--c:#345}}{STYLE}</style>\n</head>\n<body>\n<header>{_render_menu(tuple(menu))}</header>\n"
            f"<main>\n<article>\n<h1>{title}</h1>\n{''.join(text)}</article>\n"
            f"<aside>\n<h2>Related</h2>\n<ul>\n{related}</ul>\n</aside>\n</main>\n"
            f"<footer><p>Journal {self.number}, page {page} of {self.size}.</p></footer>\n</body>\n</html>\n"
        )


@cache
def _render_menu(menu: tuple[int, ...]) -> str:
    items = "".join(f'<li><a href="{path_of(target)}">Chapter {target}</a></li>' for target in menu)
    return f'<nav><ul class="menu">{items}</ul></nav>'


@cache
def make_blocks(seed: int) -> tuple[str, ...]:
    """Paragraphs with their markup, about 600 bytes each; every eighth opens with a heading."""
    return tuple(_make_block(seed, block) for block in range(BLOCKS))


def _make_block(seed: int, block: int) -> str:
    words = english()
    text = words.paragraph(9, seed, "block", block)
    heading = f"<h2>{words.titles[block % len(words.titles)]}</h2>\n" if block % 8 == 0 else ""
    return f'{heading}<p id="b{block}" class="text">{text}</p>\n'


def bench_sites(count: int = 20, pages: int = 1000, seed: int = 1) -> list[Bench]:
    return [Bench(seed, number, pages) for number in range(1, count + 1)]
