"""The life of a domain, as the table says it."""

from forager.domains.status import MOVES, DomainStatus, can_transition


def test_every_state_is_in_the_table_and_none_leads_to_itself() -> None:
    assert set(MOVES) == set(DomainStatus)
    assert not any(can_transition(status, status) for status in DomainStatus)


def test_every_state_can_be_left_and_every_state_but_the_first_reached() -> None:
    assert all(MOVES.values())
    assert set().union(*MOVES.values()) == set(DomainStatus)


def test_only_a_crawled_domain_is_exhausted() -> None:
    assert [status for status in DomainStatus if can_transition(status, DomainStatus.EXHAUSTED)] == [
        DomainStatus.ACTIVE
    ]
