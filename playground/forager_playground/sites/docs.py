"""Documentation: deep sections with relative links and anchors, canonical print views, redirects of three kinds.

`docs_notes` has its single pages: those that ask not to be indexed or followed, and downloads.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from forager_playground.answer import Answer, missing, redirect
from forager_playground.language import english
from forager_playground.page import Page, PageBuilder
from forager_playground.site import ALLOW_ALL, SitePage, list_page, show
from forager_playground.sites import docs_notes
from forager_playground.sites.docs_notes import FRAME
from forager_playground.sites.numbered import read_number
from forager_playground.tree import IndexTree, Node, compute_fan_out

TOPICS_PER_CHAPTER = 4
HEIGHT = 4
SMALLEST_FAN_OUT = 3
WORDS = ("guide", "install", "settings", "storage", "network", "recipes", "reference", "upgrade")


@dataclass(frozen=True, slots=True)
class Docs:
    seed: int
    size: int = 36
    """Topics."""
    name: str = "docs"
    robots: str | None = ALLOW_ALL
    traps: tuple[str, ...] = ()

    def pages(self) -> Iterator[SitePage]:
        yield list_page("/", self._write_section(self._tree.root))
        yield from self._list_sections()
        for topic in range(1, self.size + 1):
            yield list_page(self.topic_path(topic), self._write_topic(topic))
            if self._has_print_view(topic):
                yield list_page(f"{self.topic_path(topic)}?view=print", self._write_topic(topic, is_print=True))
        yield from docs_notes.list_notes(self.seed, self._redirects())

    def answer(self, path: str, query: str) -> Answer:
        if (to := self._redirects().get(path)) and not query:
            return redirect(*to)
        if note := docs_notes.serve_note(self.seed, path):
            return note
        page = self.write(path, query)
        if page is None and not query and self._find_section(path + "/") is not None:
            return redirect(path + "/")
        return missing() if page is None else show(page)

    def write(self, path: str, query: str) -> Page | None:
        folder, _, file = path.rpartition("/")
        if not file:
            node = self._find_section(path)
            return self._write_section(node) if node is not None and not query else None
        topic = self._find_topic(folder + "/", file)
        if topic is None or query not in ({"", "view=print"} if self._has_print_view(topic) else {""}):
            return None
        return self._write_topic(topic, is_print=bool(query))

    # Places

    @property
    def _tree(self) -> IndexTree:
        chapters = -(-self.size // TOPICS_PER_CHAPTER)
        return IndexTree(chapters, compute_fan_out(chapters, HEIGHT, SMALLEST_FAN_OUT))

    def section_path(self, node: Node) -> str:
        if node.level >= self._tree.root.level:
            return "/"
        return f"{self.section_path(self._tree.parent(node))}{_segment(node)}/"

    def topic_path(self, topic: int) -> str:
        chapter, place = divmod(topic - 1, TOPICS_PER_CHAPTER)
        return f"{self.section_path(Node(0, chapter))}topic-{place + 1}.html"

    def _find_section(self, path: str) -> Node | None:
        *_, last, end = path.split("/")
        if not last or end:
            return self._tree.root if path == "/" else None
        level = self._tree.root.level - (path.count("/") - 1)
        node = Node(level, (read_number(last.rpartition("-")[2], 10**9) or 0) - 1)
        return node if self._tree.has(node) and self.section_path(node) == path else None

    def _find_topic(self, folder: str, file: str) -> int | None:
        node = self._find_section(folder)
        place = read_number(file.removeprefix("topic-").removesuffix(".html"), TOPICS_PER_CHAPTER + 1)
        if node is None or node.level or place is None or file != f"topic-{place}.html":
            return None
        topic = node.number * TOPICS_PER_CHAPTER + place
        return topic if topic <= self.size else None

    def _topics(self, chapter: int) -> range:
        first = chapter * TOPICS_PER_CHAPTER + 1
        return range(first, min(first + TOPICS_PER_CHAPTER, self.size + 1))

    def _has_print_view(self, topic: int) -> bool:
        return topic % TOPICS_PER_CHAPTER == 1

    def _redirects(self) -> dict[str, tuple[str, int]]:
        """Moved pages: two that moved for good, and one in two steps."""
        return {
            "/old/start.html": (self.topic_path(1), 301),
            "/old/end.html": (self.topic_path(self.size), 308),
            "/latest": ("/stable", 302),
            "/stable": ("/release-notes.html", 301),
        }

    # Pages

    def _list_sections(self) -> Iterator[SitePage]:
        chapters = [Node(0, number) for number in range(self._tree.leaves)]
        for node in [*self._tree.inner_nodes(), *chapters]:
            path = self.section_path(node)
            yield list_page(path, self._write_section(node))
            if _is_linked_without_slash(node):
                yield SitePage(path.removesuffix("/"), 301, redirect_to=path)

    def _write_section(self, node: Node) -> Page:
        is_root = node == self._tree.root
        sheet = PageBuilder(FRAME, "Documentation" if is_root else f"Section {_segment(node)} ({node.level})")
        sheet.description = english().paragraph(1, self.seed, "section", *node)
        if is_root:
            docs_notes.add_root_links(sheet, self._redirects())
        else:
            sheet.crumb("../", "Up")
        if node.level:
            children = self._tree.children(node)
            sheet.add_links((_href(child), _segment(child)) for child in children)
        else:
            places = range(1, len(self._topics(node.number)) + 1)
            sheet.add_links((f"./topic-{place}.html", f"Topic {place}") for place in places)
        return sheet.finish()

    def _write_topic(self, topic: int, *, is_print: bool = False) -> Page:
        chapter, place = divmod(topic - 1, TOPICS_PER_CHAPTER)
        sheet = PageBuilder(FRAME, f"Topic {chapter + 1}.{place + 1}{', to print' if is_print else ''}")
        sheet.description = english().paragraph(1, self.seed, "topic", topic)
        sheet.point("canonical", f"topic-{place + 1}.html")
        sheet.crumb("./", "Chapter")
        sheet.crumb("../", "Section")
        sheet.add_links([("#first", "First things"), ("#more", "More")])
        first, *more = english().paragraphs(4, self.seed, "topic", topic)
        sheet.add('<h2 id="first">First things</h2>')
        sheet.add_text(first)
        sheet.add('<pre>forager crawl https://site.example</pre><h2 id="more">More</h2>')
        sheet.add_text(*more)
        if self._has_print_view(topic) and not is_print:
            sheet.add(f"<p>{sheet.link('?view=print', 'Print view')}</p>")
        folder, places = _segment(Node(0, chapter)), range(1, len(self._topics(chapter)) + 1)
        sheet.add_links((f"../{folder}/topic-{other}.html#more", f"Topic {other}") for other in places)
        return sheet.finish()


def _segment(node: Node) -> str:
    return f"{WORDS[(node.number + node.level) % len(WORDS)]}-{node.number + 1}"


def _href(node: Node) -> str:
    return _segment(node) + ("" if _is_linked_without_slash(node) else "/")


def _is_linked_without_slash(node: Node) -> bool:
    return node.number % 3 == 1
