"""The server itself is killed, as by a power cut, while documents are being sent, and started again."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.ground import Ground
from tests.integration.search.conftest import EMPTY
from tests.integration.search_server.conftest import Mirror
from tests.search_server.gate import open_gate
from tests.search_server.server import RealServer, fetch, find_java

from forager.errors import SearchServerError
from forager.search import bulk_index as push
from forager.search.names import Names
from forager.search.server import open_server
from forager.search.service import ExternalSearch

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def own_server() -> Iterator[RealServer]:
    with TemporaryDirectory(prefix="forager-search-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        server = RealServer(fetch(), find_java(), Path(folder))
        server.start()
        yield server
        server.kill()


async def test_it_is_killed_between_and_in_the_middle_of_portions(ground: Ground, own_server: RealServer) -> None:
    await ground.conn.execute(EMPTY)
    async with open_gate(own_server.url) as gate, open_server(gate.url) as server:
        mirror = Mirror(ground, ExternalSearch(server, Names(f"test-{uuid.uuid4().hex[:8]}-")), gate)
        pages = [await mirror.add(f"http://a.example/{number}", f"Tea {number}", "tea") for number in range(60)]
        await mirror.index()
        await mirror.tend()
        for page in pages:
            await mirror.conn.execute("UPDATE indexed_pages SET read_at = read_at WHERE page_id = $1", page)
        await mirror.conn.execute("UPDATE pages SET title = 'Coffee'")
        assert (await push.push_changes(mirror.conn, server, mirror.names, most=20)).changes == 20
        gate.cut_after = 3000  # half of the next portion is on its way when the power goes
        with pytest.raises(SearchServerError):
            await push.push_changes(mirror.conn, server, mirror.names, most=20)
        own_server.kill()
        with pytest.raises(SearchServerError):
            await mirror.tend()
        assert await mirror.waiting() == 40
        own_server.start()
        await gate.open()
        await mirror.tend()
        assert await mirror.agrees()
        assert {page["title"] for page in (await mirror.there("page")).values()} == {"Coffee"}
