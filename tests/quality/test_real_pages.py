"""Reading real pages: none of them looks hostile."""

import pytest
from tests.quality.real_pages import real_pages

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
