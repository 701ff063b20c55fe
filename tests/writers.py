"""A writer as workers have it: with all features that write something with a batch."""

from typing import Any

from tests.builders import an_order

from forager.config.cipher import PasswordCipher
from forager.db.database import Database
from forager.engine.config import WorkerConfig
from forager.engine.domain_queues import DomainQueues
from forager.engine.writer import Writer
from forager.proxies.worker_pools import WorkerPools
from forager.runtime.worker import build_recorders


def open_writer(
    database: Database, run: int, worker: int = 1, queues: DomainQueues | None = None, **more: Any
) -> Writer:
    """`more` is for the writer, or else for its configuration."""
    given = {name: more.pop(name) for name in ("traps", "shared") if name in more}
    config: WorkerConfig = an_order(run, **more)
    recorders = build_recorders(database, config, WorkerPools(PasswordCipher(())))
    held = queues if queues is not None else DomainQueues(worker)
    return Writer(database, config, held, recorders=recorders, **given)
