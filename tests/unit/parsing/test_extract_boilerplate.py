"""What is cut away around the content, what never is, and that cutting ends soon whatever the page."""

import pytest
from tests.unit.parsing.pages import TEXTS, reading

PROSE = f"<p>{TEXTS['en']}</p>" * 3


def text(html: str) -> str:
    return reading(html).text


@pytest.mark.parametrize(
    "html",
    [
        "<div hidden>{}</div>",
        "<section aria-hidden=true>{}</section>",
        "<div style='color: red; display : none'>{}</div>",
        "<noscript>{}</noscript>",
        "<template>{}</template>",
        "<svg><text>{}</text></svg>",
        "<button>{}</button>",
        "<select><option>{}</select>",
        "<dialog open>{}</dialog>",
        "<form>{}</form>",
        "<div role=navigation>{}</div>",
        '<div class="gdpr-cookieBanner">{}</div>',
        '<ul class="breadcrumbs">{}</ul>',
        '<div id="disqus_thread">{}</div>',
        '<div class="post__share">{}</div>',
    ],
)
@pytest.mark.parametrize("around", ["{}", "<main>{}</main>", "<article>{}</article>", "<div id=content>{}</div>"])
def test_boilerplate_is_cut(html: str, around: str) -> None:
    found = text(around.format(PROSE + html.format("Something else")) + "<footer>Imprint</footer>")
    assert "lighthouse" in found
    assert "Something else" not in found
    assert "Imprint" not in found


@pytest.mark.parametrize(
    "html",
    [
        '<div class="page has-sidebar">{}</div>',
        '<div class="post-12 tag-cookies category-ads">{}</div>',
        '<div class="modal-page"><h1>T</h1>{}</div>',
        '<div class="newsletter"><main>{}</main></div>',
        "<form>{}" + "<p>and more of it</p>" * 50 + "</form>",
        "<body style='display:none'><h1>T</h1>{}",
        '<div class="elementor-widget elementor-widget-text-editor">{}</div>',
        "<main></main><div>{}</div>",
        "<article>teaser</article><div>{}</div>",
        "<nav>{}</nav>",
        '<div class="comments">{}</div>',
    ],
)
def test_content_is_never_cut(html: str) -> None:
    assert "lighthouse" in text(html.format(PROSE))


def test_an_article_beside_teasers_is_the_content() -> None:
    teasers = "<article><h3>Other</h3><p>Teaser of another</p></article>" * 5
    found = text(f"<main><article><h1>T</h1>{PROSE * 3}</article>{teasers}</main>")
    assert "lighthouse" in found
    assert "Teaser" not in found
    assert text(f"<main>{teasers}</main>").count("Teaser") == 5


def test_headings_are_those_of_the_content() -> None:
    page = reading(
        f"<h1>Title</h1><div class=cookie-banner><h2>We value you</h2></div>{PROSE}<aside><h2>More</h2></aside>"
    )
    assert page.headings == "Title"


def test_a_review_is_not_what_the_page_is_about() -> None:
    review = f"<section class=opinions><article>{PROSE}</article></section>"
    found = text(f"<main><h1>Kettle</h1><p>{'It boils water. ' * 30}</p>{review}</main>")
    assert "boils water" in found


def test_a_restaurants_menu_is_content() -> None:
    dishes = "".join(f"<li>Soup number {n} with bread and butter</li>" for n in range(20))
    links = "".join(f"<li><a href=/{n}>Chapter {n} of our handbook</a></li>" for n in range(20))
    assert "Soup" in text(f"<h1>Dinner</h1><div class=menu><ul>{dishes}</ul></div>{PROSE}")
    assert "Chapter" not in text(f"<h1>Dinner</h1><div class=menu><ul>{links}</ul></div>{PROSE}")


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "html",
    [
        "".join(f"<div class='share x{n}'>a</div>" for n in range(18_000)),
        "<div class=share><form>a" * 4_000,
        "<header>" * 4_500 + "x",
        "<article>word " * 4_500,
        "".join(f"<div class='{'nav-' * 40}{n}'>" for n in range(400)) + "x",
        "<div class='" + "a-" * 40_000 + "'>x</div>",
        "<h1>x</h1>" * 5_000 + "<div id=content>" * 4_000,
    ],
)
def test_pages_made_of_boilerplate_are_read_soon(html: str) -> None:
    assert reading("<title>T</title>" + html).title is not None
