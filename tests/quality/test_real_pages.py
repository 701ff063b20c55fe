"""Reading real pages: each is parsed as it is, and what they say is found as often as ever. Floors may only rise."""

import pytest
from tests.quality.real_pages import Figures, load_floors, measure, real_pages

from forager.parsing.charset import to_text
from forager.parsing.tree import bounded


@pytest.mark.timeout(120)
def test_every_real_page_is_parsed_as_it_is() -> None:
    changed = [name for name, body in real_pages() if bounded(text := to_text(body, "text/html")[0]) is not text]
    assert changed == []


@pytest.fixture(scope="module")
def figures() -> Figures:
    return measure()


@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", load_floors())
def test_a_field_is_right_as_often_as_ever(figures: Figures, name: str) -> None:
    figure, floor = figures[name], load_floors()[name]
    assert figure.score >= floor, f"{name} fell to {figure.score:.4f}, below {floor}:\n" + "\n".join(figure.misses[:50])
