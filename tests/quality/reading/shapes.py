# ruff: noqa: E501
"""Pages in the shape of real ones: each function dresses the same words as one kind of site does.

A shape says which of the words its page shows as content and which around it, and what it tells machines.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from tests.quality.reading.languages import Words

DAY = datetime(2024, 3, 5, 9, 30, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Sample:
    """One page with what a careful reader gets from it."""

    name: str
    html: str
    title: str
    language: str
    description: str | None
    author: str | None
    published_at: datetime | None
    inside: tuple[str, ...]
    outside: tuple[str, ...]
    """Shown on the page, and no part of its content."""


def _menu(words: Words, classes: str = "menu") -> str:
    return (
        f'<ul class="{classes}">'
        + "".join(f'<li><a href="/{n}">{name}</a></li>' for n, name in enumerate(words.menu))
        + "</ul>"
    )


def _body(words: Words) -> str:
    return "\n".join(f"<p>{text}</p>" for text in words.paragraphs)


def _sample(words: Words, html: str, *, suffix: str = "", outside: tuple[str, ...] = (), **given: object) -> Sample:
    known = {
        "description": words.summary,
        "author": words.author,
        "published_at": DAY,
        "inside": words.paragraphs,
        "language": words.tag,
    } | given
    return Sample("", html, words.title + suffix, outside=outside, **known)  # type: ignore[arg-type]


def blog(words: Words) -> Sample:
    """WordPress with a classic theme, sharing and related plugins, a cookie bar and comments."""
    html = f"""<!DOCTYPE html><html lang="{words.tag}" class="no-js"><head><meta charset="UTF-8">
<title>{words.title} – Notebook</title><meta name="description" content="{words.summary}">
<link rel="canonical" href="https://blog.example/post"><link rel="pingback" href="/xmlrpc.php">
<meta property="article:published_time" content="2024-03-05T09:30:00+00:00"><meta name="author" content="{words.author}">
<style>.x{{color:red}}</style></head>
<body class="post-template-default single single-post postid-12 has-sidebar"><a class="skip-link screen-reader-text" href="#content">Skip</a>
<div id="page" class="site"><header id="masthead" class="site-header"><div class="site-branding"><p class="site-title"><a href="/">Notebook</a></p></div>
<nav id="site-navigation" class="main-navigation">{_menu(words)}</nav></header>
<div id="content" class="site-content"><div id="primary" class="content-area"><main id="main" class="site-main">
<article id="post-12" class="post-12 post type-post status-publish hentry category-local tag-cookies"><header class="entry-header"><h1 class="entry-title">{words.title}</h1>
<div class="entry-meta"><span class="posted-on"><time class="entry-date published" datetime="2024-03-05T09:30:00+00:00">5.3.2024</time></span></div></header>
<div class="entry-content">{_body(words)}
<div class="sharedaddy sd-sharing-enabled"><div class="robots-nocontent sd-block sd-social"><h3 class="sd-title">{words.related[1]}</h3><ul><li>Facebook</li></ul></div></div>
<div id="jp-relatedposts" class="jp-relatedposts"><h3>{words.related[0]}</h3></div></div>
<footer class="entry-footer"><span class="tags-links"><a rel="tag">{words.menu[1]}</a></span></footer></article>
<div id="comments" class="comments-area"><ol class="comment-list"><li class="comment"><p>{words.comment}</p></li></ol>
<div id="respond" class="comment-respond"><form id="commentform"><textarea></textarea><button>OK</button></form></div></div>
</main></div><aside id="secondary" class="widget-area"><section class="widget widget_text">{words.newsletter}</section></aside></div>
<footer id="colophon" class="site-footer"><div class="site-info">{words.footer}</div></footer></div>
<div id="cookie-law-info-bar"><span>{words.cookies}</span></div><script>var a = 1;</script></body></html>"""
    outside = (words.cookies, words.comment, words.footer, words.newsletter, *words.related)
    return _sample(words, html, suffix=" – Notebook", outside=outside)


def news(words: Words) -> Sample:
    """A newspaper: JSON-LD, adverts between the paragraphs, recommendations, a consent layer from a vendor."""
    data = {
        "@context": "https://schema.org",
        "@graph": [
            {"@type": "Organization", "name": "Gazette"},
            {
                "@type": "NewsArticle",
                "headline": words.title,
                "datePublished": "2024-03-05T10:30:00+01:00",
                "author": [{"@type": "Person", "name": words.author}],
            },
        ],
    }
    first, *others = words.paragraphs
    rest = "".join(f'<p class="article__paragraph css-9x1">{text}</p>' for text in others)
    html = f"""<!doctype html><html lang="{words.tag}" dir="auto"><head><meta charset="utf-8"><meta property="og:title" content="{words.title}">
<title>{words.title} | Gazette</title><meta property="og:description" content="{words.summary}"><script type="application/ld+json">{json.dumps(data)}</script>
</head><body><div id="onetrust-consent-sdk"><div id="onetrust-banner-sdk" role="dialog"><p>{words.cookies}</p><button>OK</button></div></div>
<header class="c-header" role="banner"><nav aria-label="main">{_menu(words, "c-nav__list")}</nav></header>
<main><article class="article"><h1>{words.title}</h1><p class="article__lead">{first}</p>
<div class="ad-slot ad-slot--inline" data-ad="1"><span>{words.advert}</span></div>{rest}
<section class="article__newsletter-signup"><h2>{words.newsletter}</h2><form action="/nl"><input type="email"><button>OK</button></form></section>
<div class="social-share"><a href="#">Facebook</a></div></article>
<section class="recommended-stories"><h2>{words.related[0]}</h2><article class="teaser"><h3>{words.related[1]}</h3></article></section></main>
<footer class="c-footer"><p>{words.footer}</p></footer></body></html>"""
    outside = (words.cookies, words.advert, words.footer, words.newsletter, *words.related)
    return _sample(words, html, suffix=" | Gazette", outside=outside)


def docs(words: Words) -> Sample:
    """Sphinx with its best known theme: a search form, a tree of contents at the side, links to the neighbours."""
    html = f"""<!DOCTYPE html><html class="writer-html5" lang="{words.tag}"><head><meta charset="utf-8" /><title>{words.title} &mdash; Handbook 2.1 documentation</title>
<meta name="description" content="{words.summary}" /></head><body class="wy-body-for-nav"><div class="wy-grid-for-nav">
<nav data-toggle="wy-nav-shift" class="wy-nav-side"><div class="wy-side-scroll"><div role="search"><form id="rtd-search-form"><input name="q" /></form></div>
<div class="wy-menu wy-menu-vertical">{_menu(words, "current")}<p class="caption"><span>{words.related[0]}</span></p></div></div></nav>
<section data-toggle="wy-nav-shift" class="wy-nav-content-wrap"><div class="wy-nav-content"><div class="rst-content">
<div role="navigation" aria-label="Page navigation"><ul class="wy-breadcrumbs"><li><a href="/">{words.menu[0]}</a></li></ul></div>
<div role="main" class="document"><div itemprop="articleBody"><section id="s"><h1>{words.title}<a class="headerlink" href="#s">¶</a></h1>{_body(words)}
<div class="highlight-python notranslate"><pre>import harbour</pre></div></section></div></div>
<footer><div class="rst-footer-buttons" role="navigation"><a href="next">{words.related[1]}</a></div><div role="contentinfo"><p>{words.footer}</p></div></footer>
</div></div></section></div></body></html>"""
    outside = (words.footer, *words.related)
    return _sample(words, html, suffix=" — Handbook 2.1 documentation", author=None, published_at=None, outside=outside)


def docs_react(words: Words) -> Sample:
    """A static documentation site made of components: many wrappers, hashed class names, a table of contents."""
    html = f"""<!doctype html><html lang="{words.tag}" class="docs-wrapper plugin-docs" data-theme="light"><head><title data-rh="true">{words.title} | Guide</title>
<meta data-rh="true" name="description" content="{words.summary}"></head><body class="navigation-with-keyboard"><div id="__docusaurus">
<div role="region" aria-label="Skip"><a class="skipToContent_fXgn" href="#c">Skip</a></div><nav class="navbar navbar--fixed-top"><div class="navbar__inner">{_menu(words, "navbar__items")}</div></nav>
<div class="main-wrapper docsWrapper_hBAB"><div class="docRoot_UBD9"><aside class="theme-doc-sidebar-container docSidebarContainer_YfHR"><div class="sidebar_njMd">{words.related[0]}</div></aside>
<main class="docMainContainer_TBSr"><div class="container padding-top--md"><div class="row"><div class="col docItemCol_VOVn"><div class="docItemContainer_Djhp"><article>
<nav class="theme-doc-breadcrumbs breadcrumbsContainer_Z_bl"><ul class="breadcrumbs"><li>{words.menu[2]}</li></ul></nav>
<div class="theme-doc-markdown markdown"><header><h1>{words.title}</h1></header>{_body(words)}</div>
<footer class="theme-doc-footer"><span class="theme-last-updated"><time datetime="2024-03-05T09:30:00.000Z">x</time></span></footer></article>
<nav class="pagination-nav docusaurus-mt-lg"><a class="pagination-nav__link" href="/n">{words.related[1]}</a></nav></div></div>
<div class="col col--3"><div class="tableOfContents_bqdL thin-scrollbar"><ul class="table-of-contents"><li>{words.menu[3]}</li></ul></div></div></div></div></main></div></div>
<footer class="footer footer--dark"><div class="container">{words.footer}</div></footer></div></body></html>"""
    return _sample(
        words, html, suffix=" | Guide", author=None, published_at=None, outside=(words.footer, *words.related)
    )


def forum(words: Words) -> Sample:
    """A board of the old school: no main element, every post a div, signatures, a jump box."""
    posts = "".join(
        f"""<div id="p{n}" class="post has-profile bg{n % 2 + 1}"><div class="inner"><dl class="postprofile"><dt>user{n}</dt></dl>
<div class="postbody"><div class="content">{text}</div><div class="signature">--</div></div></div></div>"""
        for n, text in enumerate(words.paragraphs)
    )
    html = f"""<!DOCTYPE html><html dir="ltr" lang="{words.tag}"><head><meta charset="utf-8" /><title>{words.title} - Board</title></head>
<body id="phpbb" class="nojs notouch section-viewtopic ltr"><div id="wrap" class="wrap"><div id="page-header"><div class="headerbar" role="banner"><p>Board</p></div>
<div class="navbar" role="navigation">{_menu(words, "linklist")}</div></div>
<div id="page-body" class="page-body" role="main"><h2 class="topic-title"><a href="./t1">{words.title}</a></h2>
<div class="action-bar bar-top"><div class="search-box" role="search"><form><input></form></div><div class="pagination">4 <ul><li>1</li></ul></div></div>
{posts}<div class="action-bar actions-jump"><div class="dropdown-container"><ul class="dropdown-menu"><li>{words.related[0]}</li></ul></div></div></div>
<div id="page-footer" class="page-footer" role="contentinfo"><div class="copyright"><p>{words.footer}</p></div></div></div>
<div class="cookie-notice">{words.cookies}</div></body></html>"""
    outside = (words.footer, words.cookies, words.related[0])
    return _sample(words, html, suffix=" - Board", description=None, author=None, published_at=None, outside=outside)


def gallery(words: Words) -> Sample:
    """Pictures with captions, a lightbox that waits hidden, a newsletter that pops up."""
    figures = "".join(
        f'<figure class="tile"><img src="/{n}.jpg" alt=""><figcaption>{text}</figcaption></figure>'
        for n, text in enumerate(words.paragraphs)
    )
    html = f"""<!doctype html><html lang="{words.tag}"><head><title>{words.title}</title><meta name="description" content="{words.summary}">
<meta name="author" content="{words.author}"><meta name="date" content="2024-03-05 09:30"></head><body>
<div class="topbar"><div class="topbar-inner">{_menu(words, "inline")}</div></div><div class="gallery-page"><h1>{words.title}</h1><div class="grid">{figures}</div></div>
<div class="lightbox" style="display: none"><div>{words.advert}</div></div><div class="newsletter-popup" aria-hidden="true"><p>{words.newsletter}</p></div>
<div class="bottom"><p>{words.footer}</p></div></body></html>"""
    return _sample(words, html, outside=(words.advert, words.newsletter, words.footer))


def shop(words: Words) -> Sample:
    """A product page: a description among forms, reviews, and a row of other products."""
    html = f"""<!doctype html><html class="no-js" lang="{words.tag}"><head><meta charset="utf-8"><title>{words.title} &ndash; Shop</title><meta name="description" content="{words.summary}">
<meta property="og:type" content="product"></head><body class="gradient"><div class="announcement-bar promo">{words.advert}</div>
<div id="shopify-section-header"><header class="header-wrapper"><nav class="header__inline-menu">{_menu(words)}</nav><details-modal class="header__search"></details-modal></header></div>
<main id="MainContent" class="content-for-layout focus-none" role="main"><section id="shopify-section-product" class="section"><div class="product product--medium grid">
<div class="product__info-wrapper"><div class="product__title"><h1>{words.title}</h1></div><div class="price">€ 24.90</div>
<form method="post" action="/cart/add"><select><option>S</option></select><button type="submit">+</button></form>
<div class="product__description rte quick-add-hidden">{_body(words)}</div><div class="share-button">Share</div></div></div></section>
<section class="related-products"><h2>{words.related[0]}</h2><ul class="grid product-grid"><li><a href="/p2">{words.related[1]}</a></li></ul></section></main>
<div id="shopify-section-footer"><footer class="footer"><div class="footer-block">{words.newsletter}</div><small>{words.footer}</small></footer></div>
<div id="cart-drawer" class="drawer"><p>{words.cookies}</p></div></body></html>"""
    outside = (words.advert, words.newsletter, words.footer, words.cookies, *words.related)
    return _sample(words, html, suffix=" – Shop", author=None, published_at=None, outside=outside)


def government(words: Words) -> Sample:
    """A public service: Dublin Core, a banner for consent, a feedback form, dates in a definition list."""
    html = f"""<!DOCTYPE html><html lang="{words.tag}" class="govuk-template"><head><meta charset="utf-8"><title>{words.title} - Public Service</title>
<meta name="dcterms.description" content=""><meta name="description" content="{words.summary}"><meta name="DCTERMS.issued" content="2024-03-05"></head>
<body class="govuk-template__body"><div id="global-cookie-message" class="gem-c-cookie-banner" role="region"><div class="govuk-cookie-banner__content"><p>{words.cookies}</p></div></div>
<a href="#content" class="gem-c-skip-link govuk-skip-link">Skip</a><header role="banner" class="gem-c-layout-super-navigation-header">{_menu(words, "nav-items")}</header>
<div id="wrapper" class="govuk-width-container"><div class="gem-c-breadcrumbs govuk-breadcrumbs"><ol><li>{words.menu[1]}</li></ol></div>
<main role="main" id="content" class="guide"><div class="govuk-grid-row"><div class="govuk-grid-column-two-thirds"><div class="gem-c-title"><h1>{words.title}</h1></div>
<div class="gem-c-govspeak govuk-govspeak">{_body(words)}</div></div><div class="govuk-grid-column-one-third"><aside class="gem-c-related-navigation"><h2>{words.related[0]}</h2></aside></div></div></main>
<div class="gem-c-feedback"><form><p>{words.newsletter}</p></form></div></div>
<footer class="gem-c-layout-footer govuk-footer" role="contentinfo">{words.footer}</footer></body></html>"""
    day = datetime(2024, 3, 5, tzinfo=UTC)
    outside = (words.cookies, words.footer, words.newsletter, words.related[0])
    return _sample(words, html, suffix=" - Public Service", author=None, published_at=day, outside=outside)


def wiki(words: Words) -> Sample:
    """MediaWiki: tools at the side, edit links beside headings, a box of contents, categories at the end."""
    first, second, *others = words.paragraphs
    html = f"""<!DOCTYPE html><html class="client-nojs" lang="{words.tag}" dir="ltr"><head><meta charset="UTF-8"/><title>{words.title} – Encyclopedia</title></head>
<body class="mediawiki ltr sitedir-ltr ns-0 ns-subject skin-vector action-view"><div id="mw-page-base" class="noprint"></div>
<div id="content" class="mw-body" role="main"><a id="top"></a><div id="siteNotice"></div><h1 id="firstHeading" class="firstHeading">{words.title}</h1>
<div id="bodyContent" class="vector-body"><div id="siteSub" class="noprint">Encyclopedia</div><div id="contentSub"></div><a class="mw-jump-link" href="#mw-head">Jump</a>
<div id="mw-content-text" class="mw-body-content"><div class="mw-parser-output"><p>{first}</p><div id="toc" class="toc" role="navigation"><h2>{words.menu[1]}</h2><ul><li>{words.menu[2]}</li></ul></div>
<h2><span class="mw-headline">I</span><span class="mw-editsection">[edit]</span></h2><p>{second}</p>{"".join(f"<p>{text}</p>" for text in others)}
<div role="navigation" class="navbox"><table><tr><td>{words.related[0]}</td></tr></table></div></div><div class="printfooter">{words.related[1]}</div></div>
<div id="catlinks" class="catlinks"><div class="mw-normal-catlinks"><ul><li>{words.menu[3]}</li></ul></div></div></div></div>
<div id="mw-navigation"><div id="mw-head"><div id="p-personal" class="vector-user-menu-legacy">{_menu(words, "vector-menu-content-list")}</div></div></div>
<footer id="footer" class="mw-footer" role="contentinfo"><ul id="footer-info"><li>{words.footer}</li></ul></footer></body></html>"""
    return _sample(
        words,
        html,
        suffix=" – Encyclopedia",
        description=None,
        author=None,
        published_at=None,
        outside=(words.footer, *words.related),
    )


def old_school(words: Words) -> Sample:
    """Boxes with ids, as pages were laid out before there were elements for it; upper case, nothing declared."""
    html = f"""<HTML><HEAD><META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=utf-8"><TITLE>{words.title}</TITLE><META NAME="Description" CONTENT="{words.summary}">
<META NAME="Author" CONTENT="{words.author}"></HEAD><BODY BGCOLOR="#FFFFFF"><DIV ID="container"><DIV ID="header"><A HREF="/"><IMG SRC="logo.gif" ALT="Logo"></A></DIV>
<DIV ID="topmenu">{_menu(words, "m")}</DIV><DIV ID="leftcol"><DIV CLASS="sidebar-box"><B>{words.related[0]}</B></DIV><DIV CLASS="banner_ad">{words.advert}</DIV></DIV>
<DIV ID="content"><H2>{words.title}</H2>{_body(words)}<P ALIGN=right><FONT SIZE=1>{words.author}</FONT></P></DIV><DIV ID="footer">{words.footer}</DIV></DIV></BODY></HTML>"""
    language = (
        words.tag.partition("-")[0]
        if not words.tag.startswith("zh")
        else ("zh-Hans" if words.tag == "zh-CN" else "zh-Hant")
    )
    outside = (words.advert, words.footer, words.related[0])
    return _sample(words, html, language=language, published_at=None, outside=outside)


def hosted_blog(words: Words) -> Sample:
    """A free blog service: microdata, the text in a div, an archive and a profile beside it. Its declaration is wrong."""
    declared = "en" if words.tag != "en" else "de"
    html = f"""<!DOCTYPE html><html dir='ltr' lang='{declared}'><head><meta content='text/html; charset=UTF-8' http-equiv='Content-Type'/><title>My days: {words.title}</title></head>
<body class='loading'><div class='navbar section' id='navbar'></div><div class='body-fauxcolumns'></div><div class='content'><div class='content-inner'>
<header><div class='header section' id='header'><div class='widget Header'><h1 class='title'>My days</h1></div></div></header>
<div class='main-outer'><div class='columns'><div class='column-center-outer'><div class='main section' id='main'><div class='widget Blog' id='Blog1'><div class='blog-posts hfeed'>
<div class='date-outer'><h2 class='date-header'><span>x</span></h2><div class='post-outer'><div class='post hentry' itemscope itemtype='http://schema.org/BlogPosting'><h3 class='post-title entry-title' itemprop='name'>{words.title}</h3>
<div class='post-body entry-content' itemprop='articleBody'>{"<br/><br/>".join(words.paragraphs)}</div>
<div class='post-footer'><span class='post-author vcard' itemprop='author' itemscope><span class='fn' itemprop='name'>{words.author}</span></span>
<a class='timestamp-link' href='#'><abbr class='published' itemprop='datePublished' title='2024-03-05T09:30:00Z'>09:30</abbr></a><time datetime='2024-03-05T09:30:00Z'></time></div></div>
<div class='comments' id='comments'><h4>1</h4><div class='comment-block'><p class='comment-content'>{words.comment}</p></div></div></div></div></div></div></div></div>
<div class='column-right-outer'><aside><div class='sidebar section'><div class='widget BlogArchive'>{words.related[0]}</div></div></aside></div></div></div>
<footer><div class='foot section'>{words.footer}</div></footer></div></div></body></html>"""
    language = (
        words.tag.partition("-")[0]
        if not words.tag.startswith("zh")
        else ("zh-Hans" if words.tag == "zh-CN" else "zh-Hant")
    )
    sample = _sample(
        words, html, language=language, description=None, outside=(words.comment, words.footer, words.related[0])
    )
    return Sample(**{name: getattr(sample, name) for name in Sample.__slots__} | {"title": f"My days: {words.title}"})


def magazine(words: Words) -> Sample:
    """Utility classes that mean nothing, elements that mean everything; the cookie dialog is a dialog."""
    paragraphs = "".join(f'<p class="mt-6 text-lg leading-8">{text}</p>' for text in words.paragraphs)
    html = f"""<!DOCTYPE html><html lang="{words.tag}"><head><meta charSet="utf-8"/><title>{words.title} · Weekly</title><meta name="twitter:description" content="{words.summary}"/></head>
<body><div id="__next"><div class="min-h-screen flex flex-col"><header class="sticky top-0 z-50"><nav class="flex gap-4">{_menu(words, "flex")}</nav></header>
<article class="mx-auto max-w-prose px-4"><header><h1 class="text-4xl font-bold">{words.title}</h1><a rel="author" href="/a">{words.author}</a> <time dateTime="2024-03-05T09:30:00Z">x</time></header>
<section>{paragraphs}</section><aside class="my-8 rounded">{words.newsletter}</aside></article>
<section class="bg-gray-50 py-12"><h2>{words.related[0]}</h2><div class="grid">{words.related[1]}</div></section><footer class="border-t">{words.footer}</footer>
<dialog open>{words.cookies}</dialog></div></div><script id="__NEXT_DATA__" type="application/json">{{"props":{{}}}}</script></body></html>"""
    return _sample(
        words, html, suffix=" · Weekly", outside=(words.newsletter, words.footer, words.cookies, *words.related)
    )


def portal(words: Words) -> Sample:
    """A server page that wraps itself in a form, with a portal's boxes on both sides and a hidden state."""
    html = f"""<!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml" lang="{words.tag}"><head><title>
	{words.title}
</title><meta name="description" content="{words.summary}" /><meta name="publish-date" content="2024/03/05 09:30" /><meta name="author" content="{words.author}" /></head>
<body><form method="post" action="./Page.aspx" id="aspnetForm"><div class="aspNetHidden"><input type="hidden" name="__VIEWSTATE" value="/wEPDwUK" /></div>
<div id="ctl00_TopNav" class="topNav">{_menu(words, "rmRootGroup")}</div><div id="ctl00_Left" class="LeftMenu"><ul><li>{words.related[0]}</li></ul></div>
<div id="ctl00_Content" class="articleText"><h1>{words.title}</h1>{_body(words)}<div class="shareBar"><a href="#">Print</a></div><div class="relatedArticles"><a href="#">{words.related[1]}</a></div></div>
<div class="cookieConsentWrapper">{words.cookies}</div><div id="ctl00_Footer" class="pageFooter footer">{words.footer}</div></form></body></html>"""
    return _sample(words, html, outside=(words.cookies, words.footer, *words.related))


def unnamed(words: Words) -> Sample:
    """Names made by a build tool, and no element that means anything: hard for whoever goes by the markup."""
    links = "".join(f'<a class="x3" href="/{n}">{name}</a>' for n, name in enumerate(words.menu))
    html = f"""<!DOCTYPE html><html lang="{words.tag}"><head><title>{words.title}</title><meta name="description" content="{words.summary}"></head>
<body><div class="x1"><div class="x2">{links}</div><div class="x4"><div class="x5"><h1 class="x6">{words.title}</h1>{_body(words)}</div>
<div class="x7"><div class="x8">{words.related[0]}</div></div></div><div class="x9">{words.footer}</div></div></body></html>"""
    return _sample(words, html, author=None, published_at=None, outside=(words.footer, words.related[0]))


SHAPES: dict[str, Callable[[Words], Sample]] = {
    shape.__name__: shape
    for shape in (
        blog,
        news,
        docs,
        docs_react,
        forum,
        gallery,
        shop,
        government,
        wiki,
        old_school,
        hosted_blog,
        magazine,
        portal,
        unnamed,
    )
}
