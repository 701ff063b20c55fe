"""What the class, id and role of an element say about it: navigation, content, or nothing.

Names are split into words (`post__shareBar` → post, share, bar), and looked up, alone and joined with the next one
(`side-bar` is `sidebar`). A token is judged once per process: a site writes the same ones on every page, and many sites
write the same ones.
"""

import re
from enum import IntEnum
from functools import lru_cache

LONGEST_NAME = 200
MOST_WORDS = 12
WORD = re.compile(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]+|[^\W\d_A-Za-z]+|\d+")


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


class Verdict(IntEnum):
    """What the names of an element say. Higher ones overrule lower ones."""

    NOTHING = 0
    CONTENT = 1
    LIKELY_AROUND = 2
    AROUND = 3


ROLES = {
    "main": Verdict.CONTENT, "article": Verdict.NOTHING,
    **dict.fromkeys(
        ["navigation", "banner", "contentinfo", "complementary", "search", "dialog", "alertdialog", "menu", "menubar",
         "tablist", "toolbar"],
        Verdict.AROUND,
    ),
}  # fmt: skip

# Words of names that stand around the content wherever they are met. Joined words are met in both spellings.
AROUND = frozenset(
    # consent
    "cookie cookies cookiebar cookiebanner cookieconsent cookienotice cookielaw consent gdpr ccpa dsgvo onetrust optanon"
    " cybot didomi borlabs usercentrics iubenda cmp privacybanner privacynotice privacybar"
    # navigation
    " nav navi navbar navbox navigation navlist navlinks mainnav topnav subnav sidenav footnav sitenav meganav pagenav"
    " usernav bottomnav leftnav rightnav mainmenu topmenu submenu sidemenu footmenu sitemenu megamenu pagemenu usermenu"
    " bottommenu leftmenu rightmenu menubar crumb crumbs topbar toolbar pagination pager pagenavi skiplink skiplinks"
    " skipnav skipto languageswitch languageswitcher languageselect languageselector languagemenu languagelist"
    " languagepicker langswitch langswitcher langselect langselector langmenu langlist siteheader masthead mainheader"
    " globalheader"
    # beside the text
    " sidebar sidebars sphinxsidebar widgetarea footer colophon backtotop share sharing sharebar sharetools sharelinks"
    " sharebutton sharebuttons sharedaddy sociallinks socialmedia socialicons socialbar socialshare a2a related"
    " relatedposts recommend recommended recommendation recommendations recommends youmaylike alsolike prevnext nextprev"
    " postnavigation newsletter newsletters mailchimp"
    # adverts
    " ad ads adv adsbygoogle adslot adslots adbox adunit adwrap adwrapper adcontainer adbanner adblock adzone adspace"
    " adlabel sponsor sponsored sponsors bannerad bannerads dfp gpt werbung anzeige anzeigen publicite publicity"
    " publicidad pubblicita"
    # what readers wrote, what is not for readers
    " comment comments commentlist commentsection commentarea commentform commentrespond livefyre giscus appbanner"
    " smartbanner noprint sronly visuallyhidden screenreadertext mweditsection mwjumplink catlinks printfooter"
    " tagcloud".split()
)
AROUND_PREFIXES = (
    "breadcrumb", "paginat", "addtoany", "addthis", "recirc", "outbrain", "taboola", "mc4wp", "advert", "disqus",
    "reklam", "pagenav",
)  # fmt: skip
# These may name content too, a restaurant's menu or a ranking: then it is long and not made of links.
LIKELY_AROUND = frozenset(
    [
        "menu",
        "menus",
        "toc",
        "tableofcontents",
        "onthispage",
        "headbar",
        "rail",
        "widget",
        "widgets",
        "foot",
        "siteinfo",
        "imprint",
        "copyright",
        "social",
        "socials",
        "sns",
        "readmore",
        "readnext",
        "morestories",
        "morenews",
        "morearticles",
        "moreposts",
        "morefrom",
        "mostread",
        "mostpopular",
        "mostviewed",
        "popular",
        "trending",
        "ranking",
        "upnext",
        "subscribe",
        "subscriber",
        "subscribers",
        "subscribed",
        "subscription",
        "signup",
        "optin",
        "cta",
        "calltoaction",
        "donate",
        "donation",
        "promo",
        "promos",
        "promoted",
        "promotion",
        "promotions",
        "respond",
        "popup",
        "popups",
        "modal",
        "overlay",
        "lightbox",
        "offcanvas",
        "drawer",
        "toast",
        "paywall",
        "snackbar",
        "notificationbar",
        "search",
        "searchform",
        "searchbox",
        "searchbar",
        "login",
        "taglist",
        "taglinks",
        "tagslist",
        "tagslinks",
        "authorbox",
        "authorbio",
        "authorcard",
        "aboutauthor",
        "hatnote",
        "fontsize",
    ]
)
LIKELY_WHOLE = frozenset({"header", "top", "bottom"})
"""As whole tokens alone: a `page-top` holds the page."""
# Not where the word before tells a state (`has-sidebar`), the subject of a post (`tag-cookies`) or a kit's every element.
STATES = frozenset(["has", "no", "with", "without", "is", "tag", "category", "cat", "topic", "elementor"])
PARTS_OF_POST = frozenset(
    ["share", "nav", "tags", "related", "comment", "comments", "footer", "pagination", "navigation", "author"]
)
"""`post-share` is around, but the subject of a post may be anything: `post-cookies`."""
CONTENT_OWNERS = frozenset(
    ["entry", "post", "article", "page", "main", "story", "news", "blog", "detail", "single", "body", "primary"]
)
CONTENT_PARTS = frozenset(["content", "body", "text", "entry", "inner"])
CONTENT = frozenset(
    [
        "content",
        "contentmain",
        "contentbody",
        "contentarea",
        "contentinner",
        "contenttext",
        "markdownbody",
        "richtext",
        "prose",
        "rstcontent",
        "hentry",
        "arttext",
        "readcontent",
        "rte",
        "textbody",
    ]
    + [owner + part for owner in CONTENT_OWNERS for part in CONTENT_PARTS]
)


@lru_cache(maxsize=16_384)
def judge_names(names: str | None, identity: str | None, role: str | None) -> Verdict:
    """Of an element with this class, id and role."""
    verdict = ROLES.get(role.lower(), Verdict.NOTHING) if role else Verdict.NOTHING
    if names:
        for token in names[:LONGEST_NAME].split():
            verdict = max(verdict, judge_token(token))
    if identity:
        verdict = max(verdict, judge_token(identity[:LONGEST_NAME]))
    return verdict


@lru_cache(maxsize=32_768)
def judge_token(token: str) -> Verdict:
    words = [word.lower() for word in WORD.findall(token)[:MOST_WORDS]]
    if not words:
        return Verdict.NOTHING
    verdict = Verdict.NOTHING
    before = ""
    for at, word in enumerate(words):
        if before not in STATES and (before != "post" or word in PARTS_OF_POST):
            pair = word + words[at + 1] if at + 1 < len(words) else word
            triple = pair + words[at + 2] if at + 2 < len(words) else pair
            if word in AROUND or pair in AROUND or triple in AROUND or word.startswith(AROUND_PREFIXES):
                return Verdict.AROUND
            if word in LIKELY_AROUND or pair in LIKELY_AROUND or triple in LIKELY_AROUND:
                verdict = Verdict.LIKELY_AROUND
        before = word
    if verdict is Verdict.NOTHING:
        if len(words) == 1 and words[0] in LIKELY_WHOLE:
            return Verdict.LIKELY_AROUND
        if "".join(words) in CONTENT:
            return Verdict.CONTENT
    return verdict
