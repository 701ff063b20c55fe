"""Reading real pages: none of them looks hostile, and what they say is found as often as ever. Floors may only rise."""

import pytest
from tests.quality.real_pages import Figures, load_floors, measure, real_pages

from forager.extract.charset import to_utf8
from forager.extract.hostile import may_stall, nests_links
from forager.extract.tree import parse


@pytest.mark.timeout(120)
def test_no_real_page_is_read_the_sanitising_way() -> None:
    names = []
    for name, body in real_pages():
        page, _ = to_utf8(body, "text/html")
        tree = parse(page)
        tree.sort()
        if may_stall(page) or nests_links(tree):
            names.append(name)
        tree.forget()
    assert names == []


@pytest.fixture(scope="module")
def figures() -> Figures:
    return measure()


@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", load_floors())
def test_a_field_is_right_as_often_as_ever(figures: Figures, name: str) -> None:
    figure, floor = figures[name], load_floors()[name]
    assert figure.score >= floor, f"{name} fell to {figure.score:.4f}, below {floor}:\n" + "\n".join(figure.misses[:50])
