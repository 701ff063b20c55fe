"""Every statement behind a list of the API, by name."""

from forager.domains.queries import SQL as DOMAINS
from forager.frontier.queries import SQL as FRONTIER
from forager.images.queries import SQL as IMAGES
from forager.pages.queries import SQL as PAGES
from forager.products.queries import SQL as PRODUCTS
from forager.records.items import SQL as RECORDS
from forager.runs.queries import SQL as RUNS
from forager.scheduler.store import SQL as JOBS
from forager.tasks.queries import SQL as TASKS
from forager.workers.queries import SQL as WORKERS

SQL = {**DOMAINS, **FRONTIER, **IMAGES, **PAGES, **PRODUCTS, **RUNS, **JOBS, **TASKS, **WORKERS}
SQL["list_item_pages"] = RECORDS["list_item_pages"]
