"""Pages of random tags in random order: what no person writes and every parser of HTML has a rule for."""

import random
import re

NAMES = """
    a b i p div span table td tr th tbody thead caption col colgroup svg math mi mtext annotation-xml foreignobject
    desc title style script template noscript br hr select option optgroup button input img image xmp textarea li ul
    ol dd dt dl h1 h2 pre listing form nobr font body html frame noframes ruby rb rt rp rtc object applet
    marquee x-y iframe em strong small big u s code tt address center article main details summary dialog menu search
    fieldset legend label area embed wbr keygen link meta base bgsound basefont mglyph malignmark video var sub sup
"""
TAGS = NAMES.split()
ATTRIBUTES = [
    *[""] * 8,
    *(" href=/x", " alt='a  b'", ' class="p &lt; &amp &notit; &copy=1 &copy;"', " type=hidden", " a=1 A=2", " / "),
    *(" encoding=text/html", " color=red", " x y='>' z", "/", " =x", ' q="a\r\nb"', " b=\0c"),
]
TEXTS = [
    *("text", " ", "\n", "&amp;", "&nbsp;", "ж", "12,5 €", "<!-- c -->", "<", "word " * 20, "&#128;", "&#x0;"),
    *("&notin;", "&nGt;", "&am", "\r\n", "<!>", "</>", "<?x>", "</ >", "<![CDATA[x]]>", "<!--><b>-->", "<!--->"),
    *("--!>", "<!doctype html>", "</script ", "\f"),
    "<!DOCTYPE html PUBLIC '-//W3C//DTD HTML 4.01 Transitional//EN'>",
]
LINE_BREAK = re.compile(r"(?<=>)[\r\n]++")


def make_page(chance: random.Random) -> str:
    """Of few kinds of tags each, so that they meet each other. Without a line break at the start of a `pre`: turbohtml
    opens formatting elements for it though it is dropped."""
    tags = chance.sample(TAGS, chance.randint(2, 14))
    pieces = ["<!doctype html>"] if chance.random() < 0.5 else []
    for _ in range(chance.randint(1, 40)):
        kind = chance.random()
        if kind < 0.5:
            pieces.append(f"<{chance.choice(tags)}{chance.choice(ATTRIBUTES)}>")
        elif kind < 0.75:
            pieces.append(f"</{chance.choice(tags)}>")
        else:
            pieces.append(chance.choice(TEXTS))
    return LINE_BREAK.sub("", "".join(pieces))
