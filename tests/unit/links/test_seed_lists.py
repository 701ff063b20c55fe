"""Lists of seeds as people and rankings write them: which lines are seeds, with which rank, and why others are not."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.seeds.found import MOST_REMEMBERED, BadLine, ReadCounts, Seed
from forager.seeds.lines import LONGEST_LINE, split_lines
from forager.seeds.table import Shape, read_list


def read(text: str | bytes, shape: Shape = "auto") -> list[Seed | BadLine]:
    return list(read_list([text.encode() if isinstance(text, str) else text], shape))


def seeds(text: str | bytes, shape: Shape = "auto") -> list[tuple[str, int | None, int]]:
    return [(found.url, found.rank, found.line) for found in read(text, shape) if isinstance(found, Seed)]


def bad(text: str | bytes, shape: Shape = "auto") -> dict[int, str]:
    return {found.line: found.why for found in read(text, shape) if isinstance(found, BadLine)}


A, B = "https://a.example/", "https://b.example/"


def test_a_plain_list_with_everything_an_editor_may_leave_in_it() -> None:
    text = "\ufeff# mine\r\n\r\n  a.example  \r\n\thttps://b.example/#x\n#b.example\n"
    text += "http://c.example/y # a note\rd.example"
    assert seeds(text) == [
        (A, None, 3),
        (B, None, 4),
        ("http://c.example/y", None, 6),
        ("https://d.example/", None, 7),
    ]
    assert bad(text) == {}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Tranco", "1,a.example\r\n2,b.example\r\n"),
        ("Cisco", "1,a.example\n2,b.example\n"),
        ("quoted", '"1","a.example"\n"2","b.example"\n'),
        ("Majestic", "GlobalRank,TldRank,Domain,TLD,RefSubNets\n1,5,a.example,example,9\n2,6,b.example,example,8\n"),
        ("DomCop", '"Rank","Domain","Open Page Rank"\n"1","a.example","10.00"\n"2","b.example","10.00"\n'),
        ("CrUX", "origin,rank\nhttps://a.example,1\nhttps://b.example,2\n"),
        ("semicolons", "rank;host\n1;a.example\n2;b.example\n"),
        ("tabs", "1\ta.example\n2\tb.example\n"),
        ("rank last", "a.example,1\nb.example,2\n"),
        ("a comment and a gap first", "# list\n\n1,a.example\n\n# more\n2,b.example\n"),
        ("spaces", " 1 , a.example \n 2 , b.example \n"),
    ],
)
def test_rankings(name: str, text: str) -> None:
    assert [(url, rank) for url, rank, _ in seeds(text)] == [(A, 1), (B, 2)], name
    assert bad(text) == {}


@pytest.mark.parametrize(
    "text",
    [
        "url\na.example\nb.example\n",
        "Domain\na.example\nb.example\n",
        '"a.example"\n"b.example"\n',
        "id;URL;note\n7;https://a.example/;x\n8;https://b.example/;y\n",
        "domain,rank\na.example,\nb.example\n",
    ],
)
def test_tables_without_ranks(text: str) -> None:
    assert [(url, rank) for url, rank, _ in seeds(text)] == [(A, None), (B, None)]


def test_the_url_counts_more_than_the_domain_beside_it() -> None:
    assert seeds("domain,url,rank\nb.example,https://a.example/,3\n") == [(A, 3, 2)]


@pytest.mark.parametrize(
    "line", ["https://a.example/x,1", "a.example/x,1", "https://a.example/?q=1,2", "https://a.example/a;b"]
)
def test_a_url_with_commas_is_no_table(line: str) -> None:
    assert len(seeds(f"{line}\n{line}2\n")) == 2


def test_the_good_are_read_and_the_bad_are_named() -> None:
    text = b"1,a.example\nx,c.example\n0,d.example\n3,\n4\n5,not a host\n\xff,e.example\n99999999999,f.example\n"
    text += b"2,b.example\n"
    assert [(url, rank, line) for url, rank, line in seeds(text)] == [(A, 1, 1), (B, 2, 9)]
    assert sorted(bad(text)) == [2, 3, 4, 5, 6, 7, 8]
    assert "rank 'x'" in bad(text)[2]
    assert "is empty" in bad(text)[4]
    assert "no UTF-8 text" in bad(text)[7]


@pytest.mark.parametrize("first", ["garbage here", "1,", "-- export --"])
def test_a_bad_first_line_does_not_hide_what_the_list_is(first: str) -> None:
    assert seeds(f"{first}\n1,a.example\n2,b.example\n") == [(A, 1, 2), (B, 2, 3)]
    assert list(bad(f"{first}\n1,a.example\n")) == [1]


def test_a_quote_that_is_never_closed_costs_one_line() -> None:
    assert [line for _, _, line in seeds('1,a.example\n2,"b.example\n3,c.example\n')] == [1, 2, 3]


def test_a_chosen_format_is_kept() -> None:
    assert list(bad("1,a.example\n", "lines")) == [1]
    assert seeds("x,https://a.example/\n", "csv") == [(A, None, 1)]
    assert seeds("a.example\n", "csv") == [(A, None, 1)]
    assert list(bad("nothing,here\n1,a.example\n", "csv")) == [1]


def test_two_domains_on_a_line_are_not_half_taken() -> None:
    assert list(bad("a.example,b.example\n")) == [1]


def test_utf16_is_told_once() -> None:
    assert list(bad("a.example\nb.example\n".encode("utf-16"))) == [1]
    assert seeds("a.example\n".encode("utf-16")) == []


def test_a_line_without_end_is_one_bad_line_and_no_memory() -> None:
    pieces = [b"a.example\n", *[b"x" * 10_000] * 50, b"\nb.example\n"]
    found = list(read_list(pieces))
    assert [type(item) for item in found] == [Seed, BadLine, Seed]
    assert max(map(len, split_lines(pieces))) <= LONGEST_LINE + 10_002


def test_a_password_is_never_repeated() -> None:
    assert "secret" not in bad("ftp://me:secret@a.example/\n")[1]


def test_a_tally_counts_all_and_remembers_the_first() -> None:
    tally = ReadCounts("list.txt")
    taken = list(tally.seeds_of([BadLine(number, "no.") for number in range(1, 3001)] + [Seed(A)]))
    assert (taken, tally.seeds, tally.bad, tally.lines) == ([Seed(A)], 1, 3000, 3001)
    assert len(tally.remembered) == MOST_REMEMBERED
    assert tally.where(tally.remembered[-1]) == "line 1,000 of list.txt"


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=5), st.sampled_from(["auto", "lines", "csv"]))
def test_where_a_file_is_cut_into_pieces_makes_no_difference(data: bytes, cuts: list[int], shape: Shape) -> None:
    places = [0, *sorted(cuts), len(data)]
    pieces = [data[start:end] for start, end in itertools.pairwise(places)]
    assert list(read_list(pieces, shape)) == list(read_list([data], shape))


ROWS = st.lists(
    st.tuples(st.integers(1, 2**31 - 1), st.from_regex(r"[a-z][a-z0-9]{0,20}\.(com|org|example)", fullmatch=True)),
    min_size=1,
    max_size=20,
)


@given(ROWS, st.sampled_from([",", ";", "\t"]), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans())
def test_any_ranking_comes_back_as_it_was(
    rows: list[tuple[int, str]], delimiter: str, end: str, is_quoted: bool, has_header: bool
) -> None:
    quote = '"' if is_quoted else ""
    lines = [delimiter.join(f"{quote}{cell}{quote}" for cell in row) for row in rows]
    text = end.join([*(["rank" + delimiter + "domain"] if has_header else []), *lines])
    assert [(rank, url) for url, rank, _ in seeds(text)] == [(rank, f"https://{name}/") for rank, name in rows]
