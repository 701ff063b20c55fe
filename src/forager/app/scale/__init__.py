"""`forager sim scale`: what so many workers would do with so many domains, before anybody pays for them.

web (made up) ──> tempo (the crawl's own pace) ──> course (turns, as the claim gives them) ──> forecast
                  scores (the database's own formula) ──┘          costs (measured) ──┘
"""

from typing import Any

from forager.app.scale.forecast import Forecast, Machines, foresee
from forager.app.scale.web import WebPlan, generate_web
from forager.domains import store as domains
from forager.settings import Settings

__all__ = ["Forecast", "Machines", "WebPlan", "forecast_scale"]
BATCH = 20_000


async def forecast_scale(
    conn: Any, plan: WebPlan, machines: Machines, settings: Settings, *, until_s: float
) -> Forecast:
    web = generate_web(plan)
    scores: list[float] = []
    for start in range(0, plan.domains, BATCH):
        sizes = web.sizes[start : start + BATCH]
        scores += await domains.score_imagined(conn, range(start + 1, start + len(sizes) + 1), sizes)
    if settings.scheduling != "smart":
        scores = [0.0] * plan.domains
    return foresee(plan, web, scores, machines, settings, until_s=until_s)
