"""Every route of the API. A route authenticates the caller, calls its feature and responds."""

from forager.accounts.routes import audit, auth, users
from forager.alerts import routes as alerts
from forager.api import system
from forager.backup import routes as backups
from forager.captures import routes as captures
from forager.dispatch import routes as queues
from forager.domains.routes import bulk as domains_bulk
from forager.domains.routes import denied as domains_denied
from forager.domains.routes import domains, profiles
from forager.explain.routes import checks as explain
from forager.export import routes as exports
from forager.frontier import routes as frontier
from forager.images import routes as images
from forager.pages import routes as pages
from forager.plugins import routes as plugins
from forager.products import routes as products
from forager.proxies import routes as proxies
from forager.records import routes as records
from forager.retention import routes as retention
from forager.runs import routes as runs
from forager.scheduler import routes as schedule
from forager.search import routes as search
from forager.stats.routes import stats
from forager.storage import routes as storage
from forager.tasks.routes import bulk as tasks_many
from forager.tasks.routes import errors, tasks
from forager.workers import routes as workers

ALL = tuple(
    noun.router
    for noun in (
        system,
        workers,
        schedule,
        plugins,
        explain,
        audit,
        queues,
        stats,
        domains,
        domains_bulk,
        domains_denied,
        profiles,
        frontier,
        pages,
        captures,
        tasks,
        tasks_many,
        runs,
        products,
        records,
        images,
        search,
        proxies,
        exports,
        alerts,
        errors,
        storage,
        retention,
        backups,
        auth,
        users,
    )
)
SEED_PATHS = frontier.SEED_PATHS | tasks.SEED_PATHS
"""Where a body may be as large as a list of seeds."""
