"""What counts as a run, who crawls how much, and how the result is shown."""

from dataclasses import replace
from pathlib import Path

import pytest
from bench.__main__ import read_arguments
from bench.calibrate import Pair, show_calibration
from bench.compare import Comparison, Part
from bench.figures import judge_comparison
from bench.ledger import Ledger
from bench.parts import choose_entrants
from bench.report import show_comparison
from bench.roster import CEILING, FORAGER, ROSTER, SAME_WORK, SCRAPY, Entrant
from bench.run import Job, Run, Skipped, find_problem
from bench.web import LIFELIKE, PLAIN, SAVED, Web, WebSite

URLS = frozenset(f"http://127.0.2.1/p/{number}" for number in range(40))
JOB = Job(("http://127.0.2.1/",), URLS, 10, ("127.0.2.1",), Path(), 1.0)
RUN = Run(FORAGER, 40, 100.0, 1.0, 2.0, 2_000.0, 500.0, 300.0, 200.0, 240.0)


def entrant(name: str) -> Entrant:
    return next(entrant for entrant in ROSTER if entrant.crawler == name)


def read_all(urls: frozenset[str] = URLS) -> Ledger:
    return Ledger(sorted(urls), titles=len(urls), descriptions=len(urls), links=100)


def test_a_whole_run_has_no_problem() -> None:
    assert find_problem(JOB, read_all()) is None


@pytest.mark.parametrize(
    ("ledger", "problem"),
    [
        (read_all(URLS - {min(URLS)}), "missed 1 of 40"),
        (read_all(URLS | {"http://127.0.2.1/x"}), "nobody asked for"),
        (Ledger([*URLS, min(URLS)], 41, 41, 100), "twice"),
        (replace(read_all(), titles=39), "39 titles"),
        (replace(read_all(), links=9), "9 of at least 10 links"),
    ],
)
def test_a_run_that_did_not_do_the_work_is_invalid(ledger: Ledger, problem: str) -> None:
    assert problem in str(find_problem(JOB, ledger))


def test_of_saved_pages_a_few_may_be_missed_and_titles_may_be_absent() -> None:
    job = replace(JOB, is_exact=False)
    some = sorted(URLS)
    assert find_problem(job, Ledger(some[2:])) is None
    assert "missed 3 of 40" in str(find_problem(job, Ledger(some[3:])))


def test_a_crawler_that_reads_no_titles_is_held_to_its_pages_only() -> None:
    assert find_problem(JOB, Ledger(sorted(URLS)), reads_titles=False) is None


def make_web(sites: int, pages: int) -> Web:
    return Web(
        1,
        tuple(
            WebSite(f"http://127.0.2.{n}/", f"127.0.2.{n}", frozenset(f"{n}/{page}" for page in range(pages)), 1)
            for n in range(1, sites + 1)
        ),
        LIFELIKE,
    )


def test_peers_get_some_sites_slow_ones_one_and_forager_all() -> None:
    web, part = make_web(20, 10), Part(peer_sites=4)
    assert [len(part.choose(web, entrant(name))) for name in (FORAGER, SCRAPY, SAME_WORK)] == [20, 4, 1]


def test_a_limit_takes_sites_away_but_never_all() -> None:
    web = make_web(20, 10)
    assert len(Part(4, limit=35).choose(web, entrant(FORAGER))) == 3
    assert len(Part(4, limit=5).choose(web, entrant(FORAGER))) == 1


def test_the_table_shows_every_crawler_with_what_it_stores() -> None:
    peer = replace(RUN, crawler=SCRAPY, pages_per_s=20.0, postgres_us=None, own_us=9_000.0)
    comparison = Comparison(LIFELIKE, [RUN, peer], [Skipped("spider-rs", "no npm")], ["Crawlee: missed"])
    text = show_comparison(comparison, ROSTER, is_markdown=True)
    assert "The lifelike web:" in text
    assert "| 40 | 100 | 1.00 × | 2.50 | 0.50 | 240 | 1.0 |" in text
    assert "| 40 | 20 | 5.00 × | 9.00 | – | 240 | 1.0 |" in text
    assert "Skipped: spider-rs: no npm" in text
    assert "INVALID: Crawlee: missed" in text


def test_figures_are_those_of_the_web() -> None:
    middles = {FORAGER: RUN, SCRAPY: replace(RUN, pages_per_s=20.0), CEILING: replace(RUN, pages_per_s=150.0)}
    real = {figure.what: figure for figure in judge_comparison(LIFELIKE, middles)}
    assert real[f"lifelike: Forager, 1 worker, against {SCRAPY}"].is_reached
    assert real["lifelike: CPU of a page, PostgreSQL included"].value == 2.5
    assert real["lifelike: Forager, 1 worker, of the ceiling"].is_reached
    plain = {figure.what: figure for figure in judge_comparison(PLAIN, middles)}
    assert not plain[f"plain: Forager, 1 worker, against {SCRAPY}"].is_reached


def test_ledgers_of_two_processes_add_up() -> None:
    both = Ledger()
    both.add(Ledger(["a"], 1, 1, 5, 10.0, 11.0, 12.0))
    both.add(Ledger(["b"], 1, 0, 6, 9.0, 13.0, 14.0))
    assert both == Ledger(["a", "b"], 2, 1, 11, 9.0, 11.0, 14.0)


def test_a_folder_of_pages_is_a_web_of_its_own() -> None:
    assert read_arguments([]).web == (LIFELIKE, PLAIN)
    assert read_arguments(["compare", "--pages", "x"]).web == (SAVED,)
    assert read_arguments(["--pages", "x", "--web", "plain,saved"]).web == (PLAIN, SAVED)


@pytest.mark.parametrize("words", [["--web", "saved"], ["calibrate"], ["--web", "other"], ["nothing"]])
def test_what_cannot_be_run_is_said_at_once(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        read_arguments(words)
    assert "error" in capsys.readouterr().err


def test_crawlers_are_chosen_by_words_of_their_names() -> None:
    assert [one.crawler for one in choose_entrants("forager, 1|ceiling")] == [FORAGER, CEILING]
    assert len(choose_entrants("")) == len(ROSTER)


def test_calibration_says_which_costs_are_far_apart() -> None:
    pairs = [Pair("links", 10, 30), Pair("parse", 2.0, 2.2, is_cost=True), Pair("read", 20.0, 15.0, is_cost=True)]
    assert "FAR   read: more than 20 % apart" in show_calibration(pairs, is_markdown=False)
    assert "NEAR" in show_calibration(pairs[:2], is_markdown=True)
