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
PDF_TITLE = "The handbook on paper"
PDF_TEXT = "This is the handbook as a printed book, with every chapter of it in the order of the pages."
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
    for path, content_type in DOWNLOADS.items():
        if content_type == "application/pdf":
            yield SitePage(path, title=PDF_TITLE, language="en")
        else:
            yield SitePage(path, fate=Fate.BINARY)


def serve_note(seed: int, path: str) -> Answer | None:
    if path in DOWNLOADS:
        body = _print_handbook() if path.endswith(".pdf") else _zip_examples(seed)
        return Answer(body=body, content_type=DOWNLOADS[path])
    if path not in HEADINGS:
        return None
    headers = (("X-Robots-Tag", X_ROBOTS_TAG[path]),) if path in X_ROBOTS_TAG else ()
    return Answer(body=_write(seed, path).html.encode(), headers=headers)


def _print_handbook() -> bytes:
    """Returns a PDF of one page."""
    drawn = f"BT /F1 11 Tf 40 700 Td ({PDF_TEXT}) Tj ET"
    objects = (
        "<</Type/Catalog/Pages 2 0 R/Lang(en)>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        f"<</Length {len(drawn)}>>stream\n{drawn}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        f"<</Title({PDF_TITLE})>>",
    )
    out, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(f"{len(out):010} 00000 n \n")
        out += f"{number} 0 obj\n{content}\nendobj\n"
    table = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{''.join(places)}"
    return f"{out}{table}trailer<</Root 1 0 R/Info 6 0 R/Size 7>>\nstartxref\n{len(out)}\n%%EOF\n".encode()


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
