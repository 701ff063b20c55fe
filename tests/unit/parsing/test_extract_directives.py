import pytest
from tests.unit.parsing.pages import fetched, reading

from forager.parsing.page import read


@pytest.mark.parametrize(
    ("html", "is_noindex", "is_nofollow"),
    [
        ("<p>x", False, False),
        ("<meta name=robots content='index, follow'>", False, False),
        ("<meta name=ROBOTS content='NoIndex'>", True, False),
        ("<meta name=robots content='noindex,nofollow'>", True, True),
        ("<meta name=robots content='none'>", True, True),
        ("<meta name=forager content='nofollow'>", False, True),
        ("<meta name=googlebot content='noindex'>", False, False),
        ("<meta name=robots content='noindex'><meta name=robots content='nofollow'>", True, True),
        ("<body><div>early end of head</div><meta name=robots content='noindex'>", True, False),
    ],
)
def test_robots_meta(html: str, is_noindex: bool, is_nofollow: bool) -> None:
    page = reading(html)
    assert (page.is_noindex, page.is_nofollow) == (is_noindex, is_nofollow)


@pytest.mark.parametrize(
    ("header", "is_noindex", "is_nofollow"),
    [
        ("noindex", True, False),
        ("noindex, nofollow", True, True),
        ("none", True, True),
        ("forager: noindex", True, False),
        ("otherbot: noindex", False, False),
        ("otherbot: noindex, forager: nofollow", False, True),
        ("Forager: noindex, nofollow", True, True),
        ("unavailable_after: 25 Jun 2030 15:00:00 PST, noindex", True, False),
        ("max-snippet: 20, nofollow", False, True),
        ("", False, False),
    ],
)
def test_x_robots_tag(header: str, is_noindex: bool, is_nofollow: bool) -> None:
    for content_type in ("text/html", "text/plain"):
        page = reading("<p>x", content_type=content_type, x_robots_tag=header)
        assert (page.is_noindex, page.is_nofollow) == (is_noindex, is_nofollow)


def test_the_agents_name_can_be_another() -> None:
    page = read(fetched("<meta name=mybot content=noindex>"), keyword_words=1, robots_agent="MyBot")
    assert page.is_noindex
