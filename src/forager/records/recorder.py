"""Records what extractors found on the pages of each batch."""

from collections.abc import Mapping, Sequence

from forager.db.types import Connection
from forager.engine.batch import BatchPart
from forager.frontier.models import Outcome
from forager.records import store


class RecordRecorder(BatchPart):
    """Keeps no state between batches, so one instance serves all of them."""

    async def prepare(self, _outcomes: Sequence[Outcome]) -> BatchPart:
        return self

    def clear(self) -> None:
        """Does nothing: there is no state."""

    async def record_after_pages(
        self, conn: Connection, done: Sequence[Outcome], _page_ids: Mapping[bytes, int]
    ) -> None:
        if visits := store.get_record_visits(done):
            await store.store(conn, visits)
