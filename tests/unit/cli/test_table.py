import pytest

from forager.cli import table
from forager.cli.table import Cell, compute_widths, number, wrap_column
from forager.domains.commands.sitemaps import COLUMNS as SITEMAPS
from forager.products.commands import COLUMNS as PRODUCTS
from forager.workers.commands.workers import COLUMNS as WORKERS

COLUMNS = [table.Column("status"), number("code"), wrap_column("url"), wrap_column("title")]
ROWS = [[Cell("fetched"), Cell("200"), Cell("http://a.example/" + "x" * 80), Cell("T" * 60)]]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_only_columns_that_may_give_way_are_cut(width: int) -> None:
    widths = compute_widths(COLUMNS, ROWS, width)
    assert widths[:2] == [7, 4]
    assert sum(widths) + table.GAP * 3 <= width


def test_without_a_terminal_nothing_is_cut() -> None:
    assert compute_widths(COLUMNS, ROWS, None) == [7, 4, 97, 60]


def test_a_short_column_leaves_its_share_to_the_other() -> None:
    rows = [[Cell("a"), Cell("1"), Cell("x" * 100), Cell("short")]]
    assert compute_widths(COLUMNS, rows, 80) == [6, 4, 80 - 6 - 4 - 5 - 6, 5]


def test_a_table_in_a_pipe_is_plain_and_aligned(capsys: pytest.CaptureFixture[str]) -> None:
    table.write((wrap_column("name"), number("pages")), [("a.example", Cell("1,204", "red")), ("[bold]日本", "7")])
    assert capsys.readouterr().out.splitlines() == [
        "name        pages",
        "a.example   1,204",
        "[bold]日本      7",
    ]


def test_a_table_without_rows_has_its_titles(capsys: pytest.CaptureFixture[str]) -> None:
    table.write((wrap_column("name"), number("pages")), [])
    assert capsys.readouterr().out == "name  pages\n"


def test_a_note_belongs_to_the_row_above(capsys: pytest.CaptureFixture[str]) -> None:
    table.write(
        (wrap_column("name"), number("pages")),
        [("a.example", "7"), table.Note("  └─ reason: robots"), ("b.example", "8")],
    )
    assert capsys.readouterr().out.splitlines() == [
        "name       pages",
        "a.example      7",
        "  └─ reason: robots",
        "b.example      8",
    ]


def test_a_long_note_is_wrapped_under_its_beginning() -> None:
    lines = table.wrap_text("  └─ " + "some words " * 12, 40, 5).splitlines()
    assert len(lines) > 2
    assert all(len(line) <= 40 for line in lines)
    assert all(line.startswith(("     some", "     words")) for line in lines[1:])


WIDE = [table.Column("status"), table.extra("size"), wrap_column("url"), table.extra(wrap_column("page"), 20)]
WIDE_ROW = [[Cell("fetched"), Cell("12 kB"), Cell("u" * 40), Cell("p" * 90)]]


@pytest.mark.parametrize(
    ("width", "shown"),
    [(40, [0, 2]), (47, [0, 2]), (48, [0, 1, 2]), (69, [0, 1, 2]), (70, [0, 1, 2, 3]), (None, [0, 1, 2, 3])],
)
def test_extra_columns_are_shown_where_they_fit(width: int | None, shown: list[int]) -> None:
    assert table.choose_columns(WIDE, WIDE_ROW, width) == shown


@pytest.mark.parametrize("width", range(70, 200, 7))
def test_an_extra_column_never_makes_a_line_too_long(width: int) -> None:
    widths = compute_widths(WIDE, WIDE_ROW, width)
    assert sum(widths) + table.GAP * 3 <= width
    assert widths[:2] == [7, 5]


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        (SITEMAPS, "https://shop.example/sitemaps/index.xml.gz|robots.txt|sitemap|50,000|49,000|23 m ago|in 23 h"),
        (WORKERS, "1234|123|running|1,000|1,000|–|just now|machine-1.internal.example|123456"),
        (PRODUCTS, "1234|A lamp|shop.example|1,024.00|EUR|▲ 4.3%|out of stock|95%|32 m ago|https://shop.example/p/1"),
    ],
)
def test_lists_fit_into_a_narrow_terminal(columns: list[table.Column | str], row: str) -> None:
    heads = [head if isinstance(head, table.Column) else table.Column(head) for head in columns]
    cells = [Cell(text) for text in row.split("|")]
    shown = table.choose_columns(heads, [cells], 60)
    widths = compute_widths([heads[index] for index in shown], [[cells[index] for index in shown]], 60)
    assert sum(widths) + table.GAP * (len(widths) - 1) <= 60
