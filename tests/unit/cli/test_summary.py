from datetime import timedelta

import pytest
from tests.unit.cli.samples import DOMAINS, NOW, a_progress, a_report

from forager.cli.crawl import as_document, exit_code
from forager.cli.output import as_json
from forager.cli.summary import ENDS, summary_lines
from forager.records import OutcomeCount, RunEnd, RunReport, RunSpec

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


def test_every_end_has_a_sentence() -> None:
    assert set(ENDS) == set(RunEnd)


@pytest.mark.parametrize(
    ("end", "code"), [(RunEnd.FINISHED, 0), (RunEnd.LIMIT, 15), (RunEnd.STOPPED, 11), (RunEnd.FAILED, 1)]
)
def test_exit_codes(end: RunEnd, code: int) -> None:
    assert exit_code(a_report(end)) == code


def test_nothing_but_failures_is_too_many() -> None:
    only_failures = a_progress(pages_ok=0, outcomes=(OutcomeCount("timeout", "timeout", 3, 0, 0),))
    assert exit_code(a_report(progress=only_failures)) == 6
    only_robots = a_progress(pages_ok=0, outcomes=(OutcomeCount("blocked_robots", "robots_denied", 3, 0, 0),))
    assert exit_code(a_report(progress=only_robots)) == 0
    nothing_to_do = a_progress(pages_ok=0, pages_done=0, outcomes=())
    assert exit_code(a_report(progress=nothing_to_do)) == 0


def test_the_report_as_a_document_is_json() -> None:
    document = as_document(a_report(RunEnd.LIMIT, waiting={"over_limit": 3}, next_at=NOW))
    assert document["end"] == "limit"
    assert document["pages_done"] == 1204
    assert document["waiting"] == {"over_limit": 3}
    assert '"2026-01-01T00:00:00+00:00"' in as_json(document)
