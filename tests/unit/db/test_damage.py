"""What a damaged database says is told from a bug of ours, with the way on."""

import asyncpg
import pytest

from forager.db.damage import find_corruption


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (asyncpg.DataCorruptedError("invalid page in block 0 of relation base/5/1"), "forager restore BACKUP"),
        (asyncpg.UndefinedFileError('could not open file "base/5/1": No such file'), "forager restore BACKUP"),
        (asyncpg.PostgresIOError("could not read block 3 in file: Input/output error"), "forager restore BACKUP"),
        (asyncpg.InternalServerError("missing chunk number 0 for toast value 7"), "forager restore BACKUP"),
        (asyncpg.IndexCorruptedError('index "pages_pkey" contains unexpected zero page'), "REINDEX INDEX pages_pkey"),
        (asyncpg.UndefinedTableError('relation "pages" does not exist'), "forager repair"),
        (ExceptionGroup("", [ValueError(), asyncpg.DataCorruptedError("invalid page")]), "forager restore BACKUP"),
    ],
)
def test_damage_is_told_with_the_way_on(error: Exception, said: str) -> None:
    told = find_corruption(error)
    assert told is not None
    assert said in told


@pytest.mark.parametrize(
    "error",
    [
        ValueError("x"),
        asyncpg.DiskFullError("could not extend file"),
        asyncpg.PostgresIOError("could not write block 3 in file: Input/output error"),
        asyncpg.InternalServerError("cache lookup failed for type 7"),
        ExceptionGroup("", [ValueError()]),
    ],
)
def test_what_is_no_damage_is_left_to_others(error: Exception) -> None:
    assert find_corruption(error) is None
