"""How far sitemaps are believed."""

from hypothesis import given
from hypothesis import strategies as st

from forager.frontier.lastmod import FIRST_CLAIMS, is_trusted, most_claims


def test_a_domain_is_believed_until_it_lied_a_few_times() -> None:
    assert [is_trusted(lies, 0) for lies in range(6)] == [True, True, True, True, False, False]


def test_who_told_the_truth_for_long_may_err() -> None:
    assert is_trusted(100, 60)
    assert not is_trusted(100, 40)


def test_a_liar_can_win_back_its_name() -> None:
    assert not is_trusted(10, 0)
    assert is_trusted(30, 20)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_what_proved_true_lets_more_be_brought_forward(claims: int, truths: int) -> None:
    truths = min(claims, truths)
    assert most_claims(claims, truths) >= FIRST_CLAIMS
    assert most_claims(claims, truths) <= FIRST_CLAIMS + 10 * truths
    if is_trusted(claims, truths):
        assert most_claims(claims + 1, truths + 1) > most_claims(claims, truths)
