"""Statements are written as they are executed, so the two that lease domains repeat each other. They may differ in who
is looked at, and in nothing else."""

import pytest

from forager.frontier.store import OFFERED, SQL


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("WITH live AS", "), best AS|), offered AS"),  # the share
        ("), round_begun AS", ""),  # the lease and what is told of it
    ],
)
def test_what_both_claims_say_is_said_alike(begin: str, end: str) -> None:
    one, other = (_cut(text, begin, end) for text in (SQL["claim_domains"], OFFERED["claim_offered"]))
    assert one == other
    assert len(one.splitlines()) > 10


def test_both_claims_pass_the_same_gates() -> None:
    gates = "NOT EXISTS (SELECT FROM domain_gates(d, $6::int) g WHERE NOT g.is_open)"
    assert gates in SQL["claim_domains"]
    assert gates in OFFERED["claim_offered"]


def _cut(text: str, begin: str, ends: str) -> str:
    text = text[text.index(begin) :]
    return text[: min((text.index(end) for end in ends.split("|") if end and end in text), default=len(text))]
