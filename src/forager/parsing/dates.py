"""Parses dates as pages and feeds write them into UTC times and the calendar day the page means.

Returns None for invalid dates and for dates outside the plausible range.
"""

import re
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import NamedTuple

EARLIEST, LATEST = 1970, 2100
LONGEST = 60
LONGEST_TEXT = 200
PARTS = re.compile(
    r"\s*(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2})(?:[T\s]+(\d{1,2}):(\d{2})(?::(\d{2}))?)?)?(?!\d)|(\d{4})年(\d{1,2})月(\d{1,2})日"
)
COMPACT = re.compile(r"\s*((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?:T?\d{4,6})?Z?\s*\Z")
STAMP = re.compile(r"\s*(1\d{9})(?:\d{3})?\s*\Z")
IN_PATH = re.compile(r"/((?:19|20)\d\d)[/-](0[1-9]|1[0-2])[/-](0[1-9]|[12]\d|3[01])(?=[/-])")
DAY_FIRST = re.compile(
    r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|[.ºª])?\s*(?:de\s|of\s|d[’'])?\s*-?([^\W\d_]{3,12})\.?,?-?\s*(?:de[l]?\s)?\s*((?:19|20)\d\d)(?!\d)"
)
MONTH_FIRST = re.compile(r"(?<!\w)([^\W\d_]{3,12})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+((?:19|20)\d\d)(?!\d)")
NUMBERS = re.compile(r"(?<![\d.])(\d{1,2})([./-])\s?(\d{1,2})\2\s?((?:19|20)\d\d)(?!\d)")
ISO = re.compile(
    r"(?<!\d)((?:19|20)\d\d)[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)|((?:19|20)\d\d)\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일]"
)
MONTH_NAMES = """
january jan januar jänner janvier janv enero ene gennaio gen janeiro januari styczeń stycznia sty январь января янв ocak oca
 leden ledna tammikuu ianuarie januára január січня ιανουαρίου ιαν
february feb februar feber février févr fév febrero febbraio febr fevereiro fev februari luty lutego lut февраль февраля фев
 şubat şub únor února helmikuu februarie február februára лютого φεβρουαρίου φεβ
march mar märz mrz maerz mars marzo março maart mrt marzec marca март марта мар mart březen března maaliskuu martie
 március березня μαρτίου
april apr avril avr abril abr aprile kwiecień kwietnia kwi апрель апреля апр nisan nis duben dubna huhtikuu aprilie április квітня απριλίου
may mai mayo maggio mag maio mei maj maja май мая mayıs květen května toukokuu május травня μαΐου
june jun juni juin junio giugno giu junho czerwiec czerwca cze июнь июня июн haziran haz červen června kesäkuu iunie június червня ιουνίου
july jul juli juillet juil julio luglio lug julho lipiec lipca lip июль июля июл temmuz tem červenec července heinäkuu iulie július липня ιουλίου
august aug août aout agosto ago augustus sierpień sierpnia sie август августа авг ağustos ağu augusti srpen srpna elokuu augusztus серпня αυγούστου
september sep sept septembre septiembre set settembre setembro wrzesień września wrz сентябрь сентября сен сент eylül eyl
 září syyskuu septembrie szeptember вересня σεπτεμβρίου
october oct oktober okt octobre octubre ottobre ott outubro out październik października paź октябрь октября окт ekim eki
 říjen října lokakuu octombrie október жовтня οκτωβρίου
november nov novembre noviembre novembro listopad listopada lis ноябрь ноября ноя нояб kasım kas listopadu marraskuu noiembrie листопада νοεμβρίου
december dec dezember dez décembre déc diciembre dic dicembre dezembro desember des grudzień grudnia gru декабрь декабря дек
 aralık ara prosinec prosince joulukuu decembrie грудня δεκεμβρίου
"""  # noqa: E501
"""A line per month with its names and short names in the languages of most pages; a leading space continues a line."""
MONTHS = {
    name: number
    for number, names in enumerate(MONTH_NAMES.strip().replace("\n ", " ").split("\n"), 1)
    for name in names.split()
}


class PageDate(NamedTuple):
    at: datetime
    """In UTC; midnight for a day without a time."""
    on: date
    """The day in the page's own time zone."""


def parse_date(text: str) -> datetime | None:
    moment = parse_datetime(text)
    return moment.at if moment else None


def parse_lastmod(text: str) -> datetime | None:
    """Parses the `lastmod` of a sitemap, in which a year alone is allowed too."""
    return parse_date(f"{text}-01-01" if len(text) == 4 and text.isascii() and text.isdigit() else text)


@lru_cache(maxsize=1024)
def parse_datetime(text: str) -> PageDate | None:
    """Parses ISO 8601 in its variants, RFC 822 as in feeds, `2024/3/5 10:00` and similar. Without a zone: UTC."""
    text = text.strip()[:LONGEST]
    return (
        _read(datetime.fromisoformat, text)
        or _read(_from_parts, text)
        or _read(_from_rfc822, text)
        or _read(_from_stamp, text)
        or find_day(text)
    )


@lru_cache(maxsize=1024)
def find_day(text: str) -> PageDate | None:
    """Finds a day within visible text: `Published 5 March 2024`, `5. März 2024`, `05.03.2024`, `2024年3月5日`."""
    text = text[:LONGEST_TEXT]
    if match := ISO.search(text):
        year, month, day = (int(part) for part in match.groups() if part)
        return _day(year, month, day)
    lowered = text.lower()
    for pattern, of_day, of_month in ((DAY_FIRST, 1, 2), (MONTH_FIRST, 2, 1)):
        for match in pattern.finditer(lowered):
            if number := MONTHS.get(match[of_month]):
                return _day(int(match[3]), number, int(match[of_day]))
    if match := NUMBERS.search(text):
        return _from_numbers(int(match[1]), match[2], int(match[3]), int(match[4]))
    return None


def date_in_path(url: str) -> PageDate | None:
    """Finds a date in the path: `/2024/03/05/…`, as in blogs and newspapers."""
    match = IN_PATH.search(url)
    return parse_datetime("-".join(match.groups())) if match else None


def _day(year: int, month: int, day: int) -> PageDate | None:
    return _read(lambda _: datetime(year, month, day), "")  # noqa: DTZ001 (_read gives it one)


def _from_numbers(first: int, sign: str, second: int, year: int) -> PageDate | None:
    """Builds a date from numbers. With dots the day comes first; else only if one of the two cannot be a month."""
    if sign == "." or first > 12 or first == second:
        return _day(year, second, first)
    return _day(year, first, second) if second > 12 else None


def _read(read: object, text: str) -> PageDate | None:
    try:
        moment: datetime | None = read(text)  # type: ignore[operator]
        if moment is None:
            return None
        at = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
    return PageDate(at, moment.date()) if EARLIEST <= at.year <= LATEST else None


def _from_parts(text: str) -> datetime | None:
    match = PARTS.match(text) or COMPACT.match(text)
    if match is None:
        return None
    numbers = [int(part) for part in match.groups() if part is not None]
    return datetime(*(numbers + [1] * (3 - len(numbers))))  # type: ignore[arg-type]  # noqa: DTZ001 (_read gives it one)


def _from_rfc822(text: str) -> datetime | None:
    return parsedate_to_datetime(text) if "," in text or ":" in text else None


def _from_stamp(text: str) -> datetime | None:
    """Parses a timestamp in seconds or milliseconds, as scripts write it."""
    match = STAMP.match(text)
    return datetime.fromtimestamp(int(match[1]), UTC) if match else None
