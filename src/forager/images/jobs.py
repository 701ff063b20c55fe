"""Enqueues images that were found before their files were wanted, and are wanted now.

Commands that change the setting do it at once; this job covers changes through the API, and what a killed command left.
"""

from forager.images.service import queue_wanted
from forager.scheduler.job import Job, JobContext, Loop
from forager.scheduler.text import things


class ImagesJob(Job):
    name = "images"
    interval_s = 60.0
    loop = Loop.SLOW

    async def run(self, context: JobContext) -> str:
        return f"{things(await queue_wanted(context.forager), 'image')} queued"
