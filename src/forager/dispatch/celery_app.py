"""The Celery application: queues, tasks, and settings that keep a message until it is acknowledged. JSON only.

    celery -A forager.dispatch.factory inspect active_queues

A task is one hint. It computes nothing: the pool (`pool.py`) runs it once the worker has decided, and the task then
acknowledges the message, requeues it, or rejects it as a dead letter.
"""

from collections.abc import Callable
from typing import Any

from forager.config.extras import install_hint
from forager.dispatch.inbox import MessageReply
from forager.dispatch.message import InvalidMessageError, read_hint
from forager.dispatch.names import UNUSED_MS, Names
from forager.errors import ConfigurationError

CRAWL_TASK, PARSE_TASK = "forager.crawl", "forager.parse"
HEARTBEAT_S = 5
"""A connection whose other end is gone is closed after two missed heartbeats: after 12 s by us, 13 s by the broker.
With 10 it was 27 s, and 30 s until workers continued without the broker."""
CONNECT_S = 4.0
ANSWER_S = 5.0


def make_app(url: str, names: Names, *, run: int | None = None) -> Any:
    """Creates the application for a worker of this run; None: of the continuous run."""
    celery = import_celery()
    app = celery.Celery("forager", broker=url, set_as_current=False, fixups=[])
    queues = [queue_of(names, name) for name in names.of_run(run)]
    app.conf.update(
        task_queues=queues,
        task_default_queue=names.crawl(run, is_urgent=False),
        task_default_exchange=names.exchange,  # otherwise Celery creates one per run and leaves it behind
        task_create_missing_queues=False,
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        task_acks_late=True,
        task_acks_on_failure_or_timeout=False,
        worker_prefetch_multiplier=1,
        worker_enable_prefetch_count_reduction=False,
        worker_cancel_long_running_tasks_on_connection_loss=True,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_send_task_events=False,
        broker_heartbeat=HEARTBEAT_S,
        broker_connection_timeout=CONNECT_S,
        broker_connection_retry=True,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_channel_error_retry=True,  # otherwise a channel closed by the broker ends Celery
        # Heartbeats are checked once all queues are consumed; until then each response has this timeout.
        broker_transport_options={"confirm_publish": True, "read_timeout": ANSWER_S, "write_timeout": ANSWER_S},
        control_exchange=f"{names.prefix}celery",
        event_exchange=f"{names.prefix}celeryev",
    )
    return app


def add_tasks(app: Any, verdict: Callable[[], MessageReply]) -> None:
    """Registers the tasks that acknowledge, requeue or reject a message once the worker has decided on it."""
    from celery.exceptions import Reject

    def handle_message(*given: Any) -> None:
        try:
            read_hint(given[0] if len(given) == 1 else given)
        except InvalidMessageError as error:
            raise Reject(str(error), requeue=False) from None
        if verdict() is MessageReply.LATER:
            raise Reject("no room", requeue=True)

    for name in (CRAWL_TASK, PARSE_TASK):
        app.task(handle_message, name=name, typing=False, shared=False)


def queue_of(names: Names, name: str) -> Any:
    """Returns a durable queue; unusable messages go to the dead letters, and queues of an ended run expire."""
    from kombu import Exchange, Queue

    arguments: dict[str, Any] = {"x-dead-letter-exchange": names.dead, "x-dead-letter-routing-key": names.dead}
    if name.rpartition(".")[2].isdigit():
        arguments["x-expires"] = UNUSED_MS
    return Queue(name, Exchange("", type="direct"), routing_key=name, durable=True, queue_arguments=arguments)


def dead_queue(names: Names) -> Any:
    from kombu import Exchange, Queue

    return Queue(names.dead, Exchange(names.dead, type="direct", durable=True), routing_key=names.dead, durable=True)


def import_celery() -> Any:
    try:
        import celery
    except ImportError:
        raise ConfigurationError(
            f"dispatch.mode is celery, and Celery is not installed: {install_hint('celery', 'celery')}."
        ) from None
    return celery
