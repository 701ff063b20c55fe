"""Determines the currency of a sign, a word or a code. The page's locale resolves signs that countries share."""

import re
from typing import NamedTuple

CODES = frozenset(
    [
        "AED",
        "AFN",
        "ALL",
        "AMD",
        "ANG",
        "AOA",
        "ARS",
        "AUD",
        "AWG",
        "AZN",
        "BAM",
        "BBD",
        "BDT",
        "BGN",
        "BHD",
        "BIF",
        "BMD",
        "BND",
        "BOB",
        "BRL",
        "BSD",
        "BTN",
        "BWP",
        "BYN",
        "BZD",
        "CAD",
        "CDF",
        "CHF",
        "CLP",
        "CNY",
        "COP",
        "CRC",
        "CUP",
        "CVE",
        "CZK",
        "DJF",
        "DKK",
        "DOP",
        "DZD",
        "EGP",
        "ERN",
        "ETB",
        "EUR",
        "FJD",
        "FKP",
        "GBP",
        "GEL",
        "GHS",
        "GIP",
        "GMD",
        "GNF",
        "GTQ",
        "GYD",
        "HKD",
        "HNL",
        "HRK",
        "HTG",
        "HUF",
        "IDR",
        "ILS",
        "INR",
        "IQD",
        "IRR",
        "ISK",
        "JMD",
        "JOD",
        "JPY",
        "KES",
        "KGS",
        "KHR",
        "KMF",
        "KPW",
        "KRW",
        "KWD",
        "KYD",
        "KZT",
        "LAK",
        "LBP",
        "LKR",
        "LRD",
        "LSL",
        "LYD",
        "MAD",
        "MDL",
        "MGA",
        "MKD",
        "MMK",
        "MNT",
        "MOP",
        "MRU",
        "MUR",
        "MVR",
        "MWK",
        "MXN",
        "MYR",
        "MZN",
        "NAD",
        "NGN",
        "NIO",
        "NOK",
        "NPR",
        "NZD",
        "OMR",
        "PAB",
        "PEN",
        "PGK",
        "PHP",
        "PKR",
        "PLN",
        "PYG",
        "QAR",
        "RON",
        "RSD",
        "RUB",
        "RWF",
        "SAR",
        "SBD",
        "SCR",
        "SDG",
        "SEK",
        "SGD",
        "SHP",
        "SLE",
        "SOS",
        "SRD",
        "SSP",
        "STN",
        "SVC",
        "SYP",
        "SZL",
        "THB",
        "TJS",
        "TMT",
        "TND",
        "TOP",
        "TRY",
        "TTD",
        "TWD",
        "TZS",
        "UAH",
        "UGX",
        "USD",
        "UYU",
        "UZS",
        "VED",
        "VES",
        "VND",
        "VUV",
        "WST",
        "XAF",
        "XCD",
        "XCG",
        "XOF",
        "XPF",
        "YER",
        "ZAR",
        "ZMW",
        "ZWG",
    ]
)
WITHOUT_DECIMALS = frozenset(
    [
        "BIF",
        "CLP",
        "COP",
        "DJF",
        "GNF",
        "HUF",
        "IDR",
        "ISK",
        "IRR",
        "JPY",
        "KMF",
        "KRW",
        "LAK",
        "PYG",
        "RWF",
        "UGX",
        "UZS",
        "VND",
        "VUV",
        "XAF",
        "XOF",
        "XPF",
    ]
)
"""By ISO, or by how prices are written: prices in Colombian pesos have no céntimos."""
THREE_DECIMALS = frozenset(["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"])
COMMA_DECIMALS = frozenset(
    [
        "de",
        "fr",
        "es",
        "it",
        "pt",
        "nl",
        "pl",
        "cs",
        "sk",
        "hu",
        "ro",
        "bg",
        "hr",
        "sl",
        "sr",
        "da",
        "sv",
        "nb",
        "nn",
        "no",
        "fi",
        "is",
        "et",
        "lv",
        "lt",
        "ru",
        "uk",
        "be",
        "el",
        "tr",
        "id",
        "vi",
        "ca",
        "gl",
        "eu",
        "sq",
        "mk",
        "bs",
        "kk",
        "az",
        "ka",
    ]
)
"""Languages with a decimal comma."""
POINT_PLACES = frozenset({"es-mx", "es-us", "es-gt", "es-do", "es-hn", "es-ni", "es-pa", "es-sv", "de-ch", "de-li"})

WORDS = {
    "€": "EUR",
    "eur": "EUR",
    "euro": "EUR",
    "euros": "EUR",
    "ευρώ": "EUR",
    "£": "GBP",
    "₤": "GBP",
    "gbp": "GBP",
    "us$": "USD",
    "u$s": "USD",
    "usd$": "USD",
    "us dollar": "USD",
    "r$": "BRL",
    "c$": "CAD",
    "ca$": "CAD",
    "cad$": "CAD",
    "cdn$": "CAD",
    "j$": "JMD",
    "ja$": "JMD",
    "a$": "AUD",
    "au$": "AUD",
    "nz$": "NZD",
    "hk$": "HKD",
    "nt$": "TWD",
    "ntd": "TWD",
    "s$": "SGD",
    "sg$": "SGD",
    "mx$": "MXN",
    "mxn$": "MXN",
    "ar$": "ARS",
    "clp$": "CLP",
    "col$": "COP",
    "rmb": "CNY",
    "cn¥": "CNY",
    "人民币": "CNY",
    "円": "JPY",
    "jp¥": "JPY",
    "yen": "JPY",
    "₩": "KRW",
    "원": "KRW",
    "₹": "INR",
    "₽": "RUB",
    "руб": "RUB",
    "руб.": "RUB",
    "рублей": "RUB",
    "₴": "UAH",
    "грн": "UAH",
    "грн.": "UAH",
    "₺": "TRY",
    "tl": "TRY",
    "ytl": "TRY",
    "₪": "ILS",
    'ש"ח': "ILS",
    "₫": "VND",
    "đ": "VND",
    "vnđ": "VND",
    "₱": "PHP",
    "₦": "NGN",
    "₸": "KZT",
    "тг": "KZT",
    "₼": "AZN",
    "₾": "GEL",
    "฿": "THB",
    "บาท": "THB",
    "zł": "PLN",
    "zl": "PLN",
    "kč": "CZK",
    "ft": "HUF",
    "lei": "RON",
    "лв": "BGN",
    "лв.": "BGN",
    "chf": "CHF",
    "fr.": "CHF",
    "sfr.": "CHF",
    "sfr": "CHF",
    "rp": "IDR",
    "rp.": "IDR",
    "rm": "MYR",
    "s/": "PEN",
    "s/.": "PEN",
    "bs.": "BOB",
    "gs.": "PYG",
    "₲": "PYG",
    "dh": "MAD",
    "dhs": "AED",
    "د.إ": "AED",
    "درهم": "AED",
    "ر.س": "SAR",
    "ريال": "SAR",
    "ر.س.": "SAR",
    "sr": "SAR",
    "د.ك": "KWD",
    "kd": "KWD",
    "ج.م": "EGP",
    "جنيه": "EGP",
    "le": "EGP",
    "تومان": "IRR",
    "﷼": "IRR",
    "ksh": "KES",
    "kn": "HRK",
    "ден": "MKD",
    "дин": "RSD",
    "rsd": "RSD",
    "дин.": "RSD",
    "br": "BYN",
    "сўм": "UZS",
    "so'm": "UZS",
    "৳": "BDT",
    "tk": "BDT",
    "₡": "CRC",
    "₵": "GHS",
    "₮": "MNT",
    "₭": "LAK",
    "៛": "KHR",
    "֏": "AMD",
    "kr.": "DKK",
    "isk": "ISK",
    "sek": "SEK",
    "nok": "NOK",
    "リラ": "TRY",
    "ドル": "USD",
    "ユーロ": "EUR",
    "圓": "TWD",
    "港幣": "HKD",
    "р.": "RUB",
    "р": "RUB",
}
SHARED = {
    "$": {
        "ca": "CAD",
        "au": "AUD",
        "nz": "NZD",
        "sg": "SGD",
        "hk": "HKD",
        "tw": "TWD",
        "mx": "MXN",
        "ar": "ARS",
        "cl": "CLP",
        "co": "COP",
        "uy": "UYU",
        "us": "USD",
        "jm": "JMD",
        "tt": "TTD",
        "": "USD",
    },
    "kr": {"se": "SEK", "sv": "SEK", "dk": "DKK", "da": "DKK", "no": "NOK", "nb": "NOK", "nn": "NOK", "is": "ISK"},
    "¥": {"jp": "JPY", "ja": "JPY", "cn": "CNY", "zh": "CNY", "": "JPY"},
    "rs": {"in": "INR", "pk": "PKR", "ur": "PKR", "lk": "LKR", "np": "NPR", "mu": "MUR", "": "INR"},
    "r": {"za": "ZAR", "": "ZAR"},
    "元": {"tw": "TWD", "hk": "HKD", "cn": "CNY", "": "CNY"},
}
"""Country or language → currency; the empty key is the guess that is right most often."""
SHARED |= {"rs.": SHARED["rs"], "kr:": SHARED["kr"], ",-": {"cz": "CZK", "cs": "CZK", **SHARED["kr"]}}
SHARED["￥"] = SHARED["¥"]
CLEAR, LIKELY, GUESSED = 1.0, 0.85, 0.6

_WORDS_LONGEST_FIRST = sorted({*WORDS, *SHARED} - {",-"}, key=len, reverse=True)


def _as_pattern(word: str) -> str:
    """Returns the pattern of a word. A word of letters must stand alone: `ft` is not a currency in `gift`. The
    lookbehind comes last: a pattern whose branches begin with plain letters is matched five times as fast."""
    literal = re.escape(word)
    before = rf"(?<![^\W\d_]{literal})" if word[0].isalpha() else ""
    after = r"(?![^\W\d_])" if word[-1].isalpha() else ""
    return literal + before + after


SIGN = re.compile("|".join(map(_as_pattern, _WORDS_LONGEST_FIRST)) + r"|(?<![^\W\d_])[a-z]{3}(?![^\W\d_])")
"""For lower-case text."""


class PageLocale(NamedTuple):
    """The locale of a page: resolves signs that several countries share, and the meaning of a comma."""

    language: str = ""
    """BCP-47 in lower case, or empty."""
    country: str = ""
    """Two letters, from the language's region or the host's top-level domain."""
    currency: str | None = None
    """The currency that the page declares elsewhere."""

    @property
    def is_comma_decimal(self) -> bool:
        if self.language in POINT_PLACES or self.country in {"mx", "ch"}:
            return False
        return self.language.partition("-")[0] in COMMA_DECIMALS

    @property
    def keys(self) -> tuple[str, ...]:
        return self.country, self.language.partition("-")[0]


class Currency(NamedTuple):
    code: str
    confidence: float


def get_locale(url: str, language: str | None, currency: str | None = None) -> PageLocale:
    spoken = (language or "").lower().replace("_", "-")
    region = spoken.rpartition("-")[2] if "-" in spoken else ""
    host = url.partition("://")[2].partition("/")[0].rpartition("@")[2].partition(":")[0]
    ending = host.rpartition(".")[2].lower()
    by_host = {"uk": "gb"}.get(ending, ending) if len(ending) == 2 and ending.isalpha() else ""
    by_host = "" if by_host in {"io", "ai", "me", "tv", "cc", "ly", "to", "eu"} or host.endswith(".co") else by_host
    return PageLocale(spoken, by_host or (region if len(region) == 2 else ""), currency)


def read_currency(text: str, place: PageLocale = PageLocale()) -> Currency | None:  # noqa: B008 (a tuple)
    """Returns the currency of a whole text such as `EUR`, `€` or `US Dollar`."""
    word = text.strip().strip("()[]:").lower()[:20]
    if word.upper() in CODES:
        return Currency(word.upper(), CLEAR)
    if word in WORDS:
        return Currency(WORDS[word], CLEAR)
    return resolve_sign(word, place) if word in SHARED else None


def resolve_sign(sign: str, place: PageLocale) -> Currency | None:
    """Returns the currency of a sign that several countries share."""
    meanings = SHARED[sign]
    if place.currency and place.currency in meanings.values():
        return Currency(place.currency, LIKELY)
    for key in place.keys:
        if key and key in meanings:
            return Currency(meanings[key], LIKELY)
    return Currency(meanings[""], GUESSED) if "" in meanings else None


def decimals_of(code: str | None) -> int:
    return 0 if code in WITHOUT_DECIMALS else 3 if code in THREE_DECIMALS else 2
