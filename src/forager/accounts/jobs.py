"""Deletes expired sessions, one-time links and failed logins. They are invalid already: every check has the time."""

from forager.accounts import store
from forager.scheduler.job import Job, JobContext
from forager.scheduler.text import things


class SessionsJob(Job):
    name = "sessions"
    interval_s = 900.0

    async def run(self, context: JobContext) -> str:
        gone = await store.clear_out(context.connection)
        tries = things(gone["attempts"], "login try", "login tries")
        return f"{things(gone['sessions'], 'session')}, {things(gone['invites'], 'link')}, {tries} deleted"
