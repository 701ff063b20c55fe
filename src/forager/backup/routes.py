"""Backups of the instance."""

import asyncio

from fastapi import APIRouter, Request, Response

from forager.api.access import User
from forager.api.database import get_forager
from forager.api.errors import responses
from forager.api.paging import Listed
from forager.api.reply import listed
from forager.backup import archive as backup
from forager.backup import schemas as backup_models
from forager.backup.service import backup_folder

router = APIRouter(tags=["storage"])


@router.get("/api/storage/backups", response_model=Listed[backup_models.Backup], responses=responses())
async def list_backups(request: Request, _who: User) -> Response:
    """Whole backups, newest first."""
    found = await asyncio.to_thread(backup.list_backups, backup_folder(get_forager(request).settings))
    names = ("made_at", "forager", "revision", "server_major", "tables", "database_bytes", "file_count", "file_bytes")
    return listed([{"name": each.path.name, **{name: getattr(each, name) for name in names}} for each in found])
