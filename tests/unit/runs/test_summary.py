from dataclasses import replace
from datetime import timedelta

import pytest
from tests.unit.cli.samples import DOMAINS, NOW, a_progress, a_report

from forager.cli.output import as_json
from forager.engine.failure_streak import WORDS
from forager.frontier.models import DomainFailure
from forager.runs.commands.crawl import ExportCounts, as_document
from forager.runs.commands.ending import exit_code
from forager.runs.commands.summary import summary_lines
from forager.runs.models import OutcomeCount, RunEnd, RunReport, RunSpec

SPEC = RunSpec(("http://shop.example/",), max_depth=10, max_pages=1204)


def text_of(report: RunReport, spec: RunSpec = SPEC) -> str:
    return "\n".join(line.text for line in summary_lines(report, spec, NOW))


def test_what_was_done() -> None:
    text = text_of(a_report())
    assert "Finished: nothing is left that may be visited now." in text
    assert "run 12 · 1,204 pages in 2 m (10.0/s) · 41 MB read · 72,000 links, 12,408 new URLs" in text
    assert "    1,176  ok" in text
    assert "        9  404" in text


def test_what_was_not_done_names_the_flag_that_would_change_it() -> None:
    waiting = {"too_deep": 212, "over_limit": 9000, "retry_later": 1, "domain_blocked": 0, "new_reason": 2}
    text = text_of(a_report(RunEnd.LIMIT, waiting=waiting, next_at=NOW + timedelta(minutes=3)))
    assert "    9,000  pages are over --max-pages 1204" in text
    assert "      212  pages are deeper than --depth 10" in text
    assert "        1  page waits for another try" in text
    assert "due in 3 m" in text
    assert "        2  pages: new reason" in text
    assert "blocked or unreachable" not in text


def test_both_limits_are_named() -> None:
    spec = RunSpec(("http://a.example/",), max_pages=5, max_pages_per_domain=3)
    assert "over --max-pages 5 or --max-pages-per-domain 3" in text_of(a_report(waiting={"over_limit": 2}), spec)


def test_domains_that_stand_still_say_why() -> None:
    text = text_of(a_report(standing=DOMAINS[1:2] * 10))
    assert "blocked: robots denied, 1,356 pages waiting" in text
    assert "and 2 more domains: forager domains" in text


def test_a_site_that_asks_for_a_login_comes_with_the_way_in() -> None:
    reason = f"it {WORDS[DomainFailure.LOGIN_REQUIRED]} 2 times in a row"
    asked = replace(DOMAINS[1], name="a.example", reason=reason)
    text = text_of(a_report(standing=(asked,)))
    assert "a.example asks for a login: `forager domain a.example set --help`" in text


def test_links_left_out_by_reason() -> None:
    text = text_of(a_report(dropped={"scope": 3102, "trap:repeating_path": 12, "odd_reason": 1}))
    assert (
        text.index("3,102  out of scope")
        < text.index("12  looked like a trap: the same folder again and again")
        < text.index("1  odd reason")
    )


def test_bodies_that_were_lost_stand_out() -> None:
    text = text_of(a_report(bodies={"stored": 40, "known": 2, "lost:disk_full": 7, "lost:odd_reason": 1}))
    assert "       40  stored" in text
    assert text.index("        7  lost: the disk is full") < text.index("        1  lost: odd reason")
    assert "forager replay --refetch" in text
    assert "bodies" not in text_of(a_report())
    assert "lost:" not in text_of(a_report(bodies={"stored": 1}))


def test_where_to_look_next() -> None:
    text = text_of(a_report())
    assert "forager pages --domain shop.example" in text
    assert "forager export pages" in text


def test_refused_addresses_come_with_the_flag_that_allows_them() -> None:
    progress = a_progress(outcomes=(OutcomeCount("failed", "address_refused", 1, 0, 0),), pages_ok=0)
    assert "--allow-network" in text_of(a_report(progress=progress))


@pytest.mark.parametrize("end", RunEnd)
def test_every_end_has_a_sentence(end: RunEnd) -> None:
    assert text_of(a_report(end)).partition("\n")[0].endswith(".")


def test_a_depth_limit_that_cut_pages_is_no_end() -> None:
    report = a_report(RunEnd.LIMIT, waiting={"too_deep": 95_000})
    assert text_of(report).startswith("Cut off: 95,000 known pages left out by --depth 10.")
    assert exit_code(report) == 15
    assert exit_code(report, is_refresh=True) == 0, "a refresh cut nothing"


def test_pages_that_failed_for_now_are_named_with_the_command_that_tries_them() -> None:
    one = a_progress(domains=DOMAINS[:1])
    report = a_report(progress=one, waiting={"retry_later": 3}, next_at=NOW + timedelta(minutes=1))
    first = text_of(report).partition("\n")[0]
    assert first.startswith("Finished, but for 3 pages that failed for now: `forager refresh shop.example` tries")
    assert "from 00:01:00 UTC on" in first
    assert exit_code(report) == 0


def test_a_blocked_site_that_was_not_visited_names_the_way_back() -> None:
    nothing = a_progress(pages_ok=0, pages_done=0, outcomes=())
    report = a_report(progress=nothing, standing=DOMAINS[1:2])
    first = text_of(report).partition("\n")[0]
    assert "is blocked: robots denied." in first
    assert "`forager domain a-very-long-name.of-a-domain.sub.sub.example.co.uk reset`" in first
    assert exit_code(report) == 6


def test_a_crawl_with_nothing_to_do_names_refresh() -> None:
    nothing = a_progress(pages_ok=0, pages_done=0, outcomes=(), domains=DOMAINS[2:])
    text = text_of(a_report(progress=nothing))
    assert text.startswith("Nothing was left to visit")
    assert "`forager refresh quiet.example:8080 --now`" in text


def test_a_site_that_was_visited_to_its_end_does_not_read_like_an_error() -> None:
    done = replace(DOMAINS[2], reason="waits until 2026-12-01 00:00:00 UTC")
    text = text_of(a_report(standing=(done,)))
    assert "visited again by `forager up` or `forager refresh`\n  quiet.example:8080  from 2026-12-01" in text
    assert "waiting" not in text


def test_redirects_are_no_pages() -> None:
    only_redirects = a_progress(outcomes=(OutcomeCount("success", "301", 1, 0, 0),), pages_ok=1, pages_done=1)
    assert exit_code(a_report(progress=only_redirects)) == 6
    unchanged = a_progress(outcomes=(OutcomeCount("success", "304", 1, 0, 0),), pages_ok=1, pages_done=1)
    assert exit_code(a_report(progress=unchanged)) == 0


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        (ExportCounts(NOW, 3, 0, 0), "3 pages written to b."),
        (ExportCounts(NOW, 0, 6, 0), "6 pages written to b: 0 of this run, 6 of earlier runs."),
        (
            ExportCounts(NOW, 1, 2, 3),
            "6 pages written to b: 1 of this run, 2 of earlier runs, 3 that could not be read.",
        ),
        (ExportCounts(NOW, 0, 0, 1), "No page was read; b lists 1 page that could not be."),
    ],
)
def test_what_is_in_the_file(written: ExportCounts, sentence: str) -> None:
    assert written.sentence("b") == sentence


@pytest.mark.parametrize(
    ("end", "code"), [(RunEnd.FINISHED, 0), (RunEnd.LIMIT, 15), (RunEnd.STOPPED, 11), (RunEnd.FAILED, 1)]
)
def test_exit_codes(end: RunEnd, code: int) -> None:
    assert exit_code(a_report(end)) == code


def test_nothing_but_failures_is_too_many() -> None:
    only_failures = a_progress(pages_ok=0, outcomes=(OutcomeCount("timeout", "timeout", 3, 0, 0),))
    assert exit_code(a_report(progress=only_failures)) == 6
    only_robots = a_progress(pages_ok=0, outcomes=(OutcomeCount("blocked_robots", "robots_denied", 3, 0, 0),))
    assert exit_code(a_report(progress=only_robots)) == 6
    nothing_to_do = a_progress(pages_ok=0, pages_done=0, outcomes=())
    assert exit_code(a_report(progress=nothing_to_do)) == 0


def test_the_report_as_a_document_is_json() -> None:
    document = as_document(a_report(RunEnd.LIMIT, waiting={"over_limit": 3}, next_at=NOW))
    assert document["end"] == "limit"
    assert document["pages_done"] == 1204
    assert document["waiting"] == {"over_limit": 3}
    assert '"2026-01-01T00:00:00+00:00"' in as_json(document)


def test_a_site_that_was_crawled_before_says_what_is_new() -> None:
    report = a_report(changed=1, unchanged=5, not_due=214, not_due_until=NOW + timedelta(days=30))
    assert text_of(report).startswith(
        "Finished: 1,170 new, 1 changed, 5 the same; 214 pages are not due until 31 Jan "
        "(`forager refresh --now` visits them now)."
    )
    assert exit_code(report) == 0
