"""Classifies elements by class, id and role: around the content, content, or unknown.

A name is split into words (`post__shareBar` → post, share, bar), which are looked up alone and joined with the
following ones (`side-bar` is `sidebar`).
"""

import re
from enum import IntEnum
from functools import lru_cache

from forager.parsing import compiled

LONGEST_NAMES = 200
MOST_WORDS = 12
LONGEST_IDENTITY = 3
"""Hyphens in an id. An id with more is often derived from a heading: `sharing-with-all-others`."""
TOKEN = re.compile(r"[^ \t\n\r\f\v]+")
WORD = re.compile(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]+|[0-9]+")


class NameClass(IntEnum):
    """Classification of an element by its names. Higher values override lower ones."""

    NOTHING = 0
    FOLDED = 1
    """A tab or an accordion: its hidden content is a click away."""
    CONTENT = 2
    LIKELY_AROUND = 3
    """May also be content, such as a restaurant's menu or a ranking: then it is long and does not consist of links."""
    BESIDE = 4
    """A column beside the content, which may hold part of it."""
    AROUND = 5
    COMMENTS = 6
    CONSENT = 7


def _table(verdict: NameClass, *lines: str) -> dict[str, NameClass]:
    return {word: verdict for line in lines for word in line.split()}


ROLES = {"main": NameClass.CONTENT, "complementary": NameClass.BESIDE} | _table(
    NameClass.AROUND,
    "navigation banner contentinfo search dialog alertdialog menu menubar toolbar",
)
CONTENT_OWNERS = ("entry", "post", "article", "page", "main", "story", "news", "blog", "detail", "single", "primary")
TOKENS = _table(NameClass.LIKELY_AROUND, "header top bottom") | _table(
    NameClass.CONTENT,
    "content contentmain contentbody contentarea contentinner contenttext bodycontent bodytext markdownbody richtext",
    "prose rstcontent hentry arttext readcontent rte textbody mwcontenttext mwparseroutput tdpostcontent",
    " ".join(owner + part for owner in CONTENT_OWNERS for part in ("content", "body", "text", "entry", "inner")),
)
"""Whole tokens: a `page-top` contains the page."""
WORDS = (
    _table(
        NameClass.LIKELY_AROUND,
        "menu menus toc tableofcontents onthispage headbar rail widget widgets foot siteinfo imprint copyright social",
        "socials sns readmore readnext morestories morenews morearticles moreposts morefrom mostread mostpopular",
        "mostviewed popular trending ranking upnext subscribe subscriber subscribers subscription signup optin cta",
        "calltoaction donate donation promo promos promoted promotion promotions respond overlay lightbox drawer toast",
        "paywall snackbar notificationbar search searchform searchbox searchbar login taglist taglinks tagslist",
        "tagslinks authorbox authorbio authorcard aboutauthor postauthor hatnote fontsize byline postmeta entrymeta",
        "articlemeta player bio",
    )
    | _table(NameClass.BESIDE, "sidebar sidebars sphinxsidebar")
    | _table(
        NameClass.AROUND,
        # navigation
        "nav navi navbar navbox navigation navlist navlinks mainnav topnav subnav sidenav footnav sitenav meganav",
        "pagenav usernav bottomnav leftnav rightnav mainmenu topmenu submenu sidemenu footmenu sitemenu megamenu",
        "pagemenu usermenu bottommenu leftmenu rightmenu menubar crumb crumbs topbar toolbar pager skiplink skiplinks",
        "skipnav skipto languageswitch languageswitcher languageselect languageselector languagemenu languagelist",
        "languagepicker langswitch langswitcher langselect langselector langmenu langlist siteheader masthead",
        "mainheader globalheader postnav postnavigation postpagination",
        # beside the text
        "widgetarea footer postfooter colophon backtotop share sharing sharebar sharetools sharelinks sharebutton",
        "sharebuttons sharedaddy postshare sociallinks socialmedia socialicons socialbar socialshare a2a related",
        "relatedposts postrelated recommend recommended recommendation recommendations recommends youmaylike",
        "youmayalso alsolike prevnext nextprev posttags newsletter newsletters mailchimp",
        # adverts
        "ad ads adv adsbygoogle adslot adslots adbox adunit adwrap adwrapper adcontainer adbanner adblock adzone",
        "adspace adlabel sponsor sponsored sponsors bannerad bannerads dfp gpt werbung anzeige anzeigen publicite",
        "publicity publicidad pubblicita",
        # not for readers
        "modal popup popups offcanvas appbanner smartbanner noprint sronly visuallyhidden screenreadertext",
        "mweditsection mwjumplink catlinks printfooter tagcloud",
    )
    | _table(
        NameClass.CONSENT,
        "cookie cookies cookiebar cookiebanner cookieconsent cookienotice cookielaw consent gdpr ccpa dsgvo onetrust",
        "climodal clibar cliprivacy ckyconsent ckymodal cmplz moovegdpr ccwindow ccbanner truste osano termly",
        "optanon cybot didomi borlabs usercentrics iubenda cmpbox cmpbanner qccmp",
        "privacybanner privacynotice privacybar",
    )
    | _table(
        NameClass.FOLDED, "tab tabs tabpane tabpanel panel accordion collapse collapsible expander expandable toggle"
    )
    | _table(NameClass.COMMENTS, "comment comments commentlist commentform postcomment postcomments livefyre giscus")
)
BEGINNINGS = _table(
    NameClass.AROUND,
    "breadcrumb paginat pagenav addtoany addthis recirc outbrain taboola mc4wp advert reklam",
) | _table(NameClass.COMMENTS, "disqus")
"""Beginnings of words: `breadcrumbs`, `advertisement`."""
LENGTHS = sorted({len(word) for word in BEGINNINGS})
PASSED_OVER = frozenset(
    ["has", "no", "with", "without", "is", "tag", "category", "cat", "topic", "post", "elementor"],
)
"""The word after them names a state (`has-sidebar`), a post's subject (`tag-cookies`) or any element of a UI kit."""
AROUND_TAGS = ("nav", "aside", "footer", "header", "form", "dialog")
NAMED_TAGS = ("div", "section", "ul", "ol", "table", "article", "main")
"""Elements that are boilerplate if their names say so."""


if compiled.native is not None:
    compiled.native.set_names(
        {**WORDS},
        {**TOKENS},
        {**BEGINNINGS},
        {**ROLES},
        dict.fromkeys(PASSED_OVER, 0),
        AROUND_TAGS,
        NAMED_TAGS,
    )


# The functions below have a C version (`c/names.h`), used where it was compiled.


def classify_names(names: str | None, identity: str | None, role: str | None) -> NameClass:
    """Returns the class of an element with this class, id and role."""
    verdict = ROLES.get(role.lower(), NameClass.NOTHING) if role else NameClass.NOTHING
    if names:
        verdict = max([verdict, *map(classify_token, TOKEN.findall(names[:LONGEST_NAMES]))])
    if identity and identity.count("-") + identity.count("_") <= LONGEST_IDENTITY:
        verdict = max(verdict, classify_token(identity[:LONGEST_NAMES]))
    return verdict


@lru_cache(maxsize=32_768)
def classify_token(token: str) -> NameClass:
    words = [word.lower() for word in WORD.findall(token)[:MOST_WORDS]]
    verdict = TOKENS.get("".join(words), NameClass.NOTHING)
    before = ""
    for at, word in enumerate(words):
        if before not in PASSED_OVER:
            verdict = max(verdict, _classify_word(word, words[at + 1 : at + 3]))
        before = word
    return verdict


def _classify_word(word: str, following: list[str]) -> NameClass:
    verdict = WORDS.get(word, NameClass.NOTHING)
    for length in LENGTHS:
        verdict = max(verdict, BEGINNINGS.get(word[:length], NameClass.NOTHING))
    for other in following:
        word += other
        verdict = max(verdict, WORDS.get(word, NameClass.NOTHING))
    return verdict
