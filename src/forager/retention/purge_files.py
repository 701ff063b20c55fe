"""Builds a purge from Settings, and deletes the files that are unreferenced afterwards."""

import asyncio
from collections.abc import Sequence

from forager import clock
from forager.accounts.identity import Identity
from forager.config.settings import Settings
from forager.retention.purge_record import PurgeOrder
from forager.storage.factory import get_location


def order_of(settings: Settings, *, who: Identity, reason: str, is_trial: bool) -> PurgeOrder:
    return PurgeOrder(
        who,
        reason,
        is_trial,
        settings.worker.dead_after,
        refresh_every_s=settings.refresh.interval if settings.refresh.enabled else None,
        refused_rest_s=settings.cooldown.forbidden,
    )


async def delete_files(settings: Settings, keys: Sequence[str]) -> None:
    """Deletes image files; a separate job deletes snapshots."""
    if keys:
        await asyncio.to_thread(get_location(settings).delete, keys, unless_since=clock.now())
