import pytest
from tests.ground import Ground, database, database_url, ground
from tests.integration.world import forager, world

__all__ = ["alerts_are_new", "database", "database_url", "forager", "ground", "world"]


@pytest.fixture(autouse=True)
async def alerts_are_new(ground: Ground) -> None:
    """Tables that are not emptied with the domains."""
    await ground.conn.execute(
        "DELETE FROM alerts; DELETE FROM alert_watches; DELETE FROM alert_mutes; DELETE FROM alert_targets;"
        " DELETE FROM webhook_calls; DELETE FROM series; DELETE FROM series_parts; DELETE FROM jobs;"
        " DELETE FROM proxies"
    )
