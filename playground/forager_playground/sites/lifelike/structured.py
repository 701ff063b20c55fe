"""What a page says about itself to machines: metas, links of the head, JSON-LD of the kinds that are most frequent."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from forager_playground.seeded import Draws
from forager_playground.sites.lifelike.code import make_hash, make_name
from forager_playground.sites.lifelike.makeup import PageKind, PageProfile
from forager_playground.sites.lifelike.words import Words

CURRENCIES = {"de": "EUR", "fr": "EUR", "es": "EUR", "it": "EUR", "nl": "EUR", "pl": "PLN", "ja": "JPY", "pt": "BRL"}
MORE_METAS = (
    "theme-color", "msapplication-TileColor", "google-site-verification", "format-detection", "generator", "referrer",
    "apple-mobile-web-app-title", "msvalidate.01", "application-name", "fb:pages", "p:domain_verify", "robots",
    "parsely-title", "parsely-link", "sailthru.tags", "news_keywords", "copyright", "rating", "date", "keywords",
)  # fmt: skip
LINKS = (
    "preconnect",
    "dns-prefetch",
    "stylesheet",
    "preload",
    "icon",
    "apple-touch-icon",
    "stylesheet",
    "modulepreload",
)


@dataclass(frozen=True, slots=True)
class Subject:
    """What one page is about, the same in its text and in what it tells machines."""

    path: str
    title: str
    site_name: str
    description: str
    section: str
    author: str
    price: str
    currency: str
    image: str
    published_at: str

    @property
    def url(self) -> str:
        return f"https://www.{self.site_name.lower()}.example{self.path}"


def render_head(draws: Draws, subject: Subject, makeup: PageProfile, language: str) -> list[str]:
    named = {"description": subject.description, "viewport": "width=device-width, initial-scale=1"}
    graph = {
        "og:title": subject.title,
        "og:type": "product" if makeup.kind is PageKind.PRODUCT else "article",
        "og:site_name": subject.site_name,
        "og:description": subject.description,
        "og:url": subject.url,
        "og:image": subject.image,
        "og:locale": language,
        "article:published_time": subject.published_at,
        "article:section": subject.section,
    }
    named |= {"twitter:card": "summary_large_image", "twitter:title": subject.title, "twitter:image": subject.image}
    named |= {
        draws.pick(MORE_METAS): f"{make_name(draws, 6)}, {make_hash(draws, 24)}"
        for _ in range(max(0, makeup.metas - 14))
    }
    if named.get("robots"):
        named["robots"] = "index, follow, max-image-preview:large"
    tags = [f'<meta name="{name}" content="{_quote(content)}">' for name, content in named.items()]
    tags += [f'<meta property="{name}" content="{_quote(content)}">' for name, content in graph.items()]
    tags.append(f'<link rel="canonical" href="{subject.path}">')
    tags += [_link(draws) for _ in range(max(3, round(makeup.metas * 0.8)))]
    return tags


def _quote(content: str) -> str:
    """The texts are HTML already; only quotes are left to be escaped."""
    return content.replace('"', "&quot;")


def _link(draws: Draws) -> str:
    rel = draws.pick(LINKS)
    href = (
        f"https://cdn.{make_name(draws)}.example/assets/{make_name(draws)}/{make_hash(draws)}.css?ver={draws.below(9)}"
    )
    return f"<link rel='{rel}' id='{make_name(draws)}-css' href='{href}' type='text/css' media='all'>"


def render_json_ld(draws: Draws, subject: Subject, kind: PageKind, words: Words) -> list[str]:
    """One or two blocks; a graph of several items where a plug-in would have written it."""
    items = [MAKERS[kind](draws, subject, words), _breadcrumbs(subject), _organization(subject), _web_page(subject)]
    if draws.chance(0.65):
        blocks: list[Any] = [{"@context": "https://schema.org", "@graph": items}]
    else:
        blocks = [{"@context": "https://schema.org", **item} for item in items[: draws.between(1, 3)]]
    indent, is_ascii = 4 if draws.chance(0.3) else None, draws.chance(0.5)
    written = [json.dumps(block, ensure_ascii=is_ascii, indent=indent) for block in blocks]
    return [f'<script type="application/ld+json">{block}</script>' for block in written]


def _person(subject: Subject) -> Mapping[str, Any]:
    return {"@type": "Person", "name": subject.author, "url": subject.url.rpartition("/")[0]}


def _organization(subject: Subject) -> dict[str, Any]:
    logo = {"@type": "ImageObject", "url": subject.image, "width": 600, "height": 60}
    return {"@type": "Organization", "name": subject.site_name, "logo": logo, "sameAs": [subject.url, subject.image]}


def _web_page(subject: Subject) -> dict[str, Any]:
    action = {"@type": "ReadAction", "target": [subject.url]}
    return {
        "@type": "WebPage",
        "@id": subject.url,
        "url": subject.url,
        "name": subject.title,
        "isPartOf": {"@type": "WebSite", "@id": f"{subject.url}#website", "name": subject.site_name},
        "datePublished": subject.published_at,
        "description": subject.description,
        "potentialAction": [action],
    }


def _breadcrumbs(subject: Subject) -> dict[str, Any]:
    names = (subject.site_name, subject.section, subject.title)
    items = [{"@type": "ListItem", "position": n, "name": name} for n, name in enumerate(names, 1)]
    return {"@type": "BreadcrumbList", "itemListElement": items}


def _article(draws: Draws, subject: Subject, words: Words) -> dict[str, Any]:
    return {
        "@type": draws.pick(("Article", "NewsArticle", "BlogPosting")),
        "headline": subject.title,
        "datePublished": subject.published_at,
        "dateModified": subject.published_at,
        "author": [_person(subject)],
        "publisher": _organization(subject),
        "image": [{"@type": "ImageObject", "url": subject.image, "width": 1200, "height": 675}],
        "keywords": [words.label(draws, 1) for _ in range(draws.between(2, 9))],
        "wordCount": draws.between(200, 3000),
        "articleSection": subject.section,
        "description": subject.description,
    }


def _product(draws: Draws, subject: Subject, words: Words) -> dict[str, Any]:
    return {
        "@type": "Product",
        "name": subject.title,
        "image": [subject.image],
        "description": words.text(draws, 5),
        "sku": make_hash(draws, 8).upper(),
        "brand": {"@type": "Brand", "name": words.label(draws, 1)},
        "aggregateRating": {"@type": "AggregateRating", "ratingValue": "4.6", "reviewCount": draws.between(1, 900)},
        "offers": {
            "@type": "Offer",
            "price": subject.price,
            "priceCurrency": subject.currency,
            "availability": "https://schema.org/" + draws.pick(("InStock", "InStock", "OutOfStock")),
            "url": subject.url,
        },
    }


def _recipe(draws: Draws, subject: Subject, words: Words) -> dict[str, Any]:
    steps = [
        {"@type": "HowToStep", "text": words.text(draws, 2), "url": f"{subject.url}#step-{n}"}
        for n in range(draws.between(6, 20))
    ]
    reviews = [
        {
            "@type": "Review",
            "reviewRating": {"@type": "Rating", "ratingValue": "5"},
            "author": _person(subject),
            "reviewBody": words.text(draws, 2),
        }
        for _ in range(draws.below(24))
    ]
    return {
        "@type": "Recipe",
        "name": subject.title,
        "author": _person(subject),
        "image": [subject.image, subject.image.replace(".jpg", "-4x3.jpg"), subject.image.replace(".jpg", "-1x1.jpg")],
        "recipeIngredient": [words.label(draws, 3) for _ in range(draws.between(5, 16))],
        "recipeInstructions": steps,
        "nutrition": {"@type": "NutritionInformation", "calories": f"{draws.between(90, 900)} kcal"},
        "aggregateRating": {"@type": "AggregateRating", "ratingValue": 4.8, "ratingCount": draws.between(3, 4000)},
        "review": reviews,
        "totalTime": f"PT{draws.between(10, 180)}M",
        "datePublished": subject.published_at,
    }


def _collection(draws: Draws, subject: Subject, words: Words) -> dict[str, Any]:
    items = [
        {"@type": "ListItem", "position": n, "url": f"{subject.url}/{make_hash(draws)}", "name": words.label(draws, 3)}
        for n in range(1, draws.between(10, 50))
    ]
    return {
        "@type": "CollectionPage",
        "name": subject.title,
        "mainEntity": {"@type": "ItemList", "itemListElement": items},
    }


def _website(draws: Draws, subject: Subject, words: Words) -> dict[str, Any]:
    action = {"@type": "SearchAction", "target": f"{subject.url}?s={{search_term_string}}", "query-input": "required"}
    return {
        "@type": "WebSite",
        "name": subject.site_name,
        "url": subject.url,
        "potentialAction": action,
        "alternateName": words.label(draws, 2),
    }


MAKERS: Mapping[PageKind, Callable[[Draws, Subject, Words], dict[str, Any]]] = MappingProxyType(
    {
        PageKind.HOME: _website,
        PageKind.LIST: _collection,
        PageKind.ARTICLE: _article,
        PageKind.PRODUCT: _product,
        PageKind.RECIPE: _recipe,
        PageKind.PLAIN: _website,
    }
)
