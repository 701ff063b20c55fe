"""The write buffer never holds more outcomes than its limit; what is being written still takes room."""

from hypothesis import given
from hypothesis import strategies as st
from tests.builders import a_discovery, a_reading, a_success, a_target

from forager.domains.store import RobotsCopy
from forager.engine.config import BufferConfig
from forager.engine.write_buffer import OUTCOME_BYTES, WriteBuffer, size_of


def a_buffer(pages: int, size_bytes: int = 10**9, *, batch: int = 10) -> WriteBuffer:
    return WriteBuffer(
        BufferConfig(batch_pages=batch, batch_interval_s=0.02, buffer_pages=pages, buffer_bytes=size_bytes)
    )


EVENTS = st.lists(st.sampled_from(["start", "end", "take", "written"]), min_size=30, max_size=80)


@given(most=st.integers(1, 8), batch=st.integers(1, 4), events=EVENTS)
def test_it_never_holds_more_than_its_limit(most: int, batch: int, events: list[str]) -> None:
    buffer = a_buffer(most, batch=batch)
    under_way, writing = 0, None
    for event in events:
        match event:
            case "start" if buffer.has_room(under_way):
                under_way += 1
            case "end" if under_way:
                under_way -= 1
                buffer.add(a_success(a_target()))
            case "take" if writing is None:
                writing = buffer.take()
            case "written" if writing is not None:
                buffer.remove(*writing)
                writing = None
        kept = buffer.backlog + len(writing[0] if writing else ())
        assert kept + under_way <= most
    if writing is not None:
        buffer.remove(*writing)
    while buffer.backlog:
        buffer.remove(*buffer.take())
    assert buffer.is_empty
    assert buffer.has_room(0)


def test_large_pages_fill_it_sooner() -> None:
    buffer = a_buffer(1000, 3 * OUTCOME_BYTES)
    links = [f"http://a.example/{number}" for number in range(100)]
    assert buffer.has_room(0)
    buffer.add(a_success(a_target(), *links))
    assert not buffer.has_room(0)
    buffer.remove(*buffer.take())
    assert buffer.has_room(0)


def test_a_robots_txt_takes_room_too() -> None:
    buffer = a_buffer(1000, 1000)
    buffer.add_robots(RobotsCopy(1, "http://a.example", "x" * 1000, 200, None, 60.0))
    assert not buffer.has_room(0)
    buffer.remove(*buffer.take())
    assert (buffer.has_room(0), buffer.is_empty) == (True, True)


def test_what_makes_an_outcome_large_is_counted() -> None:
    few, many = (a_success(a_target(), *[a_discovery(f"http://a.example/{n}").url for n in range(k)]) for k in (1, 50))
    assert size_of(many) - size_of(few) > 49 * 200
    plain, rich = (a_success(a_target(), reading=a_reading(structured_data=data)) for data in (b"", b"[]" * 5000))
    assert size_of(rich) - size_of(plain) == 10_000
