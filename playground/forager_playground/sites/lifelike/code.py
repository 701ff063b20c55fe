"""Scripts and styles as they stand inside real pages: statements, settings, state as JSON, minified rules.

Made once for a seed, in pieces of some hundred bytes; a page takes neighbouring pieces until it is large enough.
"""

import json
from functools import cache
from typing import Any

from forager_playground.seeded import Draws

PIECES = 2000
SYLLABLES = (
    "ad", "ba", "car", "con", "data", "el", "fer", "gro", "id", "in", "ka", "li", "log", "ma", "nav", "on", "pro", "qu",
    "ra", "set", "sta", "tag", "ti", "tra", "up", "val", "ver", "vi", "web", "zo",
)  # fmt: skip
EVENTS = ("click", "load", "scroll", "resize", "DOMContentLoaded", "submit", "visibilitychange", "touchstart")
UNITS = ("px", "rem", "em", "%", "vh")
PROPERTIES = (
    "margin", "padding", "width", "height", "max-width", "font-size", "line-height", "top", "left", "border-radius",
    "letter-spacing", "flex-basis", "gap",
)  # fmt: skip
KEYWORDS = (
    "display:flex", "display:none", "position:relative", "position:absolute", "overflow:hidden", "float:left",
    "text-decoration:none", "align-items:center", "justify-content:space-between", "text-transform:uppercase",
    "background-repeat:no-repeat", "box-sizing:border-box", "cursor:pointer", "white-space:nowrap", "font-weight:700",
)  # fmt: skip


def make_name(draws: Draws, syllables: int = 3) -> str:
    """Some syllables more often than others, as real names repeat their parts and compress accordingly."""
    return "".join([SYLLABLES[int(len(SYLLABLES) * draws.share() ** 2)] for _ in range(syllables)])


def known(draws: Draws) -> str:
    """A name of the few that make up most of a program."""
    return NAMES[int(len(NAMES) * draws.share() ** 2)]


def make_hash(draws: Draws, length: int = 8) -> str:
    return f"{draws.below(1 << 4 * length):0{length}x}"


NAMES = tuple(make_name(Draws("names", number), 1 + number % 3) for number in range(160))
COLOURS = (
    "#fff",
    "#000",
    "#333",
    "#f5f5f5",
    "inherit",
    "transparent",
    "#1a73e8",
    "#767676",
    "var(--wp--preset--color)",
)


@cache
def script_pieces(seed: int) -> tuple[str, ...]:
    draws = Draws(seed, "scripts")
    return tuple(draws.pick(STATEMENTS)(draws) for _ in range(PIECES))


@cache
def style_pieces(seed: int) -> tuple[str, ...]:
    draws = Draws(seed, "styles")
    return tuple(_make_rules(draws) for _ in range(PIECES))


def _function(draws: Draws) -> str:
    name, one, two = known(draws), known(draws), known(draws)
    return (
        f"function {name}({one},{two}){{var n=document.getElementById('{known(draws)}');if(n&&{one}<{two}.length){{"
        f"for(var i=0;i<{two}.length;i++){{n.setAttribute('data-{known(draws)}',{two}[i].{known(draws)});}}"
        f"n.classList.add('{known(draws)}-{known(draws)}')}}return {one}||null}}\n"
    )


def _listener(draws: Draws) -> str:
    return (
        f"window.addEventListener('{draws.pick(EVENTS)}',function(e){{try{{{known(draws)}.push(['{known(draws)}',"
        f"'{make_hash(draws)}',{draws.below(9000)}]);}}catch(t){{console.log(t)}}}},!1);"
        f'if(typeof {known(draws)}==="undefined"){{var {known(draws)}={{}};}}\n'
    )


def _settings(draws: Draws) -> str:
    content = {known(draws): _value(draws, 0) for _ in range(draws.between(3, 8))}
    return f"var {known(draws)}_params = {json.dumps(content)};\n"


def _markup(draws: Draws) -> str:
    return (
        f'document.write(\'<div class="{known(draws)}" id="{known(draws)}-{draws.below(900)}"><a href="#">'
        f"{known(draws)}<\\/a><\\/div>');"
        f'{known(draws)}.innerHTML+="<span>"+{known(draws)}+"<\\/span>";\n'
    )


def _minified(draws: Draws) -> str:
    parts = [
        f"{draws.pick('abcdefghijklmnoprstuw')}.{known(draws)}=function(t,e){{return t.{known(draws)}"
        f"({draws.below(400)},e)&&!{draws.pick('nrio')}[e]?t:void 0}}"
        for _ in range(draws.between(3, 9))
    ]
    return "!function(t,e,n){" + ",".join(parts) + "}(window,document);\n"


def _queue(draws: Draws) -> str:
    return (
        "window.dataLayer=window.dataLayer||[];dataLayer.push("
        + json.dumps({"event": known(draws), "pageType": known(draws), "id": draws.below(10**6)})
        + ");(function(d,s,id){var js,f=d.getElementsByTagName(s)[0];if(d.getElementById(id))return;"
        "js=d.createElement(s);"
        f"js.async=1;js.src='https://cdn.{known(draws)}.example/{make_hash(draws)}.js';f.parentNode.insertBefore(js,f)"
        f"}})(document,'script','{known(draws)}-jssdk');\n"
    )


def _product_script(draws: Draws) -> str:
    """Prices and carts stand in the scripts of many pages that sell nothing themselves."""
    goods = [
        {"item_id": draws.below(10**6), "item_name": known(draws), "price": draws.below(90_000) / 100, "quantity": 1}
        for _ in range(draws.between(1, 4))
    ]
    content = {"currency": "EUR", "cart_url": f"/{known(draws)}/cart", "add_to_cart": known(draws), "items": goods}
    return f"window.{known(draws)}_settings={json.dumps(content)};\n"


STATEMENTS = (_function, _listener, _settings, _markup, _minified, _minified, _queue, _product_script)


def make_state(draws: Draws, size: int) -> str:
    """What a framework leaves in the page for its own start: JSON, nested."""
    content: dict[str, Any] = {"page": known(draws), "buildId": make_hash(draws, 12), "props": {}}
    length = 80
    while length < size:
        part = {known(draws): _value(draws, 0) for _ in range(6)}
        content["props"][known(draws)] = part
        length += 420
    return json.dumps(content, separators=(",", ":"))


def _value(draws: Draws, depth: int) -> Any:
    roll = draws.below(10 if depth < 2 else 7)
    if roll < 3:
        return " ".join(known(draws) for _ in range(draws.between(1, 5)))
    if roll < 5:
        return draws.below(100_000)
    if roll == 5:
        return draws.chance(0.5)
    if roll == 6:
        return f"https://static.{known(draws)}.example/{make_hash(draws)}/{known(draws)}.webp"
    if roll == 7:
        return [_value(draws, depth + 1) for _ in range(draws.between(1, 4))]
    return {known(draws): _value(draws, depth + 1) for _ in range(draws.between(1, 5))}


def _make_rules(draws: Draws) -> str:
    rules = []
    for _ in range(draws.between(2, 5)):
        selector = f".{known(draws)}-{known(draws)}"
        if draws.chance(0.4):
            selector += f" .{known(draws)}{draws.pick((':hover', '>a', '::before', ' li', ''))}"
        rules.append(f"{selector}{{{';'.join(_declaration(draws) for _ in range(draws.between(2, 5)))}}}")
    wrapped = "".join(rules)
    return f"@media (max-width:{draws.between(320, 1400)}px){{{wrapped}}}\n" if draws.chance(0.2) else wrapped + "\n"


def _declaration(draws: Draws) -> str:
    roll = draws.below(3)
    if roll == 0:
        return draws.pick(KEYWORDS)
    if roll == 1:
        return f"{draws.pick(PROPERTIES)}:{draws.below(80)}{draws.pick(UNITS)}"
    return f"{draws.pick(('color', 'background-color', 'border-color'))}:{draws.pick(COLOURS)}"
