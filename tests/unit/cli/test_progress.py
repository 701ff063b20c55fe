"""How far an export has come, in words."""

from forager.cli.progress import format_progress


def test_progress_with_a_total() -> None:
    told = format_progress("exporting pages", 120_000, 300_000, 4.0)
    assert told == "exporting pages: 120,000 of about 300,000 (40 %, 30,000/s, 6.0 s left)"


def test_a_total_that_was_too_low_is_not_told() -> None:
    assert format_progress("exporting links", 500, 100, 10.0) == "exporting links: 500 (50.0/s)"
    assert format_progress("exporting links", 0, 0, 0.0) == "exporting links: 0 (0.0/s)"
