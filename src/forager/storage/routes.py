"""How much space tables and files take."""

from fastapi import APIRouter, Request, Response

from forager.api.access import User
from forager.api.database import exclusive_request, get_forager, snapshot
from forager.api.errors import responses
from forager.api.reply import reply
from forager.backup.service import stored_folders
from forager.images.service import image_rules
from forager.retention.service import rules_of
from forager.storage import schemas as models
from forager.storage import usage as storage

router = APIRouter(tags=["storage"])
REPORT_S = 60.0


@router.get("/api/storage", response_model=models.Storage, responses=responses())
async def show_storage(request: Request, _who: User) -> Response:
    """How much room everything takes, how fast it grows, and what the tables need."""
    settings = get_forager(request).settings
    async with exclusive_request(request), snapshot(request, REPORT_S) as conn:
        folders, every_s = stored_folders(settings), settings.refresh.interval
        rules = [*rules_of(settings), *await image_rules(conn, settings)]
        found = await storage.report(conn, folders, settings.home, rules, refresh_every_s=every_s)
    return reply(found.as_document())
