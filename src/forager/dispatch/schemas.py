"""Response schemas of the broker's queues."""

from typing import Annotated, Literal

from pydantic import Field

from forager.api.types import Body, Flag, Row
from forager.dispatch.service import MOST_DEAD

LetterId = Annotated[str, Field(pattern="^[0-9a-f]{12}$", examples=["3f9a12bc44d0"])]


class QueueRow(Row):
    queue: str = Field(examples=["crawl_queue.12"])
    kind: Literal["priority_queue", "crawl_queue", "parse_queue", "dead_letters"] = Field(
        description="What it is for, whatever its run."
    )
    messages: int = Field(description="That wait in it.", examples=[37])
    consumers: int = Field(description="Workers that listen.", examples=[4])


class Queues(Row):
    mode: Literal["inline", "celery"] = Field(description="The setting `queue`.", examples=["celery"])
    is_reachable: bool | None = Field(description="Whether the broker answers; null where there is none.")
    message: str | None = Field(
        description="Why nothing is known of queues: there are none, or their broker is away.",
        examples=["RabbitMQ at broker.example:5672 does not answer (ConnectionRefusedError)."],
    )
    queues: list[QueueRow]
    dead_letters: int | None = Field(description="Messages that no worker could use.", examples=[0])


class DeadMessage(Row):
    id: str = Field(description="Made from what it says.", examples=["3f9a12bc44d0"])
    queue: str | None = Field(description="Where it was refused.", examples=["crawl_queue"])
    why: str = Field(examples=["its version is 2, and only 1 is understood"])
    body: str = Field(description="How it begins.", examples=['[[{"v": 2, "run": 1}], {}, {}]'])


class RedriveMessages(Body):
    """Which: some by their ids, or all."""

    ids: list[LetterId] | None = Field(default=None, min_length=1, max_length=MOST_DEAD)
    all: Flag = Field(default=False, examples=[False])
    dry_run: Flag = Field(default=False, description="Move nothing: say how many would be.")


class RedrivenMessages(Row):
    redriven: int = Field(description="That were put back, or would be.", examples=[1])
    dry_run: bool


class EmptiedQueues(Row):
    purged: dict[str, int] = Field(
        description="Messages that were thrown away, or would be.", examples=[{"crawl_queue": 37}]
    )
    dry_run: bool
