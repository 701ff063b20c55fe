"""One site of the lifelike web: which pages it has, where their links lead, and how a page is put together.

All sites have the same mix of kinds and sizes, so that a crawl of a few of them stands for all. A page's links lead to
the menu's pages, to six that nothing before it linked (a tree), to pages a crawler knows by then, and to other sites.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from forager_playground.answer import Answer, missing
from forager_playground.page import Link
from forager_playground.seeded import Draws, numbers
from forager_playground.site import ALLOW_ALL, SitePage
from forager_playground.sites.lifelike.code import make_name, make_state, script_pieces, style_pieces
from forager_playground.sites.lifelike.dialect import make_dialect
from forager_playground.sites.lifelike.makeup import PageProfile, place, plan_page
from forager_playground.sites.lifelike.markup import Body, Hrefs
from forager_playground.sites.lifelike.structured import CURRENCIES, Subject, render_head, render_json_ld
from forager_playground.sites.lifelike.words import Words, load_words
from forager_playground.sites.numbered import read_number

LANGUAGES = ("en", "de", "en", "fr", "es", "en", "it", "pl", "en", "pt", "nl", "en", "ru", "ja")
SECTIONS = ("garden", "kitchen", "travel", "weather", "books", "music", "shop", "home-and-living")
CHILDREN = 6
SCRIPT_SHARE = 0.56
"""Of the bytes that scripts and styles have together."""
MENU_SHARE, OUTSIDE_SHARE, NOWHERE_SHARE, CARD_SHARE = 0.28, 0.30, 0.07, 0.24


@dataclass(frozen=True, slots=True)
class Targets:
    """Numbers of the pages that a page links to, by where the links stand."""

    menu: list[int]
    cards: list[int]
    lists: list[int]

    def all(self) -> list[int]:
        return [*self.menu, *self.cards, *self.lists]


@dataclass(frozen=True, slots=True)
class Lifelike:
    seed: int
    number: int
    size: int = 200
    robots: str | None = ALLOW_ALL
    traps: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"lifelike-{self.number}"

    @property
    def language(self) -> str:
        return LANGUAGES[(self.number - 1) % len(LANGUAGES)]

    def pages(self) -> Iterator[SitePage]:
        for page in range(self.size):
            links = tuple(Link(self.path_of(target)) for target in self._targets(page, self._plan(page).links).all())
            yield SitePage(self.path_of(page), 200, self._title(page), self.language, self.language, links)

    def answer(self, path: str, query: str) -> Answer:
        page = 0 if path == "/" else read_number(path.rpartition("-")[2], self.size)
        if page is None or query or path != self.path_of(page):
            return missing()
        return Answer(body=self._render(page), prefers_brotli=page % 2 == 1)

    def path_of(self, page: int) -> str:
        return make_path(self.seed, self.number, page)

    def _title(self, page: int) -> str:
        words = self._words()
        return f"{words.label(Draws(self.seed, self.number, page, 'title'), 4)} {page}"

    def _words(self) -> Words:
        return load_words(self.language, self.seed)

    def _plan(self, page: int) -> PageProfile:
        offset = numbers(1, self.seed, self.number, "sizes")[0] / 2**32
        return plan_page(Draws(self.seed, self.number, page, "plan"), place(page, offset))

    def _targets(self, page: int, links: int) -> Targets:
        menu = [n % self.size for n in range(round(links * MENU_SHARE))]
        first = page * CHILDREN + 1
        reach = min(first + CHILDREN, self.size)  # what a crawler that goes breadth first has seen by now
        children = list(range(first, reach)) if first < self.size else []
        cards = max(CHILDREN, round(links * CARD_SHARE / 2))
        rest = max(0, links - len(menu) - 2 * cards - round(links * OUTSIDE_SHARE) - round(links * NOWHERE_SHARE))
        drawn = numbers(cards + rest, self.seed, self.number, page, "links")
        known = [n * reach >> 32 for n in drawn]
        return Targets(menu, [*children, *known[: cards - len(children)]], known[cards : cards + rest])

    def _subject(self, draws: Draws, page: int) -> Subject:
        words = self._words()
        return Subject(
            path=self.path_of(page),
            title=self._title(page),
            site_name=make_name(Draws(self.seed, self.number, "name"), 3).capitalize(),
            description=words.text(draws, 2),
            section=draws.pick(SECTIONS),
            author=words.label(draws, 2),
            price=f"{draws.between(3, 900)}.{draws.between(10, 99)}",
            currency=CURRENCIES.get(self.language, "USD"),
            image=f"https://img.{make_name(draws)}.example/{make_name(draws, 4)}-1200x675.jpg",
            published_at=f"2025-{draws.between(1, 12):02}-{draws.between(1, 28):02}T{draws.below(24):02}:00:00+00:00",
        )

    def _render(self, page: int) -> bytes:
        makeup, draws, words = self._plan(page), Draws(self.seed, self.number, page), self._words()
        subject, targets = self._subject(draws, page), self._targets(page, makeup.links)
        hrefs = Hrefs(
            menu=[self.path_of(target) for target in targets.menu],
            cards=[self.path_of(target) for target in targets.cards],
            lists=[self.path_of(target) for target in targets.lists],
            outside=round(makeup.links * OUTSIDE_SHARE),
            nowhere=round(makeup.links * NOWHERE_SHARE),
        )
        dialect = make_dialect(self.seed, self.number)
        head = render_head(draws, subject, makeup, self.language)
        if makeup.has_json_ld:
            head += render_json_ld(draws, subject, makeup.kind, words)
        body = Body(draws, dialect, words, makeup, subject).render(hrefs, scripts=external_scripts(draws, makeup))
        start = (
            f'<!doctype html>\n<html lang="{self.language}">\n<head>\n<meta charset="utf-8">\n'
            f"<title>{subject.title} - {subject.site_name}</title>\n" + "\n".join(head)
        )
        middle = f'</head>\n<body class="{dialect.name(draws, "wrap")}">\n{body}\n'
        end = "\n</body>\n</html>\n"
        styles, scripts = self._fill(draws, makeup, makeup.size_bytes - len((start + middle + end).encode()))
        return f"{start}{styles}{middle}{scripts}{end}".encode()

    def _fill(self, draws: Draws, makeup: PageProfile, left: int) -> tuple[str, str]:
        """Styles and scripts for what is left of the page's size."""
        share = SCRIPT_SHARE if makeup.styles else 1.0
        scripts = split_code(draws, script_pieces(self.seed), makeup.scripts, round(left * share))
        if draws.chance(0.17):
            scripts[0] = make_state(draws, len(scripts[-1]) // 2)
        styles = split_code(draws, style_pieces(self.seed), makeup.styles, round(left * (1 - share)))
        return (
            "\n".join(f"<style id='{make_name(draws)}-inline-css'>{code}</style>" for code in styles),
            "\n".join(open_script(draws, code) + f"{code}</script>" for code in scripts),
        )


def open_script(draws: Draws, code: str) -> str:
    if code.startswith("{"):
        return '<script id="__STATE__" type="application/json">'
    return f'<script type="text/javascript" id="{make_name(draws)}-js">' if draws.chance(0.5) else "<script>"


def external_scripts(draws: Draws, makeup: PageProfile) -> str:
    tags = [
        f'<script async src="https://cdn.{make_name(draws)}.example/js/{make_name(draws)}.min.js?ver={draws.below(99)}"></script>'
        for _ in range(round(makeup.scripts * 0.85))
    ]
    return "\n".join(tags)


def split_code(draws: Draws, pieces: tuple[str, ...], blocks: int, size: int) -> list[str]:
    """Most blocks are small; one or two hold the rest."""
    codes: list[str] = []
    for left in range(blocks, 0, -1):
        wanted = size // 2 if left == 2 else size if left == 1 else min(size // 3, 120 + int(2500 * draws.share() ** 4))
        code = take(draws, pieces, wanted)
        size -= len(code)
        codes.append(code)
    return codes


def take(draws: Draws, pieces: tuple[str, ...], size: int) -> str:
    """Neighbouring pieces, about `size` bytes of them."""
    average = _average(pieces)
    return "".join(draws.some(pieces, round(size / average)))[: size + int(average)] if size > 40 else ""


@cache
def _average(pieces: tuple[str, ...]) -> float:
    return sum(map(len, pieces)) / len(pieces)


@cache
def make_path(seed: int, site: int, page: int) -> str:
    """`/` or a section, a slug and the number, as addresses of real pages look."""
    if page == 0:
        return "/"
    draws = Draws(seed, site, page, "path")
    slug = "-".join(make_name(draws, 2) for _ in range(draws.between(2, 6)))
    return f"/{draws.pick(SECTIONS)}/{slug}-{page}"


def lifelike_sites(count: int = 20, pages: int = 200, seed: int = 1) -> list[Lifelike]:
    return [Lifelike(seed, number, pages) for number in range(1, count + 1)]
