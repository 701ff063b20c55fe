"""Converts text to words for a tsvector, and queries in the same way. PostgreSQL's own definition of a word is not
sufficient:

its parser treats everything beyond ASCII as letters where the database's ctype is C, as in the embedded server, so that
“quoted” is a word with its quotes; and it finds no words in scripts without spaces. Here, punctuation becomes spaces,
and runs of such a script become pairs of adjacent characters: 東京都 → 東京 京都. A phrase of pairs matches exactly
where the run occurs.
"""

import re

from forager.parsing.clean import UNSEEN, strip_hidden

# Punctuation and symbols beyond ASCII. Written out: Python's \W matches vowel signs of Indian scripts.
MARKS = re.compile(
    "[\u0080-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u02c2-\u02df\u037e\u0387\u055a-\u055f\u0589\u058a"
    "\u05be\u05c0\u05c3\u05c6\u05f3\u05f4\u0600-\u060f\u061b-\u061f\u066a-\u066d\u06d4\u0964\u0965\u0970\u0e2f\u0e3f\u0e4f\u0e5a\u0e5b"
    "\u0f04-\u0f14\u104a-\u104f\u10fb\u1360-\u1368\u166e\u16eb-\u16ed\u17d4-\u17db\u1800-\u180a"
    "\u2000-\u200b\u2010-\u2070\u20a0-\u20cf\u2190-\u2bff\u2e00-\u2fff\u3000-\u3004\u3008-\u3020\u3030\u303d-\u303f\u30a0\u30fb"
    "\u3200-\u33ff\ufd3e\ufd3f\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\uffe0-\uffff"
    "\U0001f000-\U0001faff]+"
)
JOINERS = re.compile("[\u200c\u200d]")
UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff"  # Myanmar, Khmer
    # Han, kana
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7ff"  # Hangul: it has spaces, but its words end in particles
)
RUN = re.compile(f"[{UNSPACED}]+")
QUOTED = re.compile(r'"[^"]*"?')
LATIN = bytes(ord(" ") if MARKS.match(chr(byte)) else byte for byte in range(256))
"""Latin-1 with punctuation as spaces: enough for most Western pages, and takes a twentieth of the time."""
LATIN_UNSEEN = bytes(byte for byte in range(256) if UNSEEN.match(chr(byte)))


def to_words(text: str) -> str:
    """Returns the input for `to_tsvector`."""
    if text.isascii():
        return text
    try:
        return text.encode("latin-1").translate(LATIN, LATIN_UNSEEN).decode("latin-1")
    except UnicodeEncodeError:
        return RUN.sub(_pairs, _without_marks(text))


def to_query(text: str) -> str:
    """Converts a user's search in the syntax of `websearch_to_tsquery`: a run becomes a phrase of pairs."""
    text = text.replace("<", " ")  # which no page has among its keywords
    if text.isascii():
        return text
    text = re.sub("[\u201c\u201d\u201e\u201f\u300c\u300d\u300e\u300f\uff02]", '"', text)
    pieces = []
    end = 0
    for quoted in QUOTED.finditer(text):
        pieces += [_quote_runs(text[end : quoted.start()]), f'"{to_words(quoted[0].strip(chr(34))).strip()}"']
        end = quoted.end()
    return "".join([*pieces, _quote_runs(text[end:])])


def count_without_spaces(text: str) -> int:
    """Counts characters of scripts without spaces."""
    return 0 if text.isascii() else sum(map(len, RUN.findall(text)))


def _without_marks(text: str) -> str:
    text = strip_hidden(text)
    if "\u200c" in text or "\u200d" in text:
        text = JOINERS.sub("", text)
    return MARKS.sub(" ", text)


def _pairs(run: re.Match[str]) -> str:
    letters = run[0]
    if len(letters) < 2:
        return f" {letters} "
    return f" {' '.join([letters[place : place + 2] for place in range(len(letters) - 1)])} "


def _quote_runs(text: str) -> str:
    return RUN.sub(lambda run: f'"{_pairs(run).strip()}"', _without_marks(text))
