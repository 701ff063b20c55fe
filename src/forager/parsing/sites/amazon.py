"""Amazon: no structured data, but ids and classes that have been stable for years."""

import json
import re
from collections.abc import Iterator
from typing import Any

from turbohtml import Element

from forager.parsing.products.claims import Claim
from forager.parsing.products.find import assemble
from forager.parsing.products.item_fields import absolute, clean_field
from forager.parsing.products.labels import claims_of_labels
from forager.parsing.products.money import read_money
from forager.parsing.products.numbers import parse_rating, read_count, read_gtin
from forager.parsing.products.stock import Availability, read_availability
from forager.parsing.products.view import View
from forager.plugins.markers import hookimpl
from forager.plugins.page import Page
from forager.products.models import Product, Variant

NAME, VERSION = "amazon", 2
HOSTS = re.compile(r"(?:^|\.)amazon\.(?:com|[a-z]{2}|co\.[a-z]{2}|com\.[a-z]{2})(?::\d+)?$")
PRICES = (
    "#corePriceDisplay_desktop_feature_div .a-price:not(.a-text-price) .a-offscreen",
    "#corePrice_feature_div .a-price:not(.a-text-price) .a-offscreen",
    "#corePrice_desktop .a-price:not(.a-text-price) .a-offscreen",
    "#apex_desktop .a-price:not(.a-text-price) .a-offscreen",
    "#priceblock_dealprice",
    "#priceblock_saleprice",
    "#priceblock_ourprice",
    "#price_inside_buybox",
    "#newBuyBoxPrice",
    "#kindle-price",
    "#tp_price_block_total_price_ww .a-offscreen",
    ".apexPriceToPay .a-offscreen",
    ".priceToPay",
)
BRAND = re.compile(
    r"^(?:Visit the|Besuche(?:n Sie)? den|Visita (?:la tienda de|lo Store di)|Visiter la boutique|Visite a loja|"
    r"Bezoek de)\s+|"
    r"\s*-?(?:Store|Shop|ストアを表示|のストアを表示|-winkel)$|"
    r"^(?:Brand|Marke|Marque|Marca|Merk|ブランド|Marka)\s*[:：]?\s+",
    re.IGNORECASE,
)
ASIN = re.compile(r"/(?:dp|gp/product|gp/aw/d|product)/([A-Z0-9]{10})(?:[/?]|$)")
ONE_ASIN = re.compile(r"[A-Z0-9]{10}")
DETAIL_NUMBERS = re.compile(r"^(?:ISBN-13|ISBN-10|EAN|UPC|GTIN|Global Trade Identification Number)\b", re.IGNORECASE)
CRUMBS = "#wayfinding-breadcrumbs_feature_div a"
BULLETS = "#feature-bullets li span.a-list-item"
DETAILS = (
    "#productDetails_techSpec_section_1 tr,#productDetails_detailBullets_sections1 tr,#detailBullets_feature_div li"
)
LABELLED = frozenset({"mpn", "attributes"})
MOST_IMAGES, MOST_VARIANTS, MOST_DETAILS = 20, 200, 60


@hookimpl
def find_product(page: Page) -> Product | None:
    """Returns the product; None for lists, captchas and all other pages without a product title."""
    view = page.view
    if view.document.select_one("#productTitle,#ebooksProductTitle,#title") is None:
        return None
    claims = list(_claims(view))
    return assemble(claims, NAME, VERSION) if any(claim.field == "name" for claim in claims) else None


def _claims(view: View) -> Iterator[Claim]:
    for selector in ("#productTitle", "#ebooksProductTitle", "#title"):
        if text := _text(view, selector):
            yield Claim("name", clean_field("name", text), 0.97, f"css {selector}")
            break
    yield from _price(view)
    yield from _stock(view)
    yield from _reviews(view)
    if brand := _text(view, "#bylineInfo") or _text(view, "tr.po-brand td:nth-child(2)"):
        yield Claim("brand", clean_field("brand", BRAND.sub("", BRAND.sub("", brand))), 0.85, "css #bylineInfo")
    crumbs = [text for node in view.document.select(CRUMBS)[:10] if (text := _words(node))]
    if crumbs:
        yield Claim("category", clean_field("category", " > ".join(crumbs)), 0.9, f"css {CRUMBS}")
    yield from _numbers(view)
    yield from (claim for claim in claims_of_labels(view) if claim.field in LABELLED)
    yield from _description(view)
    if images := _images(view):
        yield Claim("image_urls", images, 0.9, "css #landingImage")
    if variants := _variants(view):
        yield Claim("variants", variants, 0.8, "css #twister")


def _price(view: View) -> Iterator[Claim]:
    for selector in PRICES:
        text = _text(view, selector)
        money = read_money(text, view.place) if text else None
        if money is not None and money.amount > 0:
            yield Claim("price", money.amount, 0.93, f"css {selector}")
            if money.currency:
                yield Claim("currency", money.currency, 0.93 * max(money.confidence, 0.85), f"css {selector}")
            return


def _stock(view: View) -> Iterator[Claim]:
    text = _text(view, "#availability span") or _text(view, "#availability") or _text(view, "#outOfStock")
    state = read_availability(text) if text else None
    if state is not None:
        yield Claim("availability", str(state), 0.92, "css #availability")
    elif view.document.select_one("#add-to-cart-button,#buy-now-button") is not None:
        yield Claim("availability", str(Availability.IN_STOCK), 0.8, "css #add-to-cart-button")


def _reviews(view: View) -> Iterator[Claim]:
    popover = view.document.select_one("#acrPopover")
    text = (popover.attr("title") or _words(popover)) if popover is not None else None
    text = text or _text(view, "#averageCustomerReviews .a-icon-alt")
    rating = parse_rating(text) if text else None
    if rating is not None:
        yield Claim("rating", rating, 0.92, "css #acrPopover")
    count = read_count(_text(view, "#acrCustomerReviewText") or "")
    if count is not None:
        yield Claim("review_count", count, 0.92, "css #acrCustomerReviewText")


def _numbers(view: View) -> Iterator[Claim]:
    node = view.document.select_one("input#ASIN,input[name=ASIN],#averageCustomerReviews[data-asin]")
    asin = (node.attr("value") or node.attr("data-asin")) if node is not None else None
    found = ASIN.search(view.canonical or view.url) or ASIN.search(view.url)
    if asin and ONE_ASIN.fullmatch(asin.strip()):
        yield Claim("sku", asin.strip(), 0.97, "css input#ASIN")
    elif found:
        yield Claim("sku", found.group(1), 0.9, "url")
    for row in view.document.select(DETAILS)[:MOST_DETAILS]:
        text = _words(row).replace("\u200e", "").replace("\u200f", "")
        if DETAIL_NUMBERS.match(text) and (gtin := read_gtin(re.sub(r"^[^:：\s]+(?:\s*[:：])?\s*", "", text))):
            yield Claim("gtin", gtin, 0.9, "css #productDetails")
            return


def _description(view: View) -> Iterator[Claim]:
    if text := _text(view, "#productDescription") or _text(view, "#bookDescription_feature_div"):
        yield Claim("description", clean_field("description", text), 0.85, "css #productDescription")
    elif bullets := [text for node in view.document.select(BULLETS)[:20] if (text := _words(node))]:
        yield Claim("description", clean_field("description", " ".join(bullets)), 0.8, f"css {BULLETS}")


def _images(view: View) -> tuple[str, ...]:
    found: list[str] = []
    for node in view.document.select("#landingImage,#imgBlkFront,#main-image")[:3]:
        sizes = _json(node.attr("data-a-dynamic-image"))
        given = [node.attr("data-old-hires"), *(sizes if isinstance(sizes, dict) else ()), node.attr("src")]
        found += [address for each in given if (address := absolute(view.base_url, each))]
    return tuple(dict.fromkeys(found))[:MOST_IMAGES]


def _variants(view: View) -> tuple[Variant, ...]:
    found = []
    for node in view.document.select(
        "#twister li[data-defaultasin],#twister li[data-asin],#tp-inline-twister-dim-values-container li[data-asin]"
    ):
        asin = node.attr("data-defaultasin") or node.attr("data-asin")
        if asin and ONE_ASIN.fullmatch(asin):
            title = (node.attr("title") or "").partition("select")[2].strip() or _words(node)
            found.append(Variant(name=title[:200] or None, sku=asin, url=absolute(view.base_url, f"/dp/{asin}")))
    return tuple(found[:MOST_VARIANTS]) if len(found) > 1 else ()


def _json(text: str | None) -> Any:
    try:
        return json.loads(text) if text and len(text) < 100_000 else None
    except (ValueError, RecursionError):
        return None


def _text(view: View, selector: str) -> str | None:
    node = view.document.select_one(selector)
    return _words(node) or None if node is not None else None


def _words(node: Element) -> str:
    return " ".join(" ".join(node.strings).split())[:20_000]
