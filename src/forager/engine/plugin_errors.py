"""Records the failures of plug-ins that a worker meets."""

from collections.abc import Sequence

from forager.db.database import Database
from forager.engine.batch import BatchPart
from forager.engine.transaction_retry import in_transaction
from forager.frontier.models import Outcome
from forager.plugins import registry, store


class PluginErrorRecorder(BatchPart):
    """Writes before the record, in a transaction of its own: all workers write the same rows."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def prepare(self, outcomes: Sequence[Outcome]) -> BatchPart:
        errors = [error for outcome in outcomes if outcome.reading for error in outcome.reading.plugin_errors]
        errors += registry.current().take_errors()
        if errors:
            await in_transaction(self._database, lambda conn: store.add_errors(conn, errors))
        return self

    def clear(self) -> None:
        """Does nothing: there is no state."""
