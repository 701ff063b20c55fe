"""Backups: whole or not there, verified, rotated, and only ever restored into what is empty."""

import asyncio
import json
import os
import resource
import shutil
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from tests.integration.retention.conftest import RETENTION, Past
from tests.integration.scale.next_revision import NEXT, migrations_in, write_migration
from tests.integration.tasks.test_calls import until

from forager import clock
from forager.alerts.store import list_stale_workers
from forager.backup import archive as backup
from forager.backup.archive import Backup
from forager.backup.service import back_up, restore
from forager.config.loader import load
from forager.config.settings import Settings
from forager.db import dump, migrate, schema
from forager.db.database import open_database
from forager.db.dump import split_password
from forager.errors import ConfigurationError, ForagerError, NotFoundError, StoreError, UsageError
from forager.retention import archive as cold
from forager.webhooks.delivery import KEY_FILE, signing_keys

KEY = "8f2c1de07b94a6350d7ecb15f93a42e8"


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    given = {
        "home": tmp_path / "home",
        "database.url": database_url,
        "contact": "a@b.example",
        "secret_key": [KEY],
    }
    return load(given, {})


@pytest.fixture
def into(empty_database_url: str, tmp_path: Path) -> Settings:
    """Another instance, with nothing in it."""
    return load({"home": tmp_path / "other", "database.url": empty_database_url}, {})


def put(settings: Settings, key: str, content: bytes) -> Path:
    path = settings.home / "bodies" / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


async def save(settings: Settings, target: Path | None = None, **more: Any) -> Backup:
    assert settings.database.url is not None
    made, _ = await back_up(settings, settings.database.url, target, **more)
    return made


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != backup.LOCK)


@pytest.mark.both_servers
async def test_what_is_saved_comes_back(world: Past, settings: Settings, into: Settings) -> None:
    put(settings, "ab/cdef.zst", b"body")
    put(settings, "warc/one.warc.gz.open", b"begun")
    put(settings, "tmp/half", b"nobody refers to it")
    await cold.move(world.conn, settings.home / "cold", RETENTION, by="test", pause_s=0)
    extractor = settings.home / "extractors" / "lamps.toml"
    extractor.parent.mkdir()
    extractor.write_text("name = 'lamps'")
    made = await save(settings)
    extractor.write_text("name = 'edited since'")
    restored = await restore(into, made.path)
    assert (into.home / "extractors/lamps.toml").read_text() == "name = 'lamps'"
    assert [verdict.promise.number for verdict in restored.verdicts if verdict.broken] == []
    assert (into.home / "bodies/ab/cdef.zst").read_bytes() == b"body"
    assert (into.home / "bodies/warc/one.warc.gz.open").read_bytes() == b"begun"
    assert not (into.home / "bodies/tmp").exists()
    there = await asyncpg.connect(into.database.url)
    try:
        assert await there.fetchval("SELECT count(*) FROM crawl_tasks") == len(await world.tasks())
        assert [each.trouble for each in await cold.verify(there, into.home / "cold") if each.trouble] == []
        assert await there.fetchval("SELECT count(*) FROM archive_parts") > 0
    finally:
        await there.close()


async def test_a_backup_of_an_older_forager_is_brought_up_to_date(
    world: Past, settings: Settings, into: Settings, tmp_path: Path
) -> None:
    """Also in a database that is not embedded, where nobody else would upgrade it."""
    assert settings.database.url is not None
    assert into.database.url is not None
    before = schema.head()
    tasks = len(await world.tasks())
    made = await save(settings)
    (tmp_path / "later").mkdir()
    write_migration(tmp_path / "later", "ALTER TABLE domains ADD COLUMN mood text;")
    with migrations_in(tmp_path / "later"):
        restored = await restore(into, made.path)
    assert (made.revision, await migrate.current(into.database.url)) == (before, NEXT)
    assert [verdict.promise.number for verdict in restored.verdicts if verdict.broken] == []
    there = await asyncpg.connect(into.database.url)
    assert await there.fetchval("SELECT count(*) FROM crawl_tasks") == tasks
    await there.close()


async def test_workers_of_the_original_do_not_hold_the_copy(world: Past, settings: Settings, into: Settings) -> None:
    worker = await world.insert("workers", run_id=world.run, host="here", pid=os.getpid(), pid_started=1)
    await world.conn.execute("UPDATE workers SET heartbeat_at = now() - interval '5 minutes' WHERE id = $1", worker)
    await world.conn.execute(
        "UPDATE domains SET claimed_by = $1, claim_expires_at = now() + interval '1 hour', ready_at = now()", worker
    )
    restored = await restore(into, (await save(settings)).path)
    assert restored.freed == 1
    assert await world.conn.fetchval("SELECT claimed_by FROM domains") == worker, "the original is untouched"
    silent = {"silent_s": 120.0, "remembered_s": 3600.0, "unnoticed_s": 120.0}
    there = await asyncpg.connect(into.database.url)
    assert (await list_stale_workers(there, **silent), len(await list_stale_workers(world.conn, **silent))) == ([], 1)
    await there.close()


async def test_secrets_are_not_in_it(world: Past, settings: Settings) -> None:
    made = await save(settings)
    text = (made.path / backup.SETTINGS).read_text()
    assert 'contact = "a@b.example"' in text
    assert KEY not in text
    assert str(settings.database.url) not in text
    assert all(path.stat().st_mode & 0o077 == 0 for path in made.path.rglob("*") if path.is_file())


async def test_files_are_linked_and_checksums_taken_over(
    world: Past, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = put(settings, "ab/cdef.zst", b"body")
    first = await save(settings)
    assert (first.path / "files/bodies/ab/cdef.zst").samefile(source)
    clock_at(monkeypatch, timedelta(seconds=5))
    put(settings, "ab/new.zst", b"new")
    second = await save(settings)
    assert (second.file_count, await backup.verify(second)) == (2, [])
    copied = await save(settings, settings.home / "copied", may_link=False)
    assert not (copied.path / "files/bodies/ab/cdef.zst").samefile(source)


async def test_a_body_deleted_since_is_still_in_the_backup(world: Past, settings: Settings, into: Settings) -> None:
    source = put(settings, "ab/cdef.zst", b"body")
    made = await save(settings)
    source.unlink()
    await restore(into, made.path)
    assert (into.home / "bodies/ab/cdef.zst").read_bytes() == b"body"


# Not whole ----------------------------------------------------------------------------------------------------------


async def test_a_cancelled_backup_leaves_nothing(world: Past, settings: Settings) -> None:
    making = asyncio.create_task(save(settings))
    folder = settings.home / "backups"
    while not list(folder.glob("*.part")):  # noqa: ASYNC110 (a folder tells nobody that it appeared)
        await asyncio.sleep(0.001)
    making.cancel()
    with pytest.raises(asyncio.CancelledError):
        await making
    assert names_in(folder) == []


async def test_what_a_kill_left_is_no_backup_and_goes_with_the_next(world: Past, settings: Settings) -> None:
    left = settings.home / "backups" / "forager-20200101T000000Z.part"
    left.mkdir(parents=True)
    (left / backup.DUMP).write_bytes(b"half")
    assert backup.list_backups(left.parent) == []
    with pytest.raises(NotFoundError, match="is no backup"):
        backup.read(left)
    made = await save(settings)
    assert names_in(left.parent) == [made.path.name]


async def test_of_two_at_once_the_second_is_refused(world: Past, settings: Settings) -> None:
    results = await asyncio.gather(
        save(settings, settings.home / "one"), save(settings, settings.home / "two"), return_exceptions=True
    )
    assert {type(result) for result in results} == {Backup, UsageError}
    assert len(list(settings.home.glob("[ot][nw][eo]"))) == 1
    assert not list(settings.home.glob("*.part"))


async def test_an_existing_name_is_refused(world: Past, settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        await save(settings, tmp_path / "there")


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """No file of this process, or of its children, may become larger: for a writer that is a disk that is full."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    (tmp_path / "tiny").mkdir()
    yield tmp_path / "tiny"
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def fill_up() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, hard))


@pytest.mark.parametrize("is_body", [True, False], ids=["files", "dump"])
async def test_a_full_disk_is_one_sentence_and_leaves_no_backup(
    world: Past, settings: Settings, tiny_disk: Path, is_body: bool
) -> None:
    if is_body:
        put(settings, "ab/large.zst", os.urandom(200_000))
    else:
        await world.conn.execute(
            "INSERT INTO errors (task_id, code, message, stack)"
            " SELECT n, 'x', md5(n::text), repeat(md5(random()::text), 20) FROM generate_series(1, 5000) n"
        )
    fill_up()
    with pytest.raises(StoreError, match=r"[Tt]he disk is full") as caught:
        await save(settings, tiny_disk / "saved", may_link=False)
    assert (caught.value.reason, "\n" in str(caught.value)) == ("disk_full", False)
    assert names_in(tiny_disk) == []


async def test_a_damaged_backup_is_found_and_not_restored(world: Past, settings: Settings, into: Settings) -> None:
    body = "files/bodies/ab/cdef.zst"
    put(settings, "ab/cdef.zst", b"a body of some length")
    made = await save(settings)
    for name in (backup.DUMP, backup.LIST, body, backup.SETTINGS):
        for harm in ("cut", "flipped", "gone"):
            copy = made.path.with_name("copy")
            shutil.copytree(made.path, copy)
            hurt(copy / name, harm)
            assert await backup.verify(backup.read(copy)) != [], (name, harm)
            with pytest.raises(ConfigurationError, match="is damaged"):
                await restore(into, copy)
            shutil.rmtree(copy)
    assert not into.home.exists()
    assert await backup.verify(made) == []


def hurt(path: Path, harm: str) -> None:
    content = bytearray(path.read_bytes())
    if harm == "gone":
        path.unlink()
        return
    if harm == "flipped":
        content[len(content) // 2] ^= 0xFF
    path.write_bytes(bytes(content if harm == "flipped" else content[: len(content) // 2]))


async def test_a_manifest_from_a_stranger_is_refused(world: Past, settings: Settings, into: Settings) -> None:
    made = await save(settings)
    manifest = json.loads((made.path / backup.MANIFEST).read_text())

    def rewrite(**changes: Any) -> None:
        (made.path / backup.MANIFEST).write_text(json.dumps(manifest | changes))

    for changes, error in (
        ({"schema_revision": "9999"}, ConfigurationError),
        ({"format": 2}, ConfigurationError),
        ({"server_major": "x", "tables": None, "made_at": "yesterday"}, StoreError),
        ({"sha256": {"../../etc/passwd": "00"}}, ConfigurationError),
    ):
        rewrite(**changes)
        with pytest.raises(error):
            await restore(into, made.path)
    (made.path / backup.MANIFEST).write_text("{")
    with pytest.raises(ForagerError):
        await restore(into, made.path)
    assert not into.home.exists()


# Only into what is empty --------------------------------------------------------------------------------------------


async def test_a_used_home_is_refused(world: Past, settings: Settings, into: Settings) -> None:
    made = await save(settings)
    into.home.mkdir()
    (into.home / "precious").write_text("mine")
    with pytest.raises(UsageError, match=r"is not empty \(precious\)"):
        await restore(into, made.path)
    assert names_in(into.home) == ["precious"]


async def test_a_used_database_is_refused(world: Past, settings: Settings, into: Settings) -> None:
    put(settings, "ab/cdef.zst", b"body")
    made = await save(settings)
    await execute(into, "CREATE TABLE mine (id int)")
    with pytest.raises(ConfigurationError, match=r"is not empty \(it has the table 'mine'\)"):
        await restore(into, made.path)
    used = load({"home": into.home.with_name("third"), "database.url": settings.database.url}, {})
    with pytest.raises(ConfigurationError, match="is not empty"):
        await restore(used, made.path)
    assert not into.home.exists(), "the same folder will do once the database is empty"
    assert await world.broken() == {}


async def execute(settings: Settings, sql: str) -> None:
    there = await asyncpg.connect(settings.database.url)
    try:
        await there.execute(sql)
    finally:
        await there.close()


# Rotation -----------------------------------------------------------------------------------------------------------


def clock_at(monkeypatch: pytest.MonkeyPatch, later: timedelta) -> None:
    real = clock.now
    monkeypatch.setattr(clock, "now", lambda: real() + later)


async def test_old_backups_go_once_a_new_one_is_whole_and_nothing_else_goes(
    world: Past, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await save(settings)
    folder = first.path.parent
    for name in ("forager-mine", "notes.txt.d"):
        (folder / name).mkdir()
    shutil.copytree(first.path, folder / "forager-20200101T000000Z-kept")
    clock_at(monkeypatch, timedelta(days=6))
    second = await save(settings)
    assert first.path.is_dir()
    clock_at(monkeypatch, timedelta(days=2))
    third = await save(settings)
    assert not first.path.exists()
    assert [each.path for each in backup.list_backups(folder)] == [second.path, third.path]
    assert {"forager-mine", "notes.txt.d", "forager-20200101T000000Z-kept"} <= set(names_in(folder))


async def test_the_newest_is_kept_however_old(world: Past, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    only = await save(settings)
    clock_at(monkeypatch, timedelta(days=100))
    assert backup.remove_old(only.path.parent, older_than_s=1.0) == []
    assert only.path.is_dir()


# Programs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dsn", "where", "secret"),
    [
        ("postgresql://u:p%40ss@h:5432/d", "postgresql://u@h:5432/d", "p@ss"),
        ("postgresql://u@h/d?sslmode=require&password=s%20x", "postgresql://u@h/d?sslmode=require", "s x"),
        ("postgresql://forager@/forager?host=%2Ftmp%2Fx&port=5432", None, None),
        ("postgresql:///d", "postgresql:///d", None),
    ],
)
def test_passwords_are_not_for_everybody_to_see(dsn: str, where: str | None, secret: str | None) -> None:
    assert split_password(dsn) == (where or dsn, secret)


def test_a_server_newer_than_every_program_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="needs the pg_dump of its own version: install postgresql-client-99"):
        dump.find("pg_dump", 99)


async def test_a_database_that_is_away_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="could not be dumped") as caught:
        await dump.dump("postgresql://nobody:secret@127.0.0.1:1/none", 18, tmp_path / "x")
    assert "secret" not in str(caught.value)


# Keys and kills -----------------------------------------------------------------------------------------------------


def without_secret(settings: Settings) -> Settings:
    return settings.replace(secret_key=())


async def test_a_copy_that_signs_with_another_key_is_told(world: Past, settings: Settings, into: Settings) -> None:
    original = without_secret(settings)
    (key,) = signing_keys(original)
    made = await save(original)
    assert len(made.key_marks) == 1
    secret = (original.home / KEY_FILE).read_bytes()
    assert not any(secret in path.read_bytes() or key in path.read_bytes() for path in made.path.glob("*.*"))
    assert not any(path.name == KEY_FILE for path in made.path.rglob("*"))
    assert (await restore(into, made.path)).has_new_key


async def test_a_copy_that_was_given_the_key_signs_as_before(world: Past, settings: Settings, into: Settings) -> None:
    original = without_secret(settings)
    signing_keys(original)
    made = await save(original)
    into.home.mkdir()
    shutil.copy(original.home / KEY_FILE, into.home / KEY_FILE)
    assert not (await restore(into, made.path)).has_new_key
    assert signing_keys(into) == signing_keys(original)


async def test_who_never_signed_anything_has_no_key_to_miss(world: Past, settings: Settings, into: Settings) -> None:
    made = await save(without_secret(settings))
    assert (made.key_marks, (settings.home / KEY_FILE).exists()) == ((), False)
    assert not (await restore(into, made.path)).has_new_key


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a program is not told that its parent died")
async def test_a_killed_backup_takes_its_dump_with_it(world: Past, settings: Settings, database_url: str) -> None:
    """A real process, killed while its pg_dump waits for a table that somebody has locked."""
    environment = os.environ | {"FORAGER_DATABASE_URL": database_url, "FORAGER_HOME": str(settings.home)}
    other = await asyncpg.connect(database_url)
    try:
        async with other.transaction():
            await other.execute("LOCK TABLE page_link_lists IN ACCESS EXCLUSIVE MODE")
            command = (sys.executable, "-m", "forager", "backup")
            parent = await asyncio.create_subprocess_exec(*command, env=environment)
            try:
                await until(lambda: children_named(parent.pid, "pg_dump"), longest_s=60)
                (child,) = await children_named(parent.pid, "pg_dump")
            finally:
                parent.kill()
                await parent.wait()
            await until(lambda: is_over(child), longest_s=60)
    finally:
        await other.close()
    assert backup.list_backups(settings.home / backup.FOLDER) == []
    await save(settings)


async def children_named(parent: int, name: str) -> list[int]:
    return [pid for pid in children_of(parent) if name_of(pid) == name]


def children_of(parent: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


async def is_over(pid: int) -> bool:
    return name_of(pid) is None


def name_of(pid: int) -> str | None:
    """None where there is no such process, or only what is left of one."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    name, _, rest = state.partition("(")[2].rpartition(")")
    return None if rest.split()[0] in "ZX" else name


async def fail_to_restore(into: Settings, made: Backup, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ends when files and database are there."""

    async def die(*_: Any) -> int:
        raise RuntimeError("killed")

    with monkeypatch.context() as patched:
        patched.setattr("forager.backup.service._free_leases", die)
        with pytest.raises(RuntimeError):
            await restore(into, made.path)


async def test_a_restore_that_failed_midway_is_begun_anew_also_in_a_database_of_ones_own(
    world: Past, settings: Settings, into: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(settings, "ab/cdef.zst", b"body")
    made = await save(settings)
    await fail_to_restore(into, made, monkeypatch)
    (into.home / "bodies" / "left").write_bytes(b"of the first")
    with pytest.raises(ConfigurationError, match="was not finished"):
        async with open_database(into, size=1, application="test"):
            pass
    await restore(into, made.path)
    assert not (into.home / "bodies" / "left").exists()
    async with open_database(into, size=1, application="test") as database:
        assert await database.pool.fetchval("SELECT count(*) FROM crawl_tasks") == len(await world.tasks())


async def test_a_database_that_was_used_since_a_restore_failed_is_not_emptied(
    world: Past, settings: Settings, into: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await save(settings)
    await fail_to_restore(into, made, monkeypatch)
    there = await asyncpg.connect(into.database.url)
    await there.execute("INSERT INTO runs (spec, max_depth) VALUES ('{}', 1)")
    with pytest.raises(ConfigurationError, match="used since"):
        await restore(into, made.path)
    assert await there.fetchval("SELECT count(*) FROM crawl_tasks") == len(await world.tasks())
    await there.close()


async def test_a_restore_that_is_refused_leaves_no_marker(world: Past, settings: Settings, into: Settings) -> None:
    made = await save(settings)
    there = await asyncpg.connect(into.database.url)
    await there.execute("CREATE TABLE mine (id int)")
    await there.close()
    with pytest.raises(ConfigurationError, match="not empty"):
        await restore(into, made.path)
    assert not into.home.exists()
