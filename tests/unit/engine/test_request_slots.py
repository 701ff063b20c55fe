"""Slots: plenty is everybody's; in a crowd prompt sites keep moving, and the others are not shut out."""

from hypothesis import given, settings
from hypothesis import strategies as st

from forager.engine.request_slots import PROMPT_S, DomainShare, RequestSlots, Share, Slot, Wait

LATE = PROMPT_S + 0.1


def a_prompt_domain() -> DomainShare:
    return DomainShare(took_s=0.1)


def fill(slots: RequestSlots, count: int, now: float = 0.0, *, per_domain: int = 1) -> list[Slot]:
    """Open so many for new domains, as many each."""
    opened: list[Slot] = []
    while len(opened) < count:
        domain = DomainShare()
        opened += [slots.open(domain, now) for _ in range(min(per_domain, count - len(opened)))]
    return opened


def test_while_there_is_plenty_everybody_may_open() -> None:
    slots, slow = RequestSlots(64), DomainShare(took_s=30.0)
    for _ in range(32):
        assert slots.why_wait(slow, 100.0) is None
        slots.open(slow, 0.0)
    assert slots.why_wait(slow, 100.0) is Wait.NO_CROWD


def test_fewer_than_sixteen_are_no_crowd() -> None:
    slots = RequestSlots(20)
    fill(slots, 15, per_domain=15)
    assert not slots.is_at_limit
    fill(slots, 1)
    assert slots.is_at_limit


def test_where_there_are_few_first_come_is_first_served() -> None:
    slots = RequestSlots(4)
    fill(slots, 4)
    assert {slots.why_wait(domain, 0.0) for domain in (DomainShare(), DomainShare(30.0), a_prompt_domain())} == {
        Wait.ANY
    }


def test_in_a_crowd_a_site_that_is_not_prompt_has_one_request() -> None:
    slots, slow = RequestSlots(64), DomainShare(took_s=LATE)
    fill(slots, 32)
    assert slots.why_wait(slow, 0.0) is None
    slot = slots.open(slow, 0.0)
    assert slots.why_wait(slow, 0.0) is Wait.NO_CROWD
    slots.close(slot, LATE)
    assert slots.why_wait(slow, 0.0) is None


def test_in_a_crowd_a_prompt_site_has_as_many_as_it_takes() -> None:
    slots, prompt = RequestSlots(64), a_prompt_domain()
    fill(slots, 40)
    for _ in range(24):
        assert slots.why_wait(prompt, 1.0) is None
        slots.open(prompt, 1.0)
    assert slots.why_wait(prompt, 1.0) is Wait.ANY


def test_an_eighth_is_kept_for_prompt_sites() -> None:
    slots = RequestSlots(64)
    fill(slots, 56)
    for now in (0.0, 2 * PROMPT_S):
        assert slots.why_wait(DomainShare(), now) is Wait.NEW
        assert slots.why_wait(DomainShare(LATE), now) is Wait.OPEN_TO_ALL
    assert slots.why_wait(a_prompt_domain(), 0.0) is None


def test_an_eighth_is_owed_to_the_others() -> None:
    """A worker that is full of prompt sites takes new ones all the same, in the moment a slot is free."""
    slots, prompt = RequestSlots(64), a_prompt_domain()
    opened = [slots.open(prompt, 0.0) for _ in range(64)]
    assert slots.why_wait(DomainShare(), 0.0) is Wait.NEW
    for slot in opened[:8]:
        slots.close(slot, 0.1)
        assert slots.has_priority(Share.NEW)
        assert slots.has_priority(Share.SLOW)
        assert slots.why_wait(DomainShare(), 0.0) is None
        slots.open(DomainShare(), 0.0)
    slots.close(opened[8], 0.1)
    assert slots.why_wait(DomainShare(), 0.0) is Wait.NEW
    assert slots.why_wait(DomainShare(LATE), 0.0) is Wait.OPEN_TO_ALL
    assert slots.why_wait(prompt, 0.0) is None


def test_slow_sites_leave_an_eighth_for_new_ones_that_turns_over_every_two_seconds() -> None:
    slots, slow = RequestSlots(64), [DomainShare(LATE) for _ in range(64)]
    opened = [slots.open(domain, 0.0) for domain in slow if slots.why_wait(domain, 0.0) is None]
    assert len(opened) == 48
    for now in (0.0, 2 * PROMPT_S):  # those that let us wait are slow by then, and the next ones may come
        while slots.why_wait(DomainShare(), now) is None:
            opened.append(slots.open(DomainShare(), now))
    assert len(opened) == 56


def test_a_full_worker_gives_the_next_slot_to_a_new_site() -> None:
    slots, prompt = RequestSlots(64), a_prompt_domain()
    opened = [slots.open(DomainShare(LATE), 0.0) for _ in range(40)] + [slots.open(prompt, 0.0) for _ in range(24)]
    assert slots.why_wait(DomainShare(), 0.0) is Wait.NEW
    slots.close(opened[-1], 0.1)
    assert next(wait for wait, may_come in slots.list_wait_queues(0.0) if may_come) is Wait.NEW
    assert not slots.has_priority(Share.SLOW)


def test_a_site_is_prompt_by_its_last_answer_and_by_what_it_has_open() -> None:
    slots, site = RequestSlots(64), DomainShare()
    assert not site.is_prompt(0.0)
    slots.close(slots.open(site, 0.0), 0.3)
    assert site.is_prompt(1000.0)
    waiting, later = slots.open(site, 1000.0), slots.open(site, 1001.5)
    assert site.is_prompt(1000.0 + PROMPT_S)
    assert not site.is_prompt(1000.0 + LATE)
    slots.close(waiting, 1.0)
    assert site.is_prompt(1000.0 + LATE)
    slots.close(later, LATE)
    assert not site.is_prompt(1000.0 + LATE)


def test_what_is_known_of_a_site_counts_from_the_beginning() -> None:
    assert DomainShare(took_s=0.5).is_prompt(0.0)
    assert not DomainShare(took_s=LATE).is_prompt(0.0)


@settings(max_examples=200, deadline=None)
@given(
    most=st.integers(1, 70),
    moves=st.lists(st.tuples(st.integers(0, 9), st.booleans(), st.floats(0, 4)), max_size=200),
)
def test_nobody_waits_for_ever_and_the_limit_holds(most: int, moves: list[tuple[int, bool, float]]) -> None:
    slots, domains, opened, now = RequestSlots(most), [DomainShare() for _ in range(10)], list[Slot](), 0.0
    for who, is_opening, seconds in moves:
        now += seconds
        if is_opening:
            while slots.why_wait(domains[who], now) is None and domains[who].open < most:
                opened.append(slots.open(domains[who], now))
        elif opened:
            slot = opened.pop(0)
            slots.close(slot, now - slot.opened_at)
        assert slots.taken == len(opened) <= most
    while opened:
        slots.close(opened.pop(), 30.0)
    assert slots.taken == 0
    assert all(slots.why_wait(domain, now) is None for domain in domains)


def test_a_new_site_waits_in_a_line_of_its_own_and_comes_before_slow_ones_three_times_of_four() -> None:
    slots = RequestSlots(64)
    fill(slots, 64)
    assert slots.why_wait(DomainShare(), 0.0) is Wait.NEW
    assert slots.why_wait(DomainShare(took_s=LATE), 0.0) is Wait.OPEN_TO_ALL
    turns = []
    for _ in range(8):
        first = next(wait for wait, _ in slots.list_wait_queues(0.0) if wait in {Wait.NEW, Wait.OPEN_TO_ALL})
        slots.record_granted(first)
        turns.append(first)
    assert turns == [*[Wait.NEW] * 3, Wait.OPEN_TO_ALL] * 2


def test_a_site_that_took_long_for_its_robots_txt_is_not_new_but_slow() -> None:
    slots, slow, new = RequestSlots(64), DomainShare(), DomainShare()
    slow.note_robots(LATE)
    new.note_robots(0.1)
    fill(slots, 64)
    assert (slots.why_wait(slow, 0.0), slots.why_wait(new, 0.0)) == (Wait.OPEN_TO_ALL, Wait.NEW)
