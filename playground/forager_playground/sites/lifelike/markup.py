"""The body of a page: menus, cards, pictures, icons, paragraphs, forms, comments, nested as deep as on real pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from forager_playground.seeded import Draws
from forager_playground.sites.lifelike.code import make_hash, make_name
from forager_playground.sites.lifelike.dialect import Dialect
from forager_playground.sites.lifelike.makeup import PageKind, PageProfile
from forager_playground.sites.lifelike.structured import Subject
from forager_playground.sites.lifelike.words import Words

SMALL_PICTURES = ("thumb", "avatar", "icon", "small", "mini", "logo-small", "placeholder")
WIDTHS = (320, 480, 640, 768, 1024, 1280, 1536)
NO_PAGES = ("#", "#", "#main", "#comments", "javascript:void(0)", "mailto:post@press.example", "tel:+4930123456")
FIELDS = ("text", "hidden", "email", "checkbox")
PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"


@dataclass(frozen=True, slots=True)
class Hrefs:
    """Where the links of one page lead."""

    menu: Sequence[str]
    cards: Sequence[str]
    """Two links each: picture and heading."""
    lists: Sequence[str]
    outside: int
    """How many lead to other sites."""
    nowhere: int
    """How many lead to no page: fragments, scripts, mail addresses."""


class Body:
    """Renders one page; every method returns HTML."""

    def __init__(self, draws: Draws, dialect: Dialect, words: Words, makeup: PageProfile, subject: Subject) -> None:
        self._draws = draws
        self._dialect = dialect
        self._words = words
        self._makeup = makeup
        self._subject = subject
        self._images_left = makeup.images
        self._icons_left = makeup.icons

    def render(self, hrefs: Hrefs, *, scripts: str) -> str:
        line = self._dialect.line
        aside = self._nest("sidebar", 2, self._list(hrefs.lists) + self._form(self._makeup.fields // 2))
        main = self._nest("wrap", 5, self._article() + self._nest("row", 3, "".join(map(self._card, hrefs.cards))))
        parts = [
            self._nest("header", 2, self._menu(hrefs.menu)),
            self._nest("row", 2, main + aside),
            self._nest("footer", 2, self._footer(hrefs)),
            self._rest(),
            scripts,
        ]
        return line.join(parts)

    def outside(self) -> str:
        draws = self._draws
        host = f"https://www.{make_name(draws, 4)}.example"
        tail = f"?utm_source={make_name(draws, 2)}&amp;utm_medium=link" if draws.chance(0.15) else ""
        return f"{host}/{make_name(draws, 3)}/{make_name(draws, 4)}-{make_name(draws, 3)}-{make_name(draws, 4)}{tail}"

    def _nest(self, role: str, levels: int, inside: str) -> str:
        """In `levels` more divs; about a third of the pages go one deeper."""
        for _ in range(levels + self._draws.chance(0.35)):
            inside = f"{self._open('div', role)}{self._dialect.line}{inside}{self._dialect.line}</div>"
        return inside

    def _open(self, tag: str, role: str, more: str = "") -> str:
        draws = self._draws
        attributes = f' class="{self._dialect.name(draws, role)}"' if draws.chance(0.85) else ""
        if draws.chance(0.1):
            attributes += f' id="{role}-{make_name(draws, 2)}-{draws.below(9999)}"'
        if draws.chance(0.06):
            attributes += f' style="margin-top:{draws.below(60)}px;background:{self._background()}"'
        if draws.chance(0.11):
            attributes += self._data()
        return f"{self._dialect.line if draws.chance(0.8) else ''}<{tag}{attributes}{more}>"

    def _background(self) -> str:
        """A colour, or now and then a picture: about one a page."""
        draws = self._draws
        if draws.chance(0.03):
            return f"url({self._dialect.images}/{make_name(draws, 4)}-{make_hash(draws, 8)}.jpg)"
        return f"#{make_hash(draws, 6)}"

    def _wrap(self, tag: str, role: str, inside: str) -> str:
        return f"{self._open(tag, role)}{inside}</{tag}>"

    def _data(self) -> str:
        draws = self._draws
        if draws.chance(0.2):
            names = [make_name(draws, 2) for _ in range(draws.between(6, 40))]
            pairs = ",".join(f'"{name}":{draws.below(999)}' for name in names)
            return f" data-settings='{{{pairs}}}'" if draws.chance(0.85) else f' data-props="{{{escape(pairs)}}}"'
        return f' data-{make_name(draws, 2)}="{make_name(draws, 3)}-{draws.below(9999)}"'

    def _link(self, href: str, inside: str, role: str = "link") -> str:
        draws, more = self._draws, f' href="{href}"'
        if draws.chance(0.22):
            more += f' title="{self._words.label(draws, 4)}"'
        if href.startswith("https"):
            more += ' target="_blank" rel="noopener nofollow"' if draws.chance(0.5) else ' rel="noopener"'
        if draws.chance(0.05):
            more += f" onclick=\"{make_name(draws)}('{make_name(draws)}',{{id:{draws.below(9999)}}});return true\""
        return f"{self._open('a', role, more)}{inside}</a>"

    def _menu(self, hrefs: Sequence[str]) -> str:
        items = []
        for href in hrefs:
            label = self._words.label(self._draws, 1)
            inside = f"{self._wrap('span', 'text', label)}<i></i>" if self._draws.chance(0.4) else label
            items.append(self._wrap("li", "item", self._link(href, inside)))
        groups = [items[start : start + 9] for start in range(0, len(items), 9)]
        lists = [self._nest("menu", 1, self._wrap("ul", "menu", "".join(group))) for group in groups]
        return f"<nav>{self._icon()}{self._form(1)}{''.join(lists)}</nav>"

    def _list(self, hrefs: Sequence[str]) -> str:
        draws, items = self._draws, []
        for href in hrefs:
            date = f"{draws.between(1, 28)}.{draws.between(1, 12)}.2025"
            link = self._link(href, self._words.label(draws, 4))
            items.append(self._wrap("li", "item", f"{link}{self._wrap('span', 'date', date)}"))
        return f"<h4>{self._words.label(draws)}</h4>{self._wrap('ul', 'widget', ''.join(items))}"

    def _card(self, href: str) -> str:
        draws, words = self._draws, self._words
        picture = self._link(href, self._image() if self._images_left > 0 else self._icon(), "media")
        title = self._link(href, words.label(draws, draws.between(3, 8)), "title")
        author = self._wrap("span", "author", words.label(draws))
        text = self._wrap("p", "text", words.text(draws, 1)) if draws.chance(0.25) else ""
        price = self._wrap("span", "price", self._price()) if self._makeup.kind is PageKind.PRODUCT else ""
        button = (
            f'<button type="button" aria-label="{words.label(draws, 1)}"{self._data()}><i class="icon"></i></button>'
        )
        share = self._nest("share", 1, f"{self._icon()}{button if draws.chance(0.3) else ''}")
        inner = (
            self._nest("media", 2, picture)
            + self._nest("text", 1, f"<h3>{title}</h3>{self._wrap('span', 'meta', self._icon() + author)}{text}{price}")
            + share
        )
        return self._wrap("article" if draws.chance(0.2) else "div", "card", inner)

    def _price(self) -> str:
        return f"{self._draws.between(3, 400)}.{self._draws.between(10, 99)} {self._subject.currency}"

    def _article(self) -> str:
        draws, line, subject, blocks = self._draws, self._dialect.line, self._subject, []
        for number in range(self._makeup.paragraphs):
            if number % 6 == 5:
                blocks.append(f"<h2>{self._words.label(draws, draws.between(2, 6))}</h2>")
            blocks.append(self._paragraph())
            if self._images_left > 0 and draws.chance(0.22):
                caption = f"<figcaption>{self._words.label(draws, 6)}</figcaption>"
                blocks.append(self._wrap("figure", "media", self._image() + caption))
        day = f'<time datetime="{subject.published_at}">{subject.published_at[:10]}</time>'
        lead = self._wrap("div", "meta", f'<a rel="author" href="#author">{subject.author}</a> {day}')
        lead = lead if draws.chance(0.6) else ""
        blocks.append(self._table())
        return f"<article>{line}<h1>{subject.title}</h1>{line}{lead}{self._offer()}{line}{line.join(blocks)}</article>"

    def _paragraph(self) -> str:
        draws = self._draws
        if draws.chance(0.3):
            return f"<p>{self._words.label(draws, draws.between(1, 6))}</p>"
        text = self._words.text(draws, draws.between(1, 6))
        if draws.chance(0.3):
            first, space, rest = text.partition(" ")
            text = f"<strong>{first}</strong>{space}{rest}"
        opened = self._open("p", "text") if draws.chance(0.2) else "<p>"
        return f"{opened}{text}{'<br>' if draws.chance(0.3) else ''}</p>"

    def _table(self) -> str:
        """Facts of a product or a recipe; elsewhere now and then."""
        draws = self._draws
        if not draws.chance(0.7 if self._makeup.kind in {PageKind.PRODUCT, PageKind.RECIPE} else 0.15):
            return ""
        rows = [
            f"<tr><td>{self._words.label(draws, 1)}</td>{self._wrap('td', 'text', self._words.label(draws))}</tr>"
            for _ in range(draws.between(5, 60))
        ]
        return f"<table><tbody>{self._dialect.line.join(rows)}</tbody></table>"

    def _offer(self) -> str:
        if self._makeup.kind is not PageKind.PRODUCT:
            return ""
        price, currency = self._subject.price, self._subject.currency
        return (
            f'<div itemscope itemtype="https://schema.org/Offer"{self._data()}>'
            f'<span itemprop="price" content="{price}">{price}</span>'
            f'<meta itemprop="priceCurrency" content="{currency}">'
            '<link itemprop="availability" href="https://schema.org/InStock">'
            '<form action="/cart/add" method="post" class="cart"><input type="number" name="quantity" value="1">'
            '<button type="submit" name="add-to-cart" value="1">'
            f"{self._words.label(self._draws, 2)}</button></form></div>"
        )

    def _image(self) -> str:
        draws = self._draws
        self._images_left -= 1
        folder = f"{self._dialect.images}/{draws.between(2015, 2026)}/{draws.between(1, 12):02}"
        name = f"{draws.pick(SMALL_PICTURES)}-{make_name(draws, 4)}" if draws.chance(0.18) else make_name(draws, 6)
        base = f"{folder}/{name}-{make_hash(draws, 12)}"
        width, height = draws.pick(WIDTHS), draws.between(120, 900)
        more = f' alt="{self._words.label(draws, draws.below(9)) if draws.chance(0.75) else ""}"'
        more += f' width="{width}" height="{height}"' if draws.chance(0.55) else ""
        sizes = ", ".join(f"{base}-{size}x{size * 2 // 3}.jpg {size}w" for size in WIDTHS[: draws.between(4, 7)])
        is_lazy, has_set = draws.chance(0.36), draws.chance(0.3)
        if is_lazy and draws.chance(0.5):
            more += f' src="{PIXEL}" data-src="{base}.jpg"' + (f' data-srcset="{sizes}"' if has_set else "")
        else:
            more += f' src="{base}-{width}x{height}.jpg"'
            more += f' srcset="{sizes}" sizes="(max-width: {width}px) 100vw"' if has_set else ""
            more += ' loading="lazy" decoding="async"' if is_lazy else ""
        return self._open("img", "media", more)

    def _icon(self) -> str:
        if self._icons_left <= 0:
            return ""
        draws = self._draws
        self._icons_left -= 1
        name, colour, path = self._dialect.name(draws, "icon"), make_hash(draws, 6), draws.pick(self._dialect.icons)
        return (
            f'<svg class="{name}" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true"'
            f' xmlns="http://www.w3.org/2000/svg"><path fill="#{colour}" d="{path}"/></svg>'
        )

    def _form(self, fields: int) -> str:
        if not fields:
            return ""
        draws, inputs = self._draws, []
        for number in range(fields):
            attributes = f'id="f{number}" name="{make_name(draws)}" value="{make_hash(draws, 10)}"'
            inputs.append(f'<label for="f{number}">{self._words.label(draws, 1)}</label>')
            inputs.append(self._open("input", "field", f' type="{draws.pick(FIELDS)}" {attributes}'))
        options = [f'<option value="{n}">{self._words.label(draws, 1)}</option>' for n in range(draws.below(30))]
        choice = f'<select name="{make_name(draws)}">{"".join(options)}</select>' if fields > 2 else ""
        button = '<button type="submit" aria-label="go"></button>'
        return f'<form action="/search" method="get" role="search">{"".join(inputs)}{choice}{button}</form>'

    def _footer(self, hrefs: Hrefs) -> str:
        draws = self._draws
        targets = [self.outside() for _ in range(hrefs.outside)] + [draws.pick(NO_PAGES) for _ in range(hrefs.nowhere)]
        items = [
            self._wrap("li", "item", self._link(href, self._icon() or self._words.label(draws, 2))) for href in targets
        ]
        columns = [
            self._nest("column", 1, f"<ul>{''.join(items[start : start + 8])}</ul>")
            for start in range(0, len(items), 8)
        ]
        return "".join(columns) + f"<p>© 2026 {self._subject.site_name}</p>"

    def _rest(self) -> str:
        """Comments, icons that no link took, frames, what is for browsers without scripts."""
        draws = self._draws
        parts = [
            f"<!-- {make_name(draws)}: {make_name(draws, 10)} {make_hash(draws)} {make_name(draws, 7)} -->"
            for _ in range(self._makeup.comments)
        ]
        while self._icons_left > 0:
            parts.append(self._icon())
        if draws.chance(0.45):
            frame = f"https://tag.{make_name(draws)}.example/ns.html?id={make_hash(draws)}"
            parts.append(
                f'<noscript><iframe src="{frame}" height="0" width="0"></iframe></noscript>' * draws.between(1, 4)
            )
        return "".join(parts)
