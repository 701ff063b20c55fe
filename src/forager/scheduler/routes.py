"""Jobs of the scheduler: when each ran and runs next, and running one now."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from forager.api.access import Admin, User
from forager.api.paging import Listed
from forager.api.problems import responses
from forager.api.reply import listed, reply
from forager.api.work import change, look
from forager.errors import ConflictError, NotFoundError, UsageError
from forager.runtime.schedule import DUTIES, find_jobs
from forager.scheduler import schemas as job_models
from forager.scheduler.run_now import hasten
from forager.scheduler.scheduler import read_duties

router = APIRouter(tags=["system"])


@router.get("/api/schedule", response_model=Listed[job_models.Duty], responses=responses())
async def show_schedule(request: Request, _who: User) -> Response:
    """Every duty, when it was done, with which result, and when it is next."""
    async with look(request) as conn:
        found = {row["name"]: row for row in await read_duties(conn)}
    unknown = dict.fromkeys(("started_at", "ended_at", "took_s", "result", "error", "next_at")) | {"times": 0}
    names = sorted({*DUTIES, *found})
    return listed([found.get(name) or {"name": name, "every_s": DUTIES[name].EVERY_S, **unknown} for name in names])


# Changing ------------------------------------------------------------------------------------------------------------


@router.post(
    "/api/admin/schedule/{duty}/run",
    status_code=202,
    response_model=job_models.JobTriggered,
    responses=responses(404, 409),
)
async def run_duty(
    request: Request, who: Admin, duty: Annotated[str, Path(pattern="^[a-z_]{1,40}$", examples=["score"])]
) -> Response:
    """A duty is due at once; whoever keeps the timetable does it."""
    try:
        (found,) = find_jobs([duty])
    except UsageError as error:
        raise NotFoundError(str(error)) from None
    async with change(request, who) as deed:
        if not await hasten(deed.conn, duty, found.EVERY_S):
            raise ConflictError(f"{duty} is being done right now.", "job_running")
        await deed.note("schedule.run", "duty", duty)
    return reply({"duty": duty, "message": "It is due now."}, 202)
