"""Large bodies share a bounded room; whoever has to wait goes on as soon as it can, and nobody waits for ever."""

from hypothesis import given
from hypothesis import strategies as st

from forager.fetch.body_memory import MemoryBudget

MOST = 100


class Connection:
    def __init__(self) -> None:
        self.is_paused = False

    def pause(self) -> None:
        self.is_paused = True

    def go_on(self) -> None:
        self.is_paused = False


def test_one_that_has_no_room_waits_until_another_ends() -> None:
    room, one, two = MemoryBudget(MOST), Connection(), Connection()
    room.update_size(one, 60)
    room.update_size(two, 60)
    assert (one.is_paused, two.is_paused) == (False, True)
    room.end(one)
    assert not two.is_paused


def test_the_first_goes_on_even_where_there_is_no_room() -> None:
    room, one, two = MemoryBudget(MOST), Connection(), Connection()
    room.update_size(one, 150)
    room.update_size(two, 10)
    assert (one.is_paused, two.is_paused) == (False, True)


def test_a_whole_body_counts_until_nobody_has_it() -> None:
    room, one = MemoryBudget(MOST), Connection()
    room.keep(90)
    room.update_size(one, 20)
    assert one.is_paused
    room.free(90)
    assert not one.is_paused


def test_who_came_first_goes_on_first() -> None:
    room, connections = MemoryBudget(MOST), [Connection() for _ in range(3)]
    room.keep(100)
    for connection in connections:
        room.update_size(connection, 40)
    assert [connection.is_paused for connection in connections] == [True, True, True]
    room.free(100)
    assert [connection.is_paused for connection in connections] == [False, True, True]
    room.end(connections[0])
    assert [connection.is_paused for connection in connections] == [False, False, False]


@given(st.lists(st.tuples(st.sampled_from(["grow", "end", "keep", "free"]), st.integers(0, 5), st.integers(1, 60))))
def test_somebody_can_always_go_on(events: list[tuple[str, int, int]]) -> None:
    room, connections = MemoryBudget(MOST), [Connection() for _ in range(6)]
    sizes: dict[int, int] = {}
    kept: list[int] = []
    for event, number, size in events:
        match event:
            case "grow" if not connections[number].is_paused:
                sizes[number] = sizes.get(number, 0) + size
                room.update_size(connections[number], sizes[number])
            case "end" if number in sizes:
                del sizes[number]
                room.end(connections[number])
                connections[number].is_paused = False
            case "keep":
                kept.append(size)
                room.keep(size)
            case "free" if kept:
                room.free(kept.pop())
        waiting = [number for number in sizes if connections[number].is_paused]
        if waiting:
            assert sum(sizes.values()) + sum(kept) > MOST, "nobody waits while there is room"
            assert kept or len(waiting) < len(sizes), "somebody goes on, or works and will free room"
