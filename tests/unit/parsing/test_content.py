"""Which part of a page is its text: written pages of the kinds that real ones are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.parsing.pages import TEXTS

from forager.parsing import compiled
from forager.parsing.text import take_content
from forager.parsing.tree import parse
from forager.parsing.tree_types import Tree

STORY = "".join(f"<p>{text}</p>" for language, text in TEXTS.items() if language in {"en", "de", "fr", "es"})
OTHER = "<p>Somebody else thinks that none of this is true, and has been writing so for as long as we remember.</p>"
MENU = "<ul>" + "".join(f"<li><a href=/{name}>Section {name}</a></li>" for name in "abcdefgh") + "</ul>"


def text(html: str) -> str:
    return take_content(parse(html))[0]


def lines(html: str) -> list[str]:
    return text(html).split("\n")


def test_a_line_for_each_block() -> None:
    assert lines("<h1>One</h1><p>two <b>three</b><br>four<ul><li>five<li>six</ul>") == [
        "One",
        "two three",
        "four",
        "five",
        "six",
    ]


@pytest.mark.parametrize("name", ["sidebar", "widget", "newsletter", "popup", "footer", "related-posts", "share"])
def test_a_named_block_with_most_paragraphs_is_content(name: str) -> None:
    assert "lighthouse" in text(f"<div class={name}>{STORY}</div><div>Some other words</div>")


@pytest.mark.parametrize("name", ["section--ads", "live-comment", "card-promo"])
def test_blocks_of_one_name_that_hold_most_paragraphs_together_are_content(name: str) -> None:
    sections = "".join(f"<section class={name}><div class={name}-body>{line}</div></section>" for line in [STORY] * 5)
    found = text(f"<h1>Test</h1>{sections}<p>Words.</p>")
    assert found.count("lighthouse") == 5


@pytest.mark.parametrize("name", ["sidebar", "widget-area", "newsletter", "related", "share"])
def test_a_named_block_beside_the_paragraphs_is_not(name: str) -> None:
    assert "else" not in text(f"<div>{STORY}</div><div class={name}>{OTHER}</div>")


def test_what_is_folded_is_shown() -> None:
    folded = f'<div class="tab-pane" style="display:none">{STORY}</div>'
    found = text(f"<h1>Kettle</h1><p>{'It boils water. ' * 80}</p>{folded}<div style='display:none'>{OTHER}</div>")
    assert "lighthouse" in found
    assert "else" not in found


def test_what_a_script_will_show_is_content() -> None:
    assert "lighthouse" in text(f"<div style='visibility: hidden'>{STORY}</div><p>Loading</p>")


def test_comments_are_content_where_there_is_nothing_else() -> None:
    thread = "".join(f"<div class=comment>{OTHER}</div>" for _ in range(20))
    assert "else" not in text(f"<div>{STORY}</div><div id=comments>{thread}</div>")
    assert "else" in text(f"<div id=comments>{thread}</div>")
    assert "else" in text(f"<h1>Is it true?</h1>{thread}")


def test_a_question_for_consent_is_never_content() -> None:
    asking = f"<div class=cookie-consent>{'<p>We and our partners store what you do here, for ever.</p>' * 30}</div>"
    article = "<h2>Kettle</h2><ul>" + "<li>steel, one litre</li>" * 20 + "</ul>"
    assert "partners" not in text(f"<div>{article}</div>{asking}")
    assert "lighthouse" in text(f"<div class=cookies-accepted>{STORY}</div>")


def test_the_narrowest_named_block_with_most_paragraphs_is_the_content() -> None:
    page = f"<article><h1>T</h1><div class=intro>By Jo</div><div class=entry-content>{STORY}</div>{OTHER}</article>"
    assert lines(page)[0].startswith("The old lighthouse")
    assert "else" not in text(page)


def test_content_in_several_blocks_of_one_name_is_whole() -> None:
    parts = "".join(f"<div><div class='story-body part-{n}'>{STORY if n == 1 else OTHER}</div></div>" for n in range(2))
    found = text(f"<article><h1>T</h1>{parts}</article>")
    assert "else" in found
    assert "lighthouse" in found


def test_a_list_of_ingredients_beside_the_method_is_content() -> None:
    ingredients = "<ul>" + "".join(f"<li>{n} cups of flour and salt</li>" for n in range(12)) + "</ul>"
    page = f"<main><h1>Bread</h1><aside class=sidebar>{ingredients}</aside><div class=method>{STORY}</div></main>"
    assert "12 cups" not in text(page)
    assert "11 cups" in text(page)
    assert "Section" not in text(page.replace(ingredients, MENU))


def test_links_among_paragraphs_are_left_out() -> None:
    assert "Section" not in text(f"<article><h1>T</h1>{STORY}<div>{MENU}{MENU}</div>{STORY}</article>")
    assert "see Section a" in text(f"<article><h1>T</h1>{STORY}<p>see <a href=/a>Section a</a></p></article>")


def test_a_page_of_links_keeps_them() -> None:
    assert "Section a" in text(f"<h1>Index</h1><div>{MENU}{MENU}{MENU}</div>")


def test_a_section_named_by_its_heading_is_content() -> None:
    section = f'<div class="section" id="sharing-changes-with-other-people">{OTHER}</div>'
    assert "else" in text(f"<div class=content>{STORY}{section}</div>")


def test_a_logo_is_no_headline() -> None:
    banner = "<div class=topbar><h1>Acme News</h1><span>Weather today: rain, later more of it</span></div>"
    assert "Weather" not in text(f"{banner}<div><h1>Boats</h1>{STORY}</div>")
    assert take_content(parse(f"{banner}<div>{STORY}</div>"))[1] == "Acme News"


@pytest.mark.parametrize(
    "html",
    [
        "<p>Hi",
        "Hi",
        "<nav>Hi</nav>",
        "<div hidden>Hi</div>",
        "<form><label>Hi</label></form>",
        "<table><tr><td>Hi</table>",
        "<noscript><div>Hi</div></noscript>",
        "<div class=cookie-bar>Hi</div>",
        "<aside><a href=/>Hi</a></aside>",
    ],
)
def test_what_a_page_shows_is_never_nothing(html: str) -> None:
    assert text(html) == "Hi"


@pytest.mark.parametrize("language", ["ja", "zh", "ko", "ar", "ru"])
def test_other_scripts_are_weighed_alike(language: str) -> None:
    story = f"<p>{TEXTS[language]}</p>" * 4
    found = text(f"<nav>{MENU}</nav><div><div class=x>{MENU}</div><div class=article-content>{story}</div></div>")
    assert found == "\n".join([TEXTS[language]] * 4)


def test_an_empty_page_has_no_text() -> None:
    assert take_content(parse(""))[:2] == ("", "")


BLOCK = st.sampled_from(
    ["div", "section", "article", "main", "aside", "nav", "header", "ul", "p", "h1", "h2", "span", "form", "table"]
)
NAME = st.sampled_from(
    ["", " class=sidebar", " class=content", " class=comments", " hidden", " id=cookie", " role=main"]
)
WORDS = st.lists(st.sampled_from(["alpha", "beta", "gamma", TEXTS["en"], TEXTS["zh"]]), max_size=4).map(" ".join)
PAGES = st.recursive(
    WORDS,
    lambda inner: st.lists(
        st.tuples(BLOCK, NAME, inner).map(lambda part: f"<{part[0]}{part[1]}>{part[2]}</{part[0]}>"), max_size=5
    ).map("".join),
    max_leaves=30,
)


@given(PAGES)
def test_the_text_is_a_part_of_what_is_shown_in_its_order(html: str) -> None:
    tree = parse(html)
    letters = iter("".join(tree.text(0).split()))
    found = take_content(tree).text
    assert all(letter in letters for letter in "".join(found.split()))
    assert bool(found) == bool(tree.text(0))
    assert "\n\n" not in found


@given(PAGES)
def test_it_is_the_same_each_time_and_without_a_compiler(html: str) -> None:
    with compiled.left_out():
        expected = take_content(parse(html))
    assert take_content(parse(html)) == expected == take_content(parse(html))


class Counted:
    """A tree that counts what it is asked, with as many as each answer has."""

    def __init__(self, tree: Tree) -> None:
        self._tree, self.count = tree, 0

    def __len__(self) -> int:
        return len(self._tree)

    def __getattr__(self, name: str) -> object:
        def ask(*given: object) -> object:
            answer = getattr(self._tree, name)(*given)
            self.count += 1 + (len(answer) if isinstance(answer, list) else 0)
            return answer

        return ask


@pytest.mark.parametrize(
    "block",
    [
        "<div class=share>a</div>",
        "<div class=share>",
        "<article><header>a",
        "<article class=content>word ",
        "<article class=content>word</article>",
        "<h1>x</h1><div id=content>",
        "<section class=comments><p hidden>a",
        f"<div class=ads><p>{TEXTS['en']}</p></div>",
        f"<main><aside class=sidebar>{TEXTS['en']}",
        "<h1>a</h1>",
        "<div><p>x</p>",
    ],
)
def test_the_work_grows_with_the_page(block: str) -> None:
    def work(blocks: int) -> int:
        tree = Counted(parse(block * blocks))
        take_content(tree)  # type: ignore[arg-type]
        return tree.count

    assert work(800) <= work(100) * 12 + 1000
