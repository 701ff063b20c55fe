"""What pages are made of: bytes by kind, elements, attributes, links, images. By patterns, so no parser decides."""

import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from statistics import fmean, median

KB = 1024
RAW = re.compile(rb"<(script|style)\b([^>]*)>(.*?)</\1\s*>", re.IGNORECASE | re.DOTALL)
COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
TAG = re.compile(rb"""<([a-zA-Z][a-zA-Z0-9-]*)((?:[^>"']|"[^"]*"|'[^']*')*)>""")
ANY_TAG = re.compile(rb"""</?[a-zA-Z!](?:[^>"']|"[^"]*"|'[^']*')*>""")
ATTRIBUTE = re.compile(rb"""[\w:@.-]+\s*(?:=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+)|(?=[\s/]|$))""")
ENTITY = re.compile(rb"&#?\w+;")
SPACE = re.compile(rb"\s+")


@dataclass(frozen=True, slots=True)
class PageSurvey:
    """Counts of one page; what ends in `_bytes` are bytes."""

    size_bytes: int
    script_bytes: int
    json_ld_bytes: int
    style_bytes: int
    comment_bytes: int
    attribute_bytes: int
    text_bytes: int
    space_bytes: int
    gzip_bytes: int
    elements: int
    attributes: int
    entities: int
    scripts: int
    json_ld: int
    links: int
    images: int
    srcsets: int
    lazy: int
    fields: int
    metas: int
    has_json_ld: int


def survey_page(body: bytes) -> PageSurvey:
    raw = RAW.findall(body)
    scripts = [(attributes, code) for tag, attributes, code in raw if tag.lower() == b"script"]
    json_ld = [code for attributes, code in scripts if b"ld+json" in attributes]
    comments = COMMENT.findall(body)
    rest = COMMENT.sub(b"", RAW.sub(rb"<\1\2></\1>", body))
    tags = [(tag.lower(), attributes) for tag, attributes in TAG.findall(rest)]
    text = ANY_TAG.sub(b"", rest)
    seen = SPACE.sub(b" ", text)
    images = [attributes for tag, attributes in tags if tag == b"img"]

    def count(name: bytes) -> int:
        return sum(tag == name for tag, _ in tags)

    return PageSurvey(
        size_bytes=len(body),
        script_bytes=sum(len(code) for _, code in scripts) - sum(map(len, json_ld)),
        json_ld_bytes=sum(map(len, json_ld)),
        style_bytes=sum(len(code) for tag, _, code in raw if tag.lower() == b"style"),
        comment_bytes=sum(map(len, comments)),
        attribute_bytes=sum(len(attributes) for _, attributes in tags),
        text_bytes=len(seen),
        space_bytes=len(text) - len(seen),
        gzip_bytes=len(zlib.compress(body, 6)),
        elements=len(tags),
        attributes=sum(len(ATTRIBUTE.findall(attributes)) for _, attributes in tags),
        entities=len(ENTITY.findall(rest)),
        scripts=len(scripts),
        json_ld=len(json_ld),
        links=count(b"a"),
        images=len(images),
        srcsets=sum(b"srcset" in attributes for attributes in images),
        lazy=sum(b"lazy" in attributes or b"data-src" in attributes for attributes in images),
        fields=count(b"input"),
        metas=count(b"meta"),
        has_json_ld=bool(json_ld),
    )


@dataclass(frozen=True, slots=True)
class Measure:
    """One number about a set of pages."""

    name: str
    value: float


def survey_pages(bodies: Iterable[bytes]) -> list[Measure]:
    """What a set of pages is made of. Shares are of all bytes, so that large pages count for what they are."""
    pages = [survey_page(body) for body in bodies]
    total: dict[str, int] = {
        field.name: sum(getattr(page, field.name) for page in pages) for field in fields(PageSurvey)
    }
    size, sizes = total["size_bytes"], [page.size_bytes for page in pages]

    def share(name: str) -> float:
        return total[name] / size * 100

    def per_page(name: str) -> float:
        return total[name] / len(pages)

    return [
        Measure("size, median KB", median(sizes) / KB),
        Measure("size, mean KB", fmean(sizes) / KB),
        Measure("size, largest tenth from KB", quantile(sizes, 0.9) / KB),
        Measure("scripts, % of bytes", share("script_bytes")),
        Measure("styles, % of bytes", share("style_bytes")),
        Measure("JSON-LD, % of bytes", share("json_ld_bytes")),
        Measure("attributes, % of bytes", share("attribute_bytes")),
        Measure("text, % of bytes", share("text_bytes")),
        Measure("white space, % of bytes", share("space_bytes")),
        Measure("comments, % of bytes", share("comment_bytes")),
        Measure("elements per KB", total["elements"] / size * KB),
        Measure("attributes per element", total["attributes"] / total["elements"]),
        Measure("entities per KB", total["entities"] / size * KB),
        Measure("gzip, times smaller", size / total["gzip_bytes"]),
        Measure("scripts per page", per_page("scripts")),
        Measure("JSON-LD, % of pages", per_page("has_json_ld") * 100),
        Measure("links per page, median", median(page.links for page in pages)),
        Measure("links per page, mean", per_page("links")),
        Measure("images per page", per_page("images")),
        Measure("of them with srcset, %", total["srcsets"] / max(1, total["images"]) * 100),
        Measure("of them lazy, %", total["lazy"] / max(1, total["images"]) * 100),
        Measure("form fields per page", per_page("fields")),
        Measure("metas per page", per_page("metas")),
    ]


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
