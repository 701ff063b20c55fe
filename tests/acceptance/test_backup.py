"""A backup made while a crawl runs, restored elsewhere: every promise is kept there, and the crawl goes on."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.acceptance.conftest import SETTINGS, OpenWeb
from tests.acceptance.stage import Forager

from forager.db import embedded
from forager.db.embedded.paths import Place

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180)]


@pytest.fixture
def elsewhere(run_folder: Path, tmp_path: Path) -> Iterator[Forager]:
    """A home that does not exist yet."""
    home = run_folder / "elsewhere"
    product = Forager(tmp_path, SETTINGS | {"FORAGER_HOME": str(home)}, Place.of(home).dsn)
    yield product
    product.close()
    embedded.stop(home)
    shutil.rmtree(home, ignore_errors=True)


def test_a_backup_during_a_crawl_lives_on_elsewhere(
    own_forager: Forager, elsewhere: Forager, open_web: OpenWeb, tmp_path: Path
) -> None:
    web = open_web("shop", "blog")
    flags = (*web.urls, "--delay", "0.02", "--keep", "snapshot")
    crawl = own_forager.start(*flags)
    web.wait_past(40)
    with web.frozen():  # requests stay open, so that the crawl is not over before a slow machine has saved it
        saved = own_forager.run("backup", str(tmp_path / "saved"), "--json")
    assert saved.returncode == 0, saved.stderr
    assert crawl.is_running, "the backup has to be made while the crawl runs"
    assert json.loads(saved.stdout)["file_count"] > 0
    crawl.finish()

    drill = own_forager.run("restore", str(tmp_path / "saved"), "--drill", "--json")
    assert drill.returncode == 0, drill.stderr
    told = json.loads(drill.stdout)
    assert (told["is_clean"], told["backup"]) == (True, str(tmp_path / "saved"))
    steps = {step["name"]: step["result"] for step in told["steps"]}
    assert steps["health"] == "/health answered 200"
    assert {"guarantees", "pages", "waiting", "dashboard"} <= set(steps)
    assert "; now " in steps["tasks"], "the crawl went on since"

    restored = elsewhere.run("restore", str(tmp_path / "saved"))
    assert restored.returncode == 0, restored.stderr
    assert "✗" not in restored.stdout
    assert elsewhere.run("restore", str(tmp_path / "saved")).returncode == 2, "a used home is refused"
    known = {row["url"] for row in json.loads(elsewhere.run("pages", "--json", "--limit", "100000").stdout)}
    assert len(known) >= 40

    elsewhere.start(*flags, "-o", "there.jsonl").finish()
    elsewhere.check()
    everything = elsewhere.run("export", "pages", "--format", "jsonl", "-o", "all.jsonl")
    assert everything.returncode == 0, everything.stderr
    found = {row["url"] for row in elsewhere.rows("all.jsonl") if row["status_code"] == 200}
    assert found == web.key.expected_success()
