"""One file for each noun; `ALL` is the whole surface. A route finds out who asks, calls `control`, and answers."""

from forager.api.routes import (
    alerts,
    auth,
    domains,
    domains_bulk,
    errors,
    exports,
    frontier,
    images,
    pages,
    products,
    proxies,
    queues,
    runs,
    search,
    stats,
    storage,
    system,
    tasks,
    tasks_many,
    users,
)

ALL = tuple(
    noun.router
    for noun in (
        system,
        queues,
        stats,
        domains,
        domains_bulk,
        frontier,
        pages,
        tasks,
        tasks_many,
        runs,
        products,
        images,
        search,
        proxies,
        exports,
        alerts,
        errors,
        storage,
        auth,
        users,
    )
)
SEED_PATHS = frontier.SEED_PATHS | tasks.SEED_PATHS
"""Where a body may be as large as a list of seeds."""
