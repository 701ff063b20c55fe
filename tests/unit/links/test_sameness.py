"""Pages of one template that bring nothing new, and calendars: when they become a trap, and when they never do."""

import random

from hypothesis import given
from hypothesis import strategies as st
from tests.builders import a_reading

from forager.links.repetition import (
    BUDGET,
    CALENDAR,
    KEPT_FROM,
    MOST_MARKS,
    MOST_TEMPLATES,
    NEW_PAGE,
    SAME,
    WIDE_FACTOR,
    TrapCandidate,
    TrapCounters,
    mark_of,
)

A = "https://a.example"
MOST = 50


def a_memory() -> TrapCounters:
    return TrapCounters(most_same=MOST, most_calendar=30)


def mark(number: int) -> int:
    """Of a page that says something else than any other."""
    return random.Random(number).getrandbits(64)


def tell(memory: TrapCounters, *pages: tuple[str, int | None]) -> list[TrapCandidate]:
    return [seen for path, mark in pages for seen in memory.note(A + path, mark)]


def traps(seen: list[TrapCandidate]) -> list[tuple[str, str, int]]:
    return [(each.rule, each.template.removeprefix(A), each.pages) for each in seen if each.is_trap]


def test_so_many_pages_that_bring_nothing_new_make_a_trap() -> None:
    pages = [(f"/same/{n}", 7) for n in range(200)]
    assert traps(tell(a_memory(), *pages[:MOST])) == []
    assert traps(tell(a_memory(), *pages)) == [(SAME, "/same/{n}", MOST)]


def test_nearly_the_same_is_the_same_under_one_template() -> None:
    pages = [(f"/same/{n}", 2**40 + (1 << n % 3)) for n in range(60)]
    assert traps(tell(a_memory(), *pages)) == [(SAME, "/same/{n}", MOST)]


def test_pages_that_differ_are_no_trap_however_many() -> None:
    assert tell(a_memory(), *[(f"/p/{n}", mark(n)) for n in range(3000)]) == []


def test_pages_with_too_little_text_are_no_trap() -> None:
    assert tell(a_memory(), *[(f"/p/{n}", None) for n in range(500)]) == []


@given(st.integers(0, 9))
def test_a_template_of_which_one_page_in_ten_is_new_is_no_trap(place: int) -> None:
    pages = [(f"/p/{n}", mark(n) if n % 10 == place else 7) for n in range(1000)]
    assert traps(tell(a_memory(), *pages)) == []


def test_a_few_new_pages_among_many_only_delay_it() -> None:
    pages = [(f"/p/{n}", mark(n) if n % 25 == 0 else 7) for n in range(1000)]
    assert traps(tell(a_memory(), *pages)) == [(SAME, "/p/{n}", MOST)]


def test_the_same_pages_under_another_address_are_the_trap_and_not_the_pages() -> None:
    """Also where the copy of each page is found first."""
    copies = [(f"/p/{n}?visit={n}", mark(n)) for n in range(100)]
    pages = [(f"/p/{n}", mark(n)) for n in range(100)]
    again = [(f"/p/{n % 100}?visit={n}", mark(n % 100)) for n in range(1000)]
    assert traps(tell(a_memory(), *copies, *pages, *again)) == [(SAME, "/p/{n}?visit", MOST)]


def test_words_that_differ_need_the_wide_template_and_more_pages() -> None:
    words = [f"{a}{b}{c}" for a in "abcdefgh" for b in "abcdefgh" for c in "abcdefgh"]
    seen = tell(a_memory(), *[(f"/gone/{word}", 7) for word in words])
    assert traps(seen) == [(SAME, "/gone/…", MOST * WIDE_FACTOR)]


def test_of_a_template_with_a_budget_only_so_many_pages_are_taken_although_each_is_new() -> None:
    pages = [(f"/item/{n}", mark(n)) for n in range(100)]
    memory = a_memory()
    assert traps(tell(memory, *pages[:50])) == []
    memory.allow(20)
    assert traps(tell(memory, *pages[50:])) == [(BUDGET, "/item/{n}", 20)]


def test_pages_with_addresses_of_their_own_have_no_budget_in_common() -> None:
    memory = a_memory()
    memory.allow(2)
    assert traps(tell(memory, *((f"/about/{word}", mark(n)) for n, word in enumerate("abcdefgh")))) == []


def test_of_a_calendar_only_so_many_pages_are_taken_although_each_is_new() -> None:
    pages = [(f"/calendar/{2000 + n // 12}/{n % 12 + 1}", mark(n)) for n in range(100)]
    assert traps(tell(a_memory(), *pages)) == [(CALENDAR, "/calendar/{n}/{n}", 30)]


def test_a_trap_is_told_once_and_what_is_settled_is_not_counted() -> None:
    memory = a_memory()
    memory.settle([(SAME, f"{A}/same/{{n}}")])
    assert tell(memory, *[(f"/same/{n}", 7) for n in range(500)]) == []


def test_a_suspect_is_written_down_now_and_then() -> None:
    seen = tell(a_memory(), *[(f"/same/{n}", 7) for n in range(35)])
    narrow = [each.pages for each in seen if each.template.endswith("{n}")]
    assert narrow == [KEPT_FROM, 2 * KEPT_FROM, 3 * KEPT_FROM]


def test_a_successor_goes_on_from_what_was_written_down() -> None:
    memory = a_memory()
    memory.recall({(SAME, f"{A}/same/{{n}}"): MOST - 2})
    assert traps(tell(memory, ("/same/1", 7), ("/same/2", 7), ("/same/3", 7))) == [(SAME, "/same/{n}", MOST)]


def test_a_suspect_that_proves_harmless_is_forgotten() -> None:
    memory = a_memory()
    place = SAME, f"{A}/p/{{n}}"
    memory.recall({place: NEW_PAGE + 5})
    seen = tell(memory, ("/p/1", 7), ("/p/2", mark(1)), ("/p/3", mark(2)))
    assert [(each.pages, each.is_trap) for each in seen if (each.rule, each.template) == place] == [
        (5, False),
        (0, False),
    ]


def test_its_memory_has_an_end() -> None:
    memory = a_memory()
    tell(memory, *[(f"/{'x' * (n % 7)}{n}a/b{n}", mark(n)) for n in range(MOST_MARKS + 500)])
    assert len(memory) <= MOST_MARKS
    words = [f"/{a}{b}{c}/{d}" for a in "abcdefghij" for b in "abcdefghij" for c in "abcdefghij" for d in "xyz"]
    tell(memory, *[(word, 7) for word in words])
    assert len(memory._lasts) <= MOST_TEMPLATES
    assert len(memory._counts) <= 2 * MOST_TEMPLATES


def test_a_page_with_a_name_of_its_own_is_a_page_of_its_own() -> None:
    marks = {
        mark_of(a_reading(simhash=1, title=title, headings=headings))
        for title, headings in (("A", "x"), ("B", "x"), ("A", "y"))
    }
    assert len(marks) == 3
    assert mark_of(a_reading(simhash=1, headings="x")) == mark_of(a_reading(simhash=1, headings="x", text="other"))
    assert mark_of(a_reading(simhash=None, headings="x")) is None


def test_a_page_without_headings_is_the_same_only_where_all_of_it_is() -> None:
    one, other = (a_reading(simhash=1, headings="", content_hash=bytes([n]) * 16) for n in (1, 2))
    assert mark_of(one) != mark_of(other)
    assert mark_of(one) == mark_of(a_reading(simhash=2, headings="", content_hash=bytes([1]) * 16))
