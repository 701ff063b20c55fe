"""Parses one response into a `Reading`. Pure; whatever the bytes are, it ends soon with a clean result.

bytes ── to_utf8 ── parse ──> head, links, images, byline, product, text
                └── feed or sitemap? document          PDF? pdf
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace

from ada_url import join_url

from forager.errors import BadUrlError
from forager.fetch.documents import is_pdf
from forager.fetch.models import Fetched
from forager.parsing.byline import find_byline
from forager.parsing.byte_search import has_url
from forager.parsing.challenge import find_challenge
from forager.parsing.charset import to_utf8
from forager.parsing.clean import collapse, strip_hidden
from forager.parsing.directives import combine
from forager.parsing.document import GZIP, Document, is_listing, kind_of, read_document, read_json, read_list, unpack
from forager.parsing.extractors.run import extract
from forager.parsing.extractors.select import select_extractors
from forager.parsing.head import LONGEST_DESCRIPTION, Head, read_head
from forager.parsing.headline import find_headline
from forager.parsing.images import find_images
from forager.parsing.language import LanguageMemory, detect_language, get_declared, load_detector
from forager.parsing.links import find_head_links, find_links, join_links
from forager.parsing.login import has_password_form
from forager.parsing.markdown import render, render_text
from forager.parsing.memory import disable_memory_trim
from forager.parsing.metadata import find_metadata
from forager.parsing.models import FoundLink, Listing, Reading
from forager.parsing.pdf import Pdf, read_pdf
from forager.parsing.product import read_product
from forager.parsing.products.view import View
from forager.parsing.shell import waits_for_scripts
from forager.parsing.simhash import simhash
from forager.parsing.sites import AUTO
from forager.parsing.structured import read_structured
from forager.parsing.text import Content, fingerprint, first_words, is_cut, take_content
from forager.parsing.tree import parse
from forager.parsing.tree_types import Tree
from forager.plugins import registry
from forager.plugins.page import Page
from forager.plugins.records import extract_records
from forager.products.models import Product
from forager.records.models import FoundRecord
from forager.urls.normalize import normalize

HTML, XHTML, PLAIN = "text/html", "application/xhtml+xml", "text/plain"
TEXTS = frozenset({"", PLAIN})
MAYBE_XML = (b"<?xml", b"<rss", b"<feed", b"<rdf", b"<urlset", b"<sitemapindex")
"""Beginnings of feeds and sitemaps that are served as HTML."""
LOOKS_LIKE_HTML = re.compile(
    rb"\s*<(?:!--|(?:!doctype|html|head|body|title|script|meta|style|div|table|a|p|h1|b|br)[\s/>])", re.IGNORECASE
)
# In XHTML any element may be self-closing; in an HTML parser `<script/>` swallows the rest of the page.
SELF_CLOSED = re.compile(
    rb"<(script|style|title|textarea|iframe|noscript|div|span|a|p|td|ul|ol|li|h[1-6])(\s[^<>]*?)?/>", re.IGNORECASE
)
WHOLE_ADDRESS = re.compile(r"https?://[!-~]{1,500}")
MAGIC = (b"\x89PNG", b"GIF87a", b"GIF89a", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b", b"\x7fELF")
CONTROL_BYTES = bytes(byte for byte in range(32) if byte not in b"\t\n\r\f\x1b")
SNIFF_BYTES = 1024
LONGEST_HEAD = 4096
"""Bytes in which a feed or sitemap shows what it is."""
WORDS_CUT = "words_cut"
"""Flag of a page whose text has more words than become searchable."""
CUT = "it is larger than the size limit, or damaged; the rest is not read"


def preload() -> None:
    """Loads the language model and applies the allocator setting, so that the first page does not wait for them."""
    disable_memory_trim()
    load_detector()


def read(
    fetched: Fetched,
    *,
    keyword_words: int,
    robots_agent: str = "forager",
    memory: LanguageMemory | None = None,
    parser_name: str = AUTO,
    markdown: bool = False,
    items: bool = True,
    extractors: Sequence[str] = (),
    extractor_texts: Sequence[str] = (),
    extractors_folder: str = "",
) -> Reading:
    """Parses a response. Raises DecodeError when the parser fails, and nothing else."""
    if fetched.body.startswith(GZIP) and (unpacked := unpack(fetched.body)) is not None:
        fetched = replace(fetched, body=unpacked[0], is_truncated=fetched.is_truncated or unpacked[1])
    if is_pdf(fetched.body):
        return _read_pdf(fetched, read_pdf(fetched.body), keyword_words, robots_agent, markdown=markdown)
    if is_binary(fetched):
        return _read_plain(fetched, "", ("binary",), 0, robots_agent)
    kind = fetched.content_type.partition(";")[0].strip().lower()
    page, flags = to_utf8(fetched.body, fetched.content_type)
    if fetched.is_truncated:
        flags = (*flags, "truncated")
    if kind not in {HTML, XHTML} or page.startswith(MAYBE_XML) or is_listing(page[:LONGEST_HEAD]):
        root = kind_of(page)
        if root == "html":
            kind = XHTML
        elif document := read_document(page, root) if root else _json_document(page, kind):
            return _read_document(fetched, document, flags, keyword_words, robots_agent, markdown=markdown)
        elif (kind != HTML or is_listing(page[:LONGEST_HEAD])) and not LOOKS_LIKE_HTML.match(page):
            is_text = kind in TEXTS or is_listing(page[:LONGEST_HEAD])
            text = page.decode() if is_text else ""
            return _read_plain(fetched, text, flags, keyword_words, robots_agent, markdown=markdown)
    if kind == XHTML:
        page = SELF_CLOSED.sub(rb"<\1\2></\1>", page)
    reading = _read_tree(
        fetched,
        parse(page),
        flags,
        keyword_words=keyword_words,
        robots_agent=robots_agent,
        memory=memory,
        parser_name=parser_name,
        markdown=markdown,
        extractors=() if extractor_texts else extractors,
    )
    found = _suspicions(fetched, reading)
    reading = replace(reading, flags=(*reading.flags, *found)) if found else reading
    if chosen := select_extractors(extractors, extractors_folder, extractor_texts):
        result = extract(fetched, reading, chosen)
        reading = replace(
            reading,
            records=(*reading.records, *result.records),
            extractors=(*reading.extractors, *result.tried),
            extractor_problems=result.problems,
        )
    if plugin_errors := registry.current().take_errors():
        reading = replace(reading, plugin_errors=plugin_errors)
    return reading if items else replace(reading, structured_data=b"")


def _suspicions(fetched: Fetched, reading: Reading) -> list[str]:
    """Returns flags of pages that may not be what was asked for: one without content until scripts run, a login."""
    found = ["login_form"] if reading.has_password_form else []
    return [*found, "waits_for_scripts"] if waits_for_scripts(fetched, reading) else found


def is_binary(fetched: Fetched) -> bool:
    """Whether no charset decodes the bytes to text: an image or an archive served as a page."""
    head = fetched.body[:SNIFF_BYTES]
    if head.startswith(MAGIC):
        return True
    controls = len(head) - len(head.translate(None, CONTROL_BYTES))
    if controls * 10 <= len(head):
        return False
    is_utf16 = head.startswith((b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")) or "utf-16" in fetched.content_type.lower()
    return not is_utf16


def _read_plain(
    fetched: Fetched,
    text: str,
    flags: tuple[str, ...],
    keyword_words: int,
    robots_agent: str,
    *,
    markdown: bool = False,
) -> Reading:
    robots = combine((), fetched.headers.get("x-robots-tag", ""), robots_agent)
    links = read_list(text)
    words = first_words(text, keyword_words)
    return Reading(
        title=None,
        description=None,
        canonical=None,
        language=detect_language(get_declared(fetched.headers.get("content-language")), text),
        headings="",
        text=words,
        content_hash=hashlib.sha256(fetched.body).digest()[:16],
        links=links,
        base_url=fetched.url,
        is_noindex=robots.is_noindex,
        is_nofollow=robots.is_nofollow,
        flags=_with_cut(flags, words, text),
        simhash=simhash(text, fetched.url),
        markdown=render_text(text) if markdown else "",
        listing=Listing("text", None, CUT if fetched.is_truncated else None, len(links)) if links else None,
    )


def _with_cut(flags: tuple[str, ...], words: str, text: str) -> tuple[str, ...]:
    return (*flags, WORDS_CUT) if is_cut(words, text) else flags


def _json_document(page: bytes, kind: str) -> Document | None:
    return read_json(page.decode()) if kind.endswith("json") or b"jsonfeed.org" in page[:LONGEST_HEAD] else None


def _read_document(
    fetched: Fetched,
    document: Document,
    flags: tuple[str, ...],
    keyword_words: int,
    robots_agent: str,
    *,
    markdown: bool,
) -> Reading:
    robots = combine((), fetched.headers.get("x-robots-tag", ""), robots_agent)
    declared = get_declared(document.language, fetched.headers.get("content-language"))
    words = first_words(document.text, keyword_words)
    flags = (*flags, "broken_xml") if document.is_broken else flags
    return Reading(
        title=document.title,
        description=document.description,
        canonical=None,
        language=detect_language(declared, document.text),
        headings="",
        text=words,
        content_hash=_hash_links(document),
        links=document.links,
        base_url=fetched.url,
        is_noindex=robots.is_noindex,
        is_nofollow=robots.is_nofollow,
        flags=_with_cut(flags, words, document.text),
        author=document.author,
        modified_at=document.newest,
        images=document.images,
        markdown=render_text(document.text) if markdown else "",
        listing=_listing_of(document, fetched),
    )


def _read_pdf(fetched: Fetched, document: Pdf, keyword_words: int, robots_agent: str, *, markdown: bool) -> Reading:
    robots = combine((), fetched.headers.get("x-robots-tag", ""), robots_agent)
    declared = get_declared(document.language, fetched.headers.get("content-language"))
    text = strip_hidden(document.text)
    # Programs write another date and id into a PDF whenever they make it: where all of its text is known, that decides.
    is_whole = bool(text) and not document.is_partial
    content_hash = fingerprint(document.title, text) if is_whole else hashlib.sha256(fetched.body).digest()[:16]
    words = first_words(text, keyword_words)
    flags = (*document.flags, "truncated") if fetched.is_truncated else document.flags
    return Reading(
        title=document.title,
        description=document.subject,
        canonical=None,
        language=detect_language(declared, text),
        headings=document.headings,
        text=words,
        content_hash=content_hash,
        links=document.links,
        base_url=fetched.url,
        is_noindex=robots.is_noindex,
        is_nofollow=robots.is_nofollow,
        flags=_with_cut(flags, words, text),
        simhash=simhash(text, fetched.url),
        author=document.author,
        published_at=document.created_at,
        modified_at=document.modified_at,
        headline=document.title,
        tags=document.keywords,
        structured_data=document.to_json(),
        markdown=render_text(text) if markdown else "",
    )


def _listing_of(document: Document, fetched: Fetched) -> Listing | None:
    listing = document.listing
    if listing is None:
        return None
    return listing._replace(urls=len(document.links), problem=CUT if fetched.is_truncated else listing.problem)


def _hash_links(document: Document) -> bytes:
    """Hashes what a feed or sitemap lists: many write the time of the request into each response."""
    digest = hashlib.sha256(f"{document.title}\n{document.text}".encode())
    for href, anchor, _ in document.links:
        digest.update(f"{href}\n{anchor}\n".encode())
    return digest.digest()[:16]


def _read_tree(
    fetched: Fetched,
    tree: Tree,
    flags: tuple[str, ...],
    *,
    keyword_words: int,
    robots_agent: str,
    memory: LanguageMemory | None,
    parser_name: str,
    markdown: bool,
    extractors: Sequence[str],
) -> Reading:
    head = read_head(tree)
    base_url = _join(fetched.url, head.base) or fetched.url
    head_links = list(find_head_links(head.links, head.refreshes))
    links = join_links(head_links, find_links(tree))
    structured = read_structured(tree, head)
    images = find_images(tree, head, structured, has_styles=has_url(fetched.body))
    byline = find_byline(tree, head, structured, fetched.url)
    metadata = find_metadata(head, structured, fetched.url)
    canonical, declared = _canonical(base_url, head_links), _declared_language(head, fetched)
    product, listed = read_product(
        tree,
        fetched,
        head,
        structured,
        base_url=base_url,
        canonical=canonical,
        language=declared,
        parser_name=parser_name,
    )
    has_form = has_password_form(tree)
    content = take_content(tree)
    text = content.text
    challenge = find_challenge(
        tree,
        url=fetched.url,
        title=head.title,
        text=text,
        links=len(links),
        headers=fetched.headers,
        body=fetched.body,
        has_password_form=has_form,
    )
    words = first_words(text, keyword_words)
    robots = combine(_robots_metas(head, robots_agent), fetched.headers.get("x-robots-tag", ""), robots_agent)
    language = detect_language(declared, text, fetched.url.split("/", 3)[2], memory)
    records: tuple[FoundRecord, ...] = ()
    tried: tuple[str, ...] = ()
    if extractors and registry.current().implementations("extract_records"):
        view = View(tree, fetched, head, structured, base_url, canonical, declared)
        records, tried = extract_records(Page(view, language=language, text=strip_hidden(text)), extractors)
    return Reading(
        title=head.title,
        description=collapse(head.meta("description", "og:description", "twitter:description"), LONGEST_DESCRIPTION),
        canonical=canonical,
        language=language,
        headings=content.headings,
        text=strip_hidden(words),
        content_hash=fingerprint(head.title, text),
        links=links,
        base_url=base_url,
        is_noindex=robots.is_noindex,
        is_nofollow=robots.is_nofollow,
        has_password_form=has_form,
        flags=_with_cut(flags, words, text),
        simhash=simhash(text, fetched.url),
        product=product,
        images=images,
        author=byline.author,
        published_at=byline.published.at if byline.published else None,
        modified_at=byline.modified.at if byline.modified else None,
        listed=listed,
        headline=find_headline(tree, head, metadata.site_name),
        site_name=metadata.site_name,
        section=metadata.section,
        tags=metadata.tags,
        rating=metadata.rating,
        rating_count=metadata.rating_count,
        published_on=byline.published.on if byline.published else None,
        modified_on=byline.modified.on if byline.modified else None,
        challenge=challenge,
        structured_data=structured.to_json(),
        markdown=_markdown(tree, content, base_url) if markdown else "",
        records=records,
        extractors=tried,
    )


def _markdown(tree: Tree, content: Content, base_url: str) -> str:
    """Returns the main text as Markdown; as plain paragraphs where it comes from no element."""
    if content.region is None:
        return render_text(content.text)
    return render(tree, content.region, list(content.cut), base_url)


def read_markdown(fetched: Fetched) -> str:
    """Returns only the main text of a response as Markdown, in a fifth of the time: for stored bodies and files. Raises
    DecodeError when the parser fails."""
    kind = fetched.content_type.partition(";")[0].strip().lower()
    if kind not in {HTML, XHTML} or fetched.body.startswith(GZIP) or is_pdf(fetched.body) or is_binary(fetched):
        return read(fetched, keyword_words=0, markdown=True).markdown
    page, _ = to_utf8(fetched.body, fetched.content_type)
    if page.startswith(MAYBE_XML) or is_listing(page[:LONGEST_HEAD]):
        return read(fetched, keyword_words=0, markdown=True).markdown
    tree = parse(SELF_CLOSED.sub(rb"<\1\2></\1>", page) if kind == XHTML else page)
    return _markdown(tree, take_content(tree), _join(fetched.url, read_head(tree).base) or fetched.url)


def _robots_metas(head: Head, robots_agent: str) -> list[str]:
    return head.metas.get("robots", []) + head.metas.get(robots_agent.lower(), [])


def _declared_language(head: Head, fetched: Fetched) -> str | None:
    header = fetched.headers.get("content-language")
    return get_declared(head.language, head.meta("content-language"), header, head.meta("og:locale"))


def _canonical(base_url: str, links: list[FoundLink]) -> str | None:
    """Returns the canonical URL in normalised form, so that it can be compared with known pages."""
    href = next((link.href for link in links if link.rel == "canonical"), None)
    # Joining an absolute URL with the base would cost as much as normalising it, and change nothing.
    joined = href if href and WHOLE_ADDRESS.fullmatch(href) else _join(base_url, href)
    try:
        return normalize(joined) if joined else None
    except BadUrlError:
        return None


def _join(base: str, href: str | None) -> str | None:
    """Returns the absolute URL; None if it is not a web URL."""
    if not href:
        return None
    try:
        joined = join_url(base, href)
    except ValueError:
        return None
    return joined if joined.startswith(("http://", "https://")) else None


def find_product(fetched: Fetched, parser_name: str = AUTO) -> Product | None:
    """Returns the product this parser finds in a stored response; raises DecodeError like parsing does."""
    return read(fetched, keyword_words=0, parser_name=parser_name).product
