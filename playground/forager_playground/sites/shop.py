"""A shop: categories with pages, sorting and filters by query parameters, products with prices that change by the day.

The same list is linked with its parameters in different orders and with campaign tags. The cart is closed to robots.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl

from forager_playground.answer import Answer, missing
from forager_playground.language import english
from forager_playground.page import Frame, Page, PageBuilder, picture
from forager_playground.picture import render_png
from forager_playground.seeded import pick_distinct
from forager_playground.site import Fate, SitePage, list_page, show
from forager_playground.sites.numbered import read_number
from forager_playground.sites.shop_goods import NOUNS, PRODUCTS_PER_CATEGORY, ProductCatalog
from forager_playground.sites.shop_markup import write_offer
from forager_playground.tree import IndexTree, Node

FRAME = Frame("Copper & Oak", "#7a4a2b", (("/about", "About"), ("/shipping", "Shipping")), "A shop that sells nothing.")
PRODUCTS_PER_PAGE = 6
FAN_OUT = 30
ROBOTS = "User-agent: *\nDisallow: /cart\nDisallow: /checkout\n"
TRACKING_PREFIX = "utm_"


@dataclass(frozen=True, slots=True)
class Shop:
    seed: int
    size: int = 48
    """Products."""
    name: str = "shop"
    robots: str | None = ROBOTS
    traps: tuple[str, ...] = ()
    day: int = 0
    """Prices and stock are those of this day."""

    def pages(self) -> Iterator[SitePage]:
        for target in self._targets():
            path, _, query = target.partition("?")
            page = self.write(path, query)
            assert page is not None
            listed = list_page(target, page, Fate.FORBIDDEN if path == "/cart" else Fate.FETCH)
            yield replace(listed, sells=self.goods.sells(self._product_at(path))) if path.startswith("/p/") else listed

    def answer(self, path: str, query: str) -> Answer:
        if path.startswith("/img/") and path.endswith(".png"):
            product = read_number(path[5:-4], self.size + 1)
            return missing() if product is None else self._serve_image(product)
        page = self.write(path, query)
        return missing() if page is None else show(page)

    def write(self, path: str, query: str) -> Page | None:
        kind, _, rest = path[1:].partition("/")
        parameters = _read_query(query)
        if kind == "c":
            return self._write_category(rest, parameters)
        return None if parameters != {} else self._write_plain(kind, rest, path)

    def _write_plain(self, kind: str, rest: str, path: str) -> Page | None:
        match kind:
            case "p" if (product := read_number(rest.rpartition("-")[2], self.size + 1)) and path == self.path_of(
                product
            ):
                return self._write_product(product)
            case "aisle":
                level, _, place = rest.partition("-")
                node = Node(read_number(level, 99) or 0, (read_number(place, 10**9) or 0) - 1)
                is_inner = 0 < node.level < self._tree.root.level and self._tree.has(node)
                return self._write_aisle(node) if is_inner and path == _aisle_path(node) else None
            case "" if path == "/":
                return self._write_home()
            case "about" | "shipping" | "cart" if not rest:
                return self._write_note(kind)
        return None

    def path_of(self, product: int) -> str:
        return f"/p/{self.goods.name(product).replace(' ', '-')}"

    @property
    def _tree(self) -> IndexTree:
        return IndexTree(-(-self.size // PRODUCTS_PER_CATEGORY), FAN_OUT)

    def _targets(self) -> Iterator[str]:
        yield from ("/", "/about", "/shipping", "/cart")
        for node in self._tree.inner_nodes():
            yield _aisle_path(node)
        for category in range(1, self._tree.leaves + 1):
            path = _category_path(category)
            for page in range(1, self._list_pages(category) + 1):
                yield path + (f"?page={page}" if page > 1 else "")
                yield path + (f"?page={page}&sort=price" if page > 1 else "?sort=price")
            for brand in sorted({self.goods.brand(product) for product in self._products(category)}):
                yield f"{path}?brand={brand}"
        for product in range(1, self.size + 1):
            yield self.path_of(product)

    # Facts about products

    def _products(self, category: int) -> list[int]:
        first = (category - 1) * PRODUCTS_PER_CATEGORY + 1
        return list(range(first, min(first + PRODUCTS_PER_CATEGORY, self.size + 1)))

    def _list_pages(self, category: int) -> int:
        return -(-len(self._products(category)) // PRODUCTS_PER_PAGE)

    @property
    def goods(self) -> ProductCatalog:
        return ProductCatalog(self.seed, self.day)

    def _product_at(self, path: str) -> int:
        return int(path.rpartition("-")[2])

    def _serve_image(self, product: int) -> Answer:
        return Answer(body=render_png(120, 90, self.seed, "shop", product), content_type="image/png")

    # Pages

    def _write_home(self) -> Page:
        sheet = PageBuilder(FRAME, "Everything for a quiet house")
        sheet.description = "Kettles, lamps, chairs and baskets, made up for crawlers to practise on."
        sheet.add_text(*english().paragraphs(1, self.seed, "shop"))
        sheet.add_links(self._list_children(self._tree.root))
        return sheet.finish()

    def _write_aisle(self, node: Node) -> Page:
        sheet = PageBuilder(FRAME, f"Aisle {node.level}.{node.number + 1}")
        sheet.crumb("/", "Home")
        sheet.add_links(self._list_children(node))
        return sheet.finish()

    def _list_children(self, node: Node) -> Iterator[tuple[str, str]]:
        for child in self._tree.children(node):
            if child.level:
                yield _aisle_path(child), f"Aisle {child.level}.{child.number + 1}"
            else:
                yield _category_path(child.number + 1), _category_name(child.number + 1)

    def _write_note(self, kind: str) -> Page:
        sheet = PageBuilder(FRAME, {"about": "About us", "shipping": "Shipping", "cart": "Your cart"}[kind])
        sheet.add_text(*english().paragraphs(2, self.seed, kind))
        return sheet.finish()

    def _write_category(self, rest: str, query: dict[str, str] | None) -> Page | None:
        category = read_number(rest.rpartition("-")[2], self._tree.leaves + 1)
        if category is None or query is None or f"/c/{rest}" != _category_path(category):
            return None
        if "brand" in query:
            return self._write_brand(category, query["brand"]) if len(query) == 1 else None
        page = read_number(query.get("page", "1"), self._list_pages(category) + 1)
        if page is None or set(query) - {"page", "sort"} or query.get("sort", "price") != "price":
            return None
        return self._write_list(category, page, is_by_price="sort" in query)

    def _write_list(self, category: int, page: int, *, is_by_price: bool) -> Page:
        products = self._products(category)
        if is_by_price:
            products.sort(key=lambda product: (float(self.goods.price(product)), product))
        heading = f"{_category_name(category)}{' by price' if is_by_price else ''}, page {page}"
        sheet = PageBuilder(FRAME, heading)
        sheet.crumb("/", "Home")
        sort = "sort=price&" if is_by_price else ""
        sheet.add_links([(_category_path(category), "As they came"), ("?sort=price", "By price")])
        self._add_cards(sheet, products[(page - 1) * PRODUCTS_PER_PAGE : page * PRODUCTS_PER_PAGE])
        self._add_brands(sheet, category)
        for other in range(2, self._list_pages(category) + 1):
            sheet.add(sheet.link(f"?{sort}page={other}&utm_source=pager", f"Page {other}"))
        return sheet.finish()

    def _write_brand(self, category: int, brand: str) -> Page | None:
        products = [product for product in self._products(category) if self.goods.brand(product) == brand]
        if not products:
            return None
        sheet = PageBuilder(FRAME, f"{_category_name(category)} by {brand}")
        sheet.crumb("/", "Home")
        sheet.crumb(f"{_category_path(category)}?utm_campaign=brand", _category_name(category))
        self._add_cards(sheet, products)
        return sheet.finish()

    def _add_brands(self, sheet: PageBuilder, category: int) -> None:
        brands = sorted({self.goods.brand(product) for product in self._products(category)})
        sheet.add_links((f"?brand={brand}", f"Only {brand}") for brand in brands)

    def _add_cards(self, sheet: PageBuilder, products: list[int]) -> None:
        cards = "".join(
            f"<li>{picture(f'/img/{product}.png', self.goods.name(product), 120, 90)} "
            f"{sheet.link(self.path_of(product), self.goods.name(product))} "
            f'<span class="price">€{self.goods.price(product)}</span></li>'
            for product in products
        )
        sheet.add(f'<ul class="cards">{cards}</ul>')

    def _write_product(self, product: int) -> Page:
        category = (product - 1) // PRODUCTS_PER_CATEGORY + 1
        sheet = PageBuilder(FRAME, self.goods.name(product).capitalize())
        sheet.description = english().paragraph(1, self.seed, "product", product)
        sheet.crumb("/", "Home")
        sheet.crumb(_category_path(category), _category_name(category))
        sheet.point("canonical", self.path_of(product))
        sheet.add(picture(f"/img/{product}.png", f"{self.goods.name(product)}, seen from the side", 120, 90))
        write_offer(sheet, self.goods, product)
        sheet.add_text(*english().paragraphs(2, self.seed, "product", product))
        related = pick_distinct(self._products(category), 4, self.seed, "related", product)
        sheet.add_links((self.path_of(other) + "?utm_source=related", self.goods.name(other)) for other in related)
        return sheet.finish()


def _aisle_path(node: Node) -> str:
    return f"/aisle/{node.level}-{node.number + 1}"


def _category_path(category: int) -> str:
    return f"/c/{NOUNS[(category - 1) % len(NOUNS)]}s-{category}"


def _category_name(category: int) -> str:
    return f"{NOUNS[(category - 1) % len(NOUNS)].capitalize()}s {category}"


def _read_query(query: str) -> dict[str, str] | None:
    """Parameters without campaign tags; None when one is given twice."""
    pairs = [pair for pair in parse_qsl(query, keep_blank_values=True) if not pair[0].startswith(TRACKING_PREFIX)]
    return dict(pairs) if len(dict(pairs)) == len(pairs) else None
