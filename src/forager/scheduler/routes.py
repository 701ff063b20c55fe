"""Jobs of the scheduler: when each ran and runs next, and running one now."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from forager.api.access import Admin, User
from forager.api.database import change, look
from forager.api.errors import responses
from forager.api.paging import Listed
from forager.api.reply import listed, reply
from forager.errors import ConflictError, NotFoundError, UsageError
from forager.runtime.schedule import all_jobs, find_jobs
from forager.scheduler import schemas as job_models
from forager.scheduler.store import list_jobs, trigger_job, with_unregistered

router = APIRouter(tags=["system"])


@router.get("/api/schedule", response_model=Listed[job_models.Job], responses=responses())
async def show_schedule(request: Request, _who: User) -> Response:
    """Every job, when it last ran, with which result, and when it runs next."""
    async with look(request) as conn:
        return listed(with_unregistered(await list_jobs(conn), all_jobs()))


# Changing ------------------------------------------------------------------------------------------------------------


@router.post(
    "/api/admin/schedule/{job}/run",
    status_code=202,
    response_model=job_models.JobTriggered,
    responses=responses(404, 409),
)
async def run_job(
    request: Request, who: Admin, job: Annotated[str, Path(pattern="^[a-z_]{1,40}$", examples=["score"])]
) -> Response:
    """Makes a job due now; a process that runs the scheduler runs it."""
    try:
        (found,) = find_jobs([job])
    except UsageError as error:
        raise NotFoundError(str(error)) from None
    async with change(request, who) as deed:
        if not await trigger_job(deed.conn, job, found.interval_s):
            raise ConflictError(f"The job {job} is running.", "job_running")
        await deed.note("schedule.run", "job", job)
    return reply({"job": job, "message": "It is due now."}, 202)
