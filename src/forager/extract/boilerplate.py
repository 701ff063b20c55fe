"""What a page shows around its content, and where the content is: told by elements, roles and names, never by words.

Navigation, banners, adverts, share buttons and comments stand on every page of a site, or change while the page does
not; keywords and fingerprint are to be about the rest. A name is judged once: a site writes the same on every page.
"""

import re
from enum import Enum, auto
from functools import lru_cache
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from forager.extract.tree import Tree

AROUND = ("nav", "aside", "footer", "header", "form", "dialog")
LOOKED_AT = (*AROUND, "div", "section", "ul")
"""Elements that are boilerplate where their names say so, or that are hidden."""
FRAMED = ("h1", "main")
"""What no banner holds: a heading of the page and its main element."""
HIDING_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
MOST_NAMED = 3000
"""Of each element; a name that was never met before takes some 20 µs."""
MOST_CUTS = 300
"""That cost a look at their links, and they may lie in each other."""
LONG_PROSE = 400
MOST_REGIONS = 30
FARTHEST_ARTICLE = 12
LONGEST_NAME = 200
LONGEST_FORM = 600
"""Characters; a longer one is the page itself, as ASP.NET wraps it."""

ROLES = frozenset(
    [
        "navigation", "banner", "contentinfo", "complementary", "search", "dialog", "alertdialog", "menu", "menubar",
        "tablist", "toolbar",
    ]
)  # fmt: skip
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# As whole words of a name: `post-share` and `shareBar`, but not `shareholders`.
SURE_WORDS = (
    # consent
    r"cookies?|cookie(?:bar|banner|consent|notice|law)|consent|gdpr|ccpa|dsgvo|onetrust|optanon|cybot|didomi|borlabs"
    r"|usercentrics|iubenda|cmp\w{0,10}|qc-cmp2?|privacy-(?:banner|notice|bar)"
    # navigation
    r"|nav|navi|nav(?:bar|box|igation|list|links)|(?:main|top|sub|side|foot|site|mega|page|user|bottom|left|right)-?nav"
    r"|(?:main|top|sub|side|foot|site|mega|page|user|bottom|left|right)-?menu|menubar|(?:bread)?crumbs?|breadcrumb\w*"
    r"|topbar|toolbar|pagination|paginat(?:or|ion)\w*|pager|pagenav\w*|wp-pagenavi|skip-?(?:links?|nav|to)"
    r"|lang(?:uage)?s?-?(?:switch\w*|select\w*|menu|list|picker)|site-?header|masthead|main-?header|global-?header"
    # beside the text
    r"|side-?bars?|sidenav|sphinxsidebar|widget-?area|footer|colophon|back-?to-?top|share|sharing"
    r"|share(?:bar|tools|links|buttons?|daddy)|social-?(?:links|media|icons|bar|share)|addtoany\w*|addthis\w*|a2a"
    r"|related|relatedposts|recommend(?:ed|ations?|s)?|recirc\w*|you-may-(?:also-)?like|also-like|outbrain\w*"
    r"|taboola\w*|prev-?next|next-?prev|post-?navigation|newsletters?|mailchimp|mc4wp\w*"
    # adverts
    r"|ads?|adv|advert\w{0,12}|adsbygoogle|ad-?(?:slot|box|unit|wrap\w*|container|banner|block|zone|space|label)s?"
    r"|sponsor(?:ed|s)?|banner-?ads?|dfp|gpt|werbung|anzeigen?|reklam\w{0,4}|publicit[ey]|publicidad\w{0,3}|pubblicita"
    # what readers wrote, what is not for readers
    r"|comments?|comment-?(?:list|section|area|form|respond|wrap\w*)s?|commentlist|disqus\w*|livefyre|giscus"
    r"|app-?banner|smart-?banner|no-?print|noprint|sr-only|visually-hidden|screen-reader-text|mw-editsection"
    r"|mw-jump-link|catlinks|printfooter|tagcloud"
)
# These may name content too, a restaurant's menu or a ranking: then it is long and not made of links.
LIKELY_WORDS = (
    r"menus?|toc|table-of-contents|on-this-page|head-?bar|rail|widgets?|foot|site-?info|imprint|copyright|socials?|sns"
    r"|read-(?:more|next)|more-(?:stories|news|articles|posts|from)|most-?(?:read|popular|viewed)|popular|trending"
    r"|ranking|up-?next|subscrib\w{1,5}|subscription|sign-?up|opt-?in|cta|call-to-action|donat(?:e|ion)|promo(?:s|ted)?"
    r"|promotions?|respond|pop-?ups?|modal|overlay|lightbox|off-?canvas|drawer|toast|paywall|snack-?bar"
    r"|notification-?bar|search|search-?(?:form|box|bar)|log-?in|tags?-?(?:list|links|cloud)|author-?(?:box|bio|card)"
    r"|about-?author|vector-\w+|hatnote|font-?size\w*"
)
# Not where it tells a state (`has-sidebar`), the subject of a post (`tag-cookies`) or a kit's every element.
NOT_AFTER = ("has-", "no-", "with-", "without-", "is-", "tag-", "category-", "cat-", "topic-", "post-", "elementor-")
AS_A_WORD = f"(?:^|[ -]){''.join(f'(?<!{state})' for state in NOT_AFTER)}(?:{{}})(?=$|[ -])"
SURE = re.compile(
    AS_A_WORD.format(SURE_WORDS)
    + r"|(?:^| )post-(?:share|nav|tags|related|comments?|footer|pagination|navigation)[\w-]*(?=$| )"
)
LIKELY = re.compile(AS_A_WORD.format(LIKELY_WORDS) + r"|(?:^| )(?:header|top|bottom|post-author[\w-]*)(?=$| )")
CONTENT = re.compile(
    r"(?:^| )(?:(?:entry|post|article|page|main|story|news|blog|detail|single|body|primary|td-post)"
    r"-?(?:content|body|text|entry|inner)"
    r"|content|content-?(?:main|body|area|inner|text)|mw-content-text|mw-parser-output|markdown-body|rich-?text|prose"
    r"|rst-content|hentry|art-?text|read-content|rte|text-?body)(?=$| )"
)


class Verdict(Enum):
    """What the names of an element say."""

    AROUND = auto()
    LIKELY_AROUND = auto()
    CONTENT = auto()
    NOTHING = auto()


class Marks(NamedTuple):
    """What stood out in a page. What is hidden or boilerplate is no part of the tree any more."""

    frames: set[int]
    """Elements, by `mem_id`, that hold a headline or the main element."""
    content: list[LexborNode]
    """Elements whose names say that they hold the content."""
    around: list[LexborNode]
    """What was cut, for a page that has nothing else."""


def cut_boilerplate(tree: Tree) -> Marks:
    """By lists of elements: the first selector that a tree is asked takes 30 µs to set up."""
    frames = _frames(tree)
    spared = [name for name in FRAMED if len(tree.tags(name)) <= MOST_REGIONS]
    content: list[LexborNode] = []
    around: list[LexborNode] = []
    for tag in LOOKED_AT:
        for node in tree.tags(tag)[:MOST_NAMED]:
            attributes = node.attributes
            verdict = judge_names(attributes.get("class"), attributes.get("id"), attributes.get("role"))
            if verdict is Verdict.CONTENT:
                content.append(node)
            if node.mem_id in frames:
                continue
            if _is_hidden(attributes):
                tree.cut([node], spares=spared)
            elif (
                verdict is Verdict.AROUND
                or (tag in AROUND and _is_around(node, tag))
                or (verdict is Verdict.LIKELY_AROUND and len(around) < MOST_CUTS and not _is_prose(node))
            ):
                around.append(node)
    tree.cut(around, spares=spared)
    return Marks(frames, content, around)


def _is_prose(node: LexborNode) -> bool:
    """Long, and not made of links."""
    text = node.text_lexbor()
    return len(text) >= LONG_PROSE and sum(len(link.text_lexbor()) for link in node.css("a")) * 2 < len(text)


def _frames(tree: Tree) -> set[int]:
    """Whatever has one of `FRAMED` inside is no boilerplate."""
    frames: set[int] = set()
    for node in [node for name in FRAMED for node in tree.tags(name)[:MOST_REGIONS]]:
        parent = node.parent
        while parent is not None and parent.mem_id not in frames:
            frames.add(parent.mem_id)
            parent = parent.parent
    return frames


def _is_hidden(attributes: dict[str, str | None]) -> bool:
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    style = attributes.get("style")
    return style is not None and is_hiding(style)


def is_hiding(style: str) -> bool:
    return HIDING_STYLE.search(style[:LONGEST_NAME]) is not None


def _is_around(node: LexborNode, tag: str) -> bool:
    if tag == "form":
        return len(node.text_lexbor()) <= LONGEST_FORM
    return tag != "header" or not _is_of_article(node)


def _is_of_article(node: LexborNode) -> bool:
    """Then it holds the headline."""
    for _ in range(FARTHEST_ARTICLE):
        parent = node.parent
        if parent is None:
            return False
        if parent.tag in {"article", "main"}:
            return True
        node = parent
    return False


@lru_cache(maxsize=16_384)
def judge_names(names: str | None, identity: str | None, role: str | None) -> Verdict:
    """Of an element with this class, id and role."""
    if role and role.lower() in ROLES:
        return Verdict.AROUND
    spelled = CAMEL.sub("-", f"{(names or '')[:LONGEST_NAME]} {(identity or '')[:LONGEST_NAME]}")
    spelled = " ".join(spelled.lower().replace("_", "-").split())
    if SURE.search(spelled):
        return Verdict.AROUND
    if LIKELY.search(spelled):
        return Verdict.LIKELY_AROUND
    return Verdict.CONTENT if role == "main" or CONTENT.search(spelled) else Verdict.NOTHING


def find_dominant(nodes: list[LexborNode]) -> LexborNode | None:
    """The one that holds the content, where one does: an article beside teasers, the innermost of several frames."""
    if len(nodes) < 2:
        return nodes[0] if nodes else None
    chosen = choose_dominant([node.text_lexbor() for node in nodes[:MOST_REGIONS]])
    return None if chosen is None else nodes[chosen]


def choose_dominant(texts: list[str]) -> int | None:
    """Which of several texts is the content."""
    best, *others = sorted(range(len(texts)), key=lambda at: len(texts[at]), reverse=True)
    for other in others:
        text, rival = texts[best], texts[other]
        if rival in text:
            if len(rival) * 5 >= len(text) * 3:
                best = other
        elif len(rival) * 3 >= len(text):
            return None
    return best


JUDGES = judge_names, is_hiding, choose_dominant, (Verdict.AROUND, Verdict.LIKELY_AROUND, Verdict.CONTENT)
"""What C asks about the elements it walks past (`_native.content`)."""
