"""How one site writes its markup: class names, indentation, addresses of pictures, icons."""

from dataclasses import dataclass
from functools import cache

from forager_playground.seeded import Draws
from forager_playground.sites.lifelike.code import make_hash, make_name

ROLES = (
    "menu", "item", "link", "card", "media", "title", "meta", "text", "wrap", "row", "column", "widget", "sidebar",
    "footer", "header", "button", "share", "comment", "tag", "price", "author", "date", "gallery", "field", "icon",
)  # fmt: skip
PARTS = ("inner", "body", "label", "list", "content", "group", "main", "top", "image", "info", "container", "section")
STATES = ("active", "large", "primary", "dark", "has-image", "is-sticky", "compact", "featured")
UTILITIES = (
    "flex", "items-center", "justify-between", "px-4", "py-2", "mt-6", "text-sm", "font-semibold", "rounded-lg",
    "bg-white", "grid", "gap-4", "md:grid-cols-3", "lg:w-1/3", "hover:underline", "relative", "w-full", "hidden",
)  # fmt: skip
INDENTS = ("", "    ", " " * 12, "\t" * 6, " " * 24, " " * 32)
CHOICES = 60
ICONS = 240


@dataclass(frozen=True, slots=True)
class Dialect:
    classes: dict[str, tuple[str, ...]]
    """What the `class` attribute of an element in that role may say."""
    line: str
    """Between two elements."""
    images: str
    icons: tuple[str, ...]
    """What the `d` attribute of a path may say."""

    def name(self, draws: Draws, role: str) -> str:
        written = draws.pick(self.classes[role])
        return f"{written} {role}-{draws.below(90_000)}" if draws.chance(0.2) else written


@cache
def make_dialect(seed: int, site: int) -> Dialect:
    draws = Draws(seed, "dialect", site)
    prefix, style = make_name(draws, 1), site % 4
    classes = {role: tuple(_class(draws, style, prefix, role) for _ in range(CHOICES)) for role in ROLES}
    line = "\n" + draws.pick(INDENTS)
    return Dialect(classes, line, f"https://img.{make_name(draws)}.example/media", make_icons(seed))


def _class(draws: Draws, style: int, prefix: str, role: str) -> str:
    part, state = draws.pick(PARTS), draws.pick(STATES)
    if style == 0:
        block = f"{prefix}-{role}__{part}"
        return f"{block} {block}--{state}" if draws.chance(0.4) else block
    if style == 1:
        return " ".join(draws.some(UTILITIES, draws.between(1, 5)))
    if style == 2:
        return f"{role.capitalize()}_{part}__{make_hash(draws, 5)}" + (f" css-{make_hash(draws, 7)}" * draws.below(2))
    return f"{role} {role}-{part}" + (f" {role}-type-{make_name(draws, 2)} {state}" if draws.chance(0.5) else "")


@cache
def make_icons(seed: int) -> tuple[str, ...]:
    draws = Draws(seed, "icons")
    return tuple(_path(draws, 3 + int(100 * draws.share() ** 2.2)) for _ in range(ICONS))


def _path(draws: Draws, curves: int) -> str:
    steps = (f"{draws.pick('cslhvCS')}{_length(draws)}-{_length(draws)},{_length(draws)}" for _ in range(curves))
    return f"M{draws.below(24)} {draws.below(24)}{''.join(steps)}z"


def _length(draws: Draws) -> str:
    return f"{draws.below(2400) / 100:g}"
