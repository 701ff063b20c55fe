"""Decoding happens elsewhere: a file that kills or fills its process harms nobody, and the next one is looked at."""

import asyncio
import resource
from asyncio.subprocess import Process
from pathlib import Path

import pytest
from tests.unit.images.pictures import draw, encode

from forager.images.decode import child
from forager.images.decode.client import Decoder
from forager_playground.sites.gallery_tricks import build_png_bomb

ROOM = 40_000_000


async def test_files_are_looked_at_by_one_process() -> None:
    async with Decoder.open(max_pixels=ROOM) as decoder:
        looks = await asyncio.gather(*(decoder.look(encode(draw(number))) for number in range(6)))
        process = decoder._process
        assert process is not None
        (seen, thumbnail) = await decoder.look(encode(draw(7), "PNG"))
        assert decoder._process is process
    assert [each.status for each, _ in looks] == ["stored"] * 6
    assert (seen.format, bool(thumbnail)) == ("png", True)
    assert process.returncode is not None


async def test_it_is_not_started_before_it_is_needed() -> None:
    async with Decoder.open(max_pixels=ROOM) as decoder:
        assert decoder._process is None


async def test_a_process_that_was_killed_costs_no_image() -> None:
    async with Decoder.open(max_pixels=ROOM) as decoder:
        await decoder.look(encode(draw(1)))
        assert decoder._process is not None
        decoder._process.kill()
        await decoder._process.wait()
        seen, _ = await decoder.look(encode(draw(2)))
        assert seen.status == "stored"


async def test_a_file_that_kills_two_processes_is_broken_and_the_next_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Decoder.open(max_pixels=ROOM) as decoder:
        start = decoder._start

        async def start_and_kill() -> Process:
            process = await start()
            process.kill()
            return process

        with monkeypatch.context() as deadly:
            deadly.setattr(decoder, "_start", start_and_kill)
            seen, _ = await decoder.look(encode(draw(2)))
        # 255 is what asyncio says of a child whose end somebody else has heard of already.
        assert (seen.status, seen.reason) in [
            ("broken", f"it killed its decoder ({how})") for how in ("signal 9", "exit code 255")
        ]
        seen, _ = await decoder.look(encode(draw(3)))
        assert seen.status == "stored"


async def test_a_file_that_keeps_its_process_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forager.images.decode.client.LONGEST_S", 0.0)
    async with Decoder.open(max_pixels=ROOM) as decoder:
        seen, _ = await decoder.look(encode(draw(1)))
        assert seen.status == "broken"
        assert "kept its decoder" in (seen.reason or "")
        monkeypatch.setattr("forager.images.decode.client.LONGEST_S", 60.0)
        seen, _ = await decoder.look(encode(draw(1)))
        assert seen.status == "stored"


async def test_who_stops_waiting_leaves_no_half_answer() -> None:
    async with Decoder.open(max_pixels=ROOM) as decoder:
        waiting = asyncio.create_task(decoder.look(encode(draw(1, (3000, 2000)), "PNG")))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        seen, _ = await decoder.look(encode(draw(2, (320, 200))))
        assert (seen.status, seen.width) == ("stored", 320)


async def test_bombs_cost_little_memory_here_and_have_a_limit_there() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    bodies = [build_png_bomb(side) for side in (6_000, 20_000, 60_000)]
    bodies.append(encode(draw(1, (6_300, 6_300)), "PNG", compress_level=1))
    async with Decoder.open(max_pixels=ROOM) as decoder:
        looks = [(await decoder.look(body))[0] for body in bodies]
        assert decoder._process is not None
        peak_kb = _peak_kb(decoder._process.pid)
    assert [each.status for each in looks] == ["broken", "too_big", "too_big", "stored"]
    assert peak_kb < 600 * 1024
    assert child.MOST_MEMORY_BYTES <= 1024**3
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kb < 400 * 1024  # most of it for the picture this test draws


def _peak_kb(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
