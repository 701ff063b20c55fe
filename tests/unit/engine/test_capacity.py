"""How many domains a worker leases at once, by the memory of its machine or the limit of its container."""

from pathlib import Path

import pytest

from forager.engine.capacity import max_domains, read_memory_bytes

GB = 1024**3


@pytest.mark.parametrize(("memory", "expected"), [(GB // 4, 2000), (4 * GB, 8192), (64 * GB, 20_000)])
def test_memory_decides(memory: int, expected: int) -> None:
    assert max_domains(0, memory) == expected


def test_a_setting_decides_before_memory() -> None:
    assert max_domains(7, GB) == 7


def test_the_limit_of_a_container_counts(tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text(f"{GB // 2}\n")
    assert read_memory_bytes((tmp_path / "none", limit)) == GB // 2
    limit.write_text("max\n")
    assert read_memory_bytes((limit,)) > GB // 2
