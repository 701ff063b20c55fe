"""The audit log: who changed what."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from forager.accounts import audit
from forager.accounts import audit_schemas as audit_models
from forager.api import paging
from forager.api.access import Admin
from forager.api.database import look
from forager.api.errors import responses
from forager.api.paging import Paged
from forager.api.types import After, Limit, Moment, Name, Text

router = APIRouter(tags=["system"])


@router.get("/api/admin/audit", response_model=Paged[audit_models.AuditEntry], responses=responses(404))
async def list_audit(
    request: Request,
    _who: Admin,
    *,
    who: Annotated[Name | None, Query(description="Such as api:alice.")] = None,
    action: Annotated[Name | None, Query(description="Such as domain.pause, or domain.")] = None,
    kind: Annotated[Name | None, Query()] = None,
    object_id: Annotated[Text | None, Query(max_length=2000)] = None,
    since: Annotated[Moment | None, Query()] = None,
    until: Annotated[Moment | None, Query()] = None,
    limit: Limit = 100,
    after: After = None,
) -> Response:
    """Who changed what, newest first."""
    (before,) = paging.read(request, after, paging.BY_ID)
    async with look(request) as conn:
        rows = await audit.read(
            conn,
            before=before,
            limit=limit + 1,
            who=who,
            action=action,
            kind=kind,
            object_id=object_id,
            since=since,
            until=until,
        )
    return paging.page(request, rows, limit)
