"""A blog in ten languages: stories in three of them each, tags, an archive, pages that know their other versions.

A few pages leave out their `lang` attribute or lie in it. Russian, Japanese and accented addresses are written both raw
and percent-encoded.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote, unquote

from forager_playground.answer import Answer, missing
from forager_playground.language import LANGUAGES, load_language
from forager_playground.page import Frame, Page, PageBuilder
from forager_playground.seeded import number, pick, pick_distinct
from forager_playground.site import ALLOW_ALL, SitePage, list_page, show
from forager_playground.sites.numbered import read_number
from forager_playground.tree import IndexTree, Node

FRAME = Frame("Ten Windows", "#2b5f7a", (("/archive/1-1", "Archive"),), "One street, seen in ten languages.")
STORIES_PER_LIST = 10
FAN_OUT = 20
TOPICS = 3
LONGEST_SCAN = 60
"""How many stories a tag page looks back, so that it costs the same in a blog of any size."""


@dataclass(frozen=True, slots=True)
class Blog:
    seed: int
    size: int = 20
    """Stories; each is written in three languages."""
    name: str = "blog"
    robots: str | None = ALLOW_ALL
    traps: tuple[str, ...] = ()

    def pages(self) -> Iterator[SitePage]:
        for path in self._paths():
            page = self.write(path)
            assert page is not None
            yield list_page(quote(path), page)

    def answer(self, path: str, query: str) -> Answer:
        page = None if query else self.write(unquote(path))
        return missing() if page is None else show(page)

    def write(self, path: str) -> Page | None:
        """From the decoded path."""
        match path[1:].split("/"):
            case [""]:
                return self._write_home()
            case ["archive", place]:
                return self._write_archive(place)
            case [code, ""] if code in LANGUAGES:
                return self._write_language(code)
            case [code, "tags", topic] if code in LANGUAGES and topic in load_language(code).topics[:TOPICS]:
                return self._write_tag(code, load_language(code).topics.index(topic))
            case [code, slug]:
                story = read_number(slug.partition("-")[0], self.size + 1)
                is_post = story is not None and code in self.languages_of(story) and path == self.path_of(story, code)
                return self._write_post(story, code) if is_post and story else None
        return None

    def languages_of(self, story: int) -> list[str]:
        """The languages take turns at being first, so that even a small blog has all ten."""
        first = LANGUAGES[story % len(LANGUAGES)]
        others = [code for code in LANGUAGES if code != first]
        return [first, *pick_distinct(others, 2, self.seed, "languages", story)]

    def path_of(self, story: int, code: str) -> str:
        words = "".join(char if char.isalnum() else " " for char in self._title(story, code).lower()).split()
        return f"/{code}/{story}-{'-'.join(words)}"

    @property
    def _tree(self) -> IndexTree:
        return IndexTree(-(-self.size // STORIES_PER_LIST), FAN_OUT)

    def _paths(self) -> Iterator[str]:
        yield "/"
        for node in [self._tree.root, *self._tree.inner_nodes()]:
            yield _archive_path(node)
        for place in range(self._tree.leaves):
            yield _archive_path(Node(0, place))
        for code in LANGUAGES:
            yield f"/{code}/"
            yield from (f"/{code}/tags/{topic}" for topic in load_language(code).topics[:TOPICS])
        for story in range(1, self.size + 1):
            yield from (self.path_of(story, code) for code in self.languages_of(story))

    def _title(self, story: int, code: str) -> str:
        return pick(load_language(code).titles, self.seed, "title", story, code)

    def _declares(self, story: int, code: str) -> str | None:
        """What the page's `lang` says: most tell the truth, some are silent, some lie."""
        if code == self.languages_of(story)[0]:
            if story % 7 == 3:
                return None
            if story % 11 == 5:
                return "en" if code != "en" else "de"
        return code

    def _write_home(self) -> Page:
        sheet = PageBuilder(FRAME, "The same street, told ten times")
        sheet.description = "A blog in ten languages, made up for crawlers to practise on."
        sheet.add_links((f"/{code}/", load_language(code).name) for code in LANGUAGES)
        sheet.add(f"<p>{sheet.link(_archive_path(self._tree.root), 'All stories')}</p>")
        return sheet.finish()

    def _write_archive(self, place: str) -> Page | None:
        level, _, count = place.partition("-")
        if level not in map(str, range(self._tree.root.level + 1)):
            return None
        node = Node(int(level), (read_number(count, 10**9) or 0) - 1)
        if not self._tree.has(node) or place != f"{node.level}-{node.number + 1}":
            return None
        sheet = PageBuilder(FRAME, f"Archive {node.level}.{node.number + 1}")
        sheet.crumb("/", "Home")
        if node.level:
            sheet.add_links(
                (_archive_path(child), f"Shelf {child.level}.{child.number + 1}") for child in self._tree.children(node)
            )
        else:
            sheet.add_links(self._list_posts(node.number))
        return sheet.finish()

    def _list_posts(self, place: int) -> Iterator[tuple[str, str]]:
        first = place * STORIES_PER_LIST + 1
        for story in range(first, min(first + STORIES_PER_LIST, self.size + 1)):
            for code in self.languages_of(story):
                yield self.path_of(story, code), self._title(story, code)

    def _write_language(self, code: str) -> Page:
        words = load_language(code)
        sheet = PageBuilder(FRAME, f"{words.name}: {words.home}", code)
        sheet.crumb("/", words.home)
        sheet.add_text(*words.paragraphs(2, self.seed, "language"))
        sheet.add_links((quote(f"/{code}/tags/{topic}"), f"{words.tags}: {topic}") for topic in words.topics[:TOPICS])
        return sheet.finish()

    def _write_tag(self, code: str, topic: int) -> Page:
        words = load_language(code)
        sheet = PageBuilder(FRAME, f"{words.tags}: {words.topics[topic]} ({code})", code)
        sheet.crumb(f"/{code}/", words.name)
        sheet.add_text(words.paragraph(3, self.seed, "tag", topic))
        candidates = range(self.size, max(0, self.size - LONGEST_SCAN), -1)
        stories = [s for s in candidates if s % TOPICS == topic and code in self.languages_of(s)]
        sheet.add_links((self.path_of(story, code), self._title(story, code)) for story in stories)
        return sheet.finish()

    def _write_post(self, story: int, code: str) -> Page:
        words = load_language(code)
        sheet = PageBuilder(FRAME, f"{self._title(story, code)} ({story})", code, self._declares(story, code))
        sheet.description = words.paragraph(1, self.seed, "summary", story)
        sheet.point("canonical", quote(self.path_of(story, code)))
        for other in self.languages_of(story):
            sheet.point("alternate", quote(self.path_of(story, other)), other)
        sheet.crumb(f"/{code}/", words.name)
        sheet.add_text(*words.paragraphs(4 + number(3, self.seed, "size", story), self.seed, "post", story))
        sheet.add_links([(f"/{code}/tags/{words.topics[story % TOPICS]}", words.topics[story % TOPICS])])
        for neighbour, text in ((story - 1, words.older), (story + 1, words.newer)):
            if 1 <= neighbour <= self.size:
                sheet.add(f"<p>{sheet.link(self.path_of(neighbour, self.languages_of(neighbour)[0]), text)}</p>")
        return sheet.finish()


def _archive_path(node: Node) -> str:
    return f"/archive/{node.level}-{node.number + 1}"
