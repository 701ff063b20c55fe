"""Has a model read the texts of pages that extractors with `[model]` are for. Enabled by the setting `model.url`."""

import asyncio

from forager.config.settings import Settings
from forager.parsing.extractors.load import load_folder
from forager.records import model_store
from forager.records.model_client import ModelAwayError, is_configured, open_model
from forager.records.model_reading import ModelReader, find_pages
from forager.records.service import folder_of
from forager.scheduler.job import Job, JobContext, Loop
from forager.scheduler.text import things
from forager.storage.factory import open_readonly_store

RUN_S = 60.0
"""Then the next run goes on: jobs report what they did."""


class ModelExtractionJob(Job):
    name = "model_extraction"
    interval_s = 30.0
    loop = Loop.MODEL

    def is_enabled(self, settings: Settings) -> bool:
        return is_configured(settings)

    async def run(self, context: JobContext) -> str:
        settings, conn = context.settings, context.connection
        loaded = await asyncio.to_thread(load_folder, folder_of(settings.home))
        extractors = {each.name: each for each in loaded.by_model}
        await conn.execute(model_store.SQL["drop_answers"], settings.retention.bodies)
        if not extractors:
            return "no extractor file asks a model"
        async with open_model(settings) as model:
            await find_pages(conn, loaded.by_model)
            reader = ModelReader(context.forager, model, open_readonly_store(settings), extractors)
            await reader.run(conn, for_s=RUN_S)
        state, counts = await model_store.get_state(conn), await model_store.count_pages(conn)
        waiting = sum(each.waiting for name, each in counts.items() if name in extractors)
        if state.pause_left_s > 0 and waiting:
            wait = f"{things(waiting, 'page')} {'waits' if waiting == 1 else 'wait'}"
            raise ModelAwayError(f"{(state.last_error or '').rstrip('.')}. {wait} until it is asked again.")
        return _tell(reader, waiting, state.calls_today, settings.model.max_calls_per_day)


def _tell(reader: ModelReader, waiting: int, calls_today: int, most: int) -> str:
    told = f"{things(reader.read, 'page')} read, {things(reader.calls, 'call')}"
    if reader.failed:
        told += f", {things(reader.failed, 'page')} given up"
    if waiting:
        told += f", {things(waiting, 'page')} waiting"
    if waiting and calls_today >= most:
        told += f"; the {most:,} calls of today are used up (model.max_calls_per_day)"
    return told
