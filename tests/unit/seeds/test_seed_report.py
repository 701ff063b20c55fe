"""What is told about lists of seeds."""

from forager.seeds.commands.report import SeedProgress, as_documents, bad_lines, sum_up
from forager.seeds.found import BadLine, ReadCounts, Seed
from forager.seeds.service import Loaded


def a_tally(good: int, bad: int, unit: str = "line") -> ReadCounts:
    tally = ReadCounts("top.csv", unit)
    for number in range(1, bad + 1):
        tally.take(BadLine(number, f"no \x1b[31m{number}."))
    for _ in range(good):
        tally.take(Seed("https://a.example/"))
    return tally


def test_the_first_twenty_bad_lines_and_how_many_more() -> None:
    lines = bad_lines([a_tally(1, 15), a_tally(1, 1500, "entry")])
    assert len(lines) == 21
    assert lines[0].startswith("line 1 of top.csv: no ")
    assert lines[15].startswith("entry 1 of top.csv: ")
    assert lines[-1] == "and 1,495 more"
    assert not any("\x1b" in line for line in lines)
    assert bad_lines([a_tally(1, 0)]) == []
    assert len(bad_lines([a_tally(0, 20)])) == 20


def test_the_sum() -> None:
    lines = sum_up(Loaded(seeds=1000, new_domains=1, new_pages=900), [a_tally(1000, 2)], 10.0)
    assert lines == [
        "1,002 lines read in 10 s (100/s)",
        "          1  new domain",
        "        900  new pages",
        "        100  pages known before, or named twice",
        "          2  bad lines",
    ]


def test_documents_for_a_program() -> None:
    assert as_documents([a_tally(1, 1, "entry")]) == [{"list": "top.csv", "entry": 1, "why": "no \x1b[31m1."}]


def test_a_line_per_ten_seconds_is_enough() -> None:
    now = [100.0]
    meter = SeedProgress(lambda: now[0])
    said = []
    for second in range(40):
        now[0] = 100.0 + second
        if meter.is_line_due():
            said.append(meter.sentence(second * 1000))
    assert said == [
        "loading seeds: 10,000 (1,000/s)",
        "loading seeds: 20,000 (1,000/s)",
        "loading seeds: 30,000 (1,000/s)",
    ]
