"""The single pages of the documentation: some ask not to be indexed or followed; downloads; links to elsewhere."""

import io
import zipfile
from collections.abc import Iterator, Mapping

from forager_playground.answer import Answer
from forager_playground.language import english
from forager_playground.page import Frame, Page, PageBuilder
from forager_playground.site import Fate, SitePage, list_page

FRAME = Frame(
    "Handbook", "#20507a", (("/release-notes.html", "Release notes"), ("/search.html", "Search")), "Version 3"
)
PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n%%EOF\n"
HEADINGS = {
    "/release-notes.html": "Release notes",
    "/search.html": "Search",
    "/search-tips.html": "Search tips",
    "/partners.html": "Partners",
    "/partners/internal.html": "For partners only",
    "/mirrors.html": "Mirrors",
    "/mirrors/list.html": "List of mirrors",
    "/drafts/next.html": "A draft",
}
NOT_FOLLOWED = {"/partners/internal.html", "/mirrors/list.html", "/drafts/next.html"}
"""Only `nofollow` leads there: of a page's meta tag, of a page's header, of a single link."""
META_ROBOTS = {"/search.html": "noindex", "/partners.html": "nofollow"}
X_ROBOTS_TAG = {"/mirrors.html": "nofollow", "/release-notes.html": "noindex"}
LINKS = {
    "/search.html": "search-tips.html",
    "/partners.html": "partners/internal.html",
    "/mirrors.html": "./mirrors/list.html",
}
DOWNLOADS = {"/downloads/handbook.pdf": "application/pdf", "/downloads/examples.zip": "application/zip"}
OUTSIDE = ("https://www.example.org/handbook", "mailto:docs@site.example", "tel:+10000000000", "javascript:void(0)")


def add_root_links(sheet: PageBuilder, redirects: Mapping[str, object]) -> None:
    """The root page leads to all of them."""
    linked_elsewhere = {"/search-tips.html", *NOT_FOLLOWED}
    sheet.add_links((path, heading) for path, heading in HEADINGS.items() if path not in linked_elsewhere)
    sheet.add_links((path, f"Moved: {path}") for path in redirects if path != "/stable")
    sheet.add_links((path, path.rpartition("/")[2]) for path in DOWNLOADS)
    sheet.add_links((href, "Outside") for href in OUTSIDE)
    sheet.add(f"<p>{sheet.link('/drafts/next.html', 'A draft', rel='nofollow noopener')}</p>")


def list_notes(seed: int, redirects: Mapping[str, tuple[str, int]]) -> Iterator[SitePage]:
    for path in HEADINGS:
        yield list_page(path, _write(seed, path), Fate.NOT_FOLLOWED if path in NOT_FOLLOWED else Fate.FETCH)
    for path, (to, status) in redirects.items():
        yield SitePage(path, status, redirect_to=to)
    for path in DOWNLOADS:
        yield SitePage(path, fate=Fate.BINARY)


def serve_note(seed: int, path: str) -> Answer | None:
    if path in DOWNLOADS:
        return Answer(body=PDF if path.endswith(".pdf") else _zip_examples(seed), content_type=DOWNLOADS[path])
    if path not in HEADINGS:
        return None
    headers = (("X-Robots-Tag", X_ROBOTS_TAG[path]),) if path in X_ROBOTS_TAG else ()
    return Answer(body=_write(seed, path).html.encode(), headers=headers)


def _write(seed: int, path: str) -> Page:
    sheet = PageBuilder(FRAME, HEADINGS[path])
    sheet.robots = META_ROBOTS.get(path, "")
    sheet.is_followed = "nofollow" not in X_ROBOTS_TAG.get(path, "")
    sheet.add_text(*english().paragraphs(2, seed, path))
    if path in LINKS:
        sheet.add_links([(LINKS[path], "Read on")])
    return sheet.finish()


def _zip_examples(seed: int) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(zipfile.ZipInfo("example.txt", (2024, 1, 1, 0, 0, 0)), english().paragraph(3, seed, "zip"))
    return content.getvalue()
