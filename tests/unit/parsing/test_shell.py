"""Which plain pages wait for their scripts: shapes of real frameworks, and short pages that mean to be short."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import a_fetched

from forager.parsing.page import read
from forager.parsing.shell import waits_for_scripts

WORDS = "The harbour lies in the north of the town, and boats leave for the islands every morning at eight. " * 4
SHELLS = {
    "create-react-app": "<title>App</title><body><noscript>You need to enable JavaScript.</noscript>"
    '<div id="root"></div><script src="/static/js/main.js"></script>',
    "vite": '<title>Vite</title><body><div id="app"></div><script type="module" src="/src/main.js"></script>',
    "vue with a comment": "<body><div id=app><!-- built files here --></div><script src=/js/app.js></script>",
    "next without a server": '<body><div id="__next"></div><script src="/_next/static/chunks/main.js" defer></script>',
    "nuxt": '<body><div id="__nuxt"></div><script>window.__NUXT__={}</script>',
    "angular": '<title>Shop</title><body><app-root></app-root><script src="main.js" type="module"></script>',
    "loading": '<body><div id="root"><div class="spinner"></div>Loading…</div><script src="/app.js"></script>',
    "no words at all": '<title>x</title><body><canvas></canvas><script src="/app.js"></script>',
    "a banner beside": '<body><p>We use cookies to be better.</p><div id="app"></div><script src=a.js></script>',
    "asks for it": "<body><p>Welcome</p><noscript>Turn on JavaScript.</noscript><script src=a.js></script>",
}
PLAIN = {
    "short and static": "<title>Hi</title><body><h1>Hello</h1><p>This page is short.</p>",
    "short with analytics": '<body><h1>Closed</h1><p>We are on holiday until May.</p><script src="/stats.js"></script>',
    "short with a tracking pixel for others": "<body><h1>Soon</h1><p>Opening in June.</p><script>track()</script>"
    '<noscript><img src="/pixel.gif"></noscript>',
    "rendered by its server": f'<body><div id="__next"><p>{WORDS}</p></div><script src="/main.js"></script>',
    "a list of links": '<body><div id="root">'
    + "".join(f'<a href="/{n}">{n}</a>' for n in range(9))
    + "</div><script></script>",
    "long with an empty root": f'<body><p>{WORDS}</p><div id="app"></div><script src="/w.js"></script>',
    "empty": "<body></body>",
    "a login": '<body><div id="root"></div><form><input type=password></form><script src=a.js></script>',
}


def decide(html: str, content_type: str = "text/html") -> bool:
    fetched = a_fetched(200, html.encode(), "https://site.example/", content_type=content_type)
    return waits_for_scripts(fetched, read(fetched, keyword_words=50))


@pytest.mark.parametrize("name", SHELLS)
def test_shells_wait_for_their_scripts(name: str) -> None:
    assert decide(SHELLS[name])


@pytest.mark.parametrize("name", PLAIN)
def test_plain_pages_are_left_alone(name: str) -> None:
    assert not decide(PLAIN[name])


def test_only_html_can_be_a_shell() -> None:
    assert not decide('<div id="root"></div><script></script>', "application/json")


@given(st.text(alphabet="<>/= \"'idrootapnscx-!", max_size=300))
def test_any_bytes_get_an_answer(html: str) -> None:
    assert decide(html) in {True, False}


@pytest.mark.parametrize("brick", ["<noscript>", '<div id="root" ', "<a-root ", "<!--", "id=app ", "<script "])
def test_hostile_pages_cost_no_time(brick: str) -> None:
    """A pattern that went wrong would not end before the test's time limit."""
    fetched = a_fetched(
        200, b"<script></script>" + brick.encode() * 300_000, "https://site.example/", content_type="text/html"
    )
    reading = read(a_fetched(200, b"<p>short", "https://site.example/", content_type="text/html"), keyword_words=5)
    assert waits_for_scripts(fetched, reading) in {True, False}
