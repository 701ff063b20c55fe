"""Fixtures of the acceptance tests: webs, the product on a database of its own, a seed for what is random."""

import os
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.acceptance.stage import Forager, Web, tell

from forager.db.embedded.paths import Place
from forager_playground import start_playground

HOST_BASE = "127.77.0.1"
NETWORK = "127.77.0.0/16"
SETTINGS = {
    "FORAGER_FETCH_ALLOW_NETWORKS": NETWORK,
    "FORAGER_CRAWL_MAX_WAIT": "10",
    "FORAGER_FETCH_TIMEOUT": "120",
    "FORAGER_FETCH_CONNECT_TIMEOUT": "120",
}
"""Loopback is allowed, a page that is due in a minute is not waited for, and a busy machine is not an error."""

OpenWeb = Callable[..., Web]


@pytest.fixture
def open_web(tmp_path: Path) -> Iterator[OpenWeb]:
    with ExitStack() as stack:

        def open_one(*sites: str, seed: int = 1) -> Web:
            log = tmp_path / f"requests.{'-'.join(sites)}.jsonl"
            running = start_playground(sites, seed=seed, host_base=HOST_BASE, log_path=log)
            return Web(stack.enter_context(running), log)

        yield open_one


@pytest.fixture
def forager(database_url: str, tmp_path: Path) -> Iterator[Forager]:
    """On a database of its own of the shared server."""
    environ = SETTINGS | {"FORAGER_HOME": str(tmp_path), "FORAGER_DATABASE_URL": database_url}
    product = Forager(tmp_path, environ, database_url)
    yield product
    product.close()


@pytest.fixture
def own_forager(home: Path, tmp_path: Path) -> Iterator[Forager]:
    """With an embedded server of its own, in an empty home."""
    product = Forager(tmp_path, SETTINGS | {"FORAGER_HOME": str(home)}, Place.of(home).dsn)
    yield product
    product.close()


@pytest.fixture
def rng() -> random.Random:
    """Random moments that can be had again: ACCEPTANCE_SEED=<the number a failed test printed>."""
    seed = int(os.environ.get("ACCEPTANCE_SEED") or int.from_bytes(os.urandom(4), "big"))
    tell(f"ACCEPTANCE_SEED={seed}")
    return random.Random(seed)
