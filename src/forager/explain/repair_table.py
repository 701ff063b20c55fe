"""Maps each kind of damage that a check finds to its repair. The repairs are implemented in `repair.py`.

recompute   rebuilds what can be derived from other rows
revisit     fetches again what the site still has
backup      needs a backup, as there is no other source
"""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    RECOMPUTE = "recompute"
    REVISIT = "revisit"
    BACKUP = "backup"


@dataclass(frozen=True, slots=True)
class Repair:
    kind: Kind
    sentence: str
    actions: tuple[str, ...] = ()
    """Names of statements in `repair.sql`, or of functions in `repair.py`, in execution order."""


FROM_BACKUP = (
    "`forager backups` lists backups, `forager restore BACKUP --into FOLDER` brings one back into another folder."
)
DAMAGED = f"The files of the database are damaged, and only a backup has what was in them: {FROM_BACKUP}"


def _recompute(what: str, *actions: str) -> Repair:
    return Repair(Kind.RECOMPUTE, f"`forager repair` {what}.", actions)


def _revisit(what: str, *actions: str) -> Repair:
    return Repair(Kind.REVISIT, f"`forager repair` {what}, and orders a visit that brings the rest back.", actions)


def _backup(what: str) -> Repair:
    return Repair(Kind.BACKUP, f"{what} {FROM_BACKUP}")


REBUILD = _recompute("counts it again from pages and tasks (what `forager domains rebuild` does)", "rebuild")
SCHEMA = _recompute("makes the missing parts of the schema again", "schema")
HISTORY = _backup("History was changed or deleted behind the guard, and nothing else has it.")

REPAIRS: dict[str, Repair] = {
    # 1: pages and tasks
    "url_hashes": _recompute("makes the key again from the URL", "rehash_pages"),
    "one_page_per_url": _backup(
        "Two rows are one page: `forager domains merge` where their domains are one; else a backup."
    ),
    "domains_of_pages": _backup("Its domain was renamed, or the page given to another."),
    "duplicates": _recompute("removes the mark, and the next visits decide again", "free_duplicates"),
    "one_open_task": _recompute("removes open tasks beyond the first of a page", "drop_spare_tasks", "rebuild"),
    "tasks_of_pages": Repair(
        Kind.RECOMPUTE,
        "`forager repair` gives tasks to the domain of their page. Tasks whose page is gone need a backup: "
        + FROM_BACKUP,
        ("follow_pages", "drop_orphan_tasks"),
    ),
    "queued_pages": _recompute("sets the page to what its tasks say", "restate_pages", "drop_lost_tasks", "rebuild"),
    "visited_pages": _recompute("sets the page to what its tasks say", "restate_pages", "drop_lost_tasks", "rebuild"),
    "schema": SCHEMA,
    # 2: leases
    "leases_of_workers": _recompute("frees the domain", "free_leases", "unlock_tasks"),
    "lease_states": _recompute("frees the domain", "free_leases", "unlock_tasks"),
    "locks_under_leases": _recompute("unlocks the task", "unlock_tasks"),
    "lease_versions": _recompute("raises the version above every one that was given", "raise_versions"),
    # 3: history
    "closed_tasks": HISTORY,
    "evidence": HISTORY,
    "chains_of_tries": Repair(
        Kind.RECOMPUTE,
        "`forager repair` cuts the chain of an open task. Of closed tasks only a backup has it: " + FROM_BACKUP,
        ("cut_chains",),
    ),
    "archived_rows": _backup("What left the history is not counted as it should be."),
    "bodies_on_record": _revisit("forgets what is not there", "revisit_bodies"),
    "told_tasks": _recompute("orders the calls", "order_calls"),
    "history_guard": SCHEMA,
    "bodies_stored": _revisit("gives up the missing files", "revisit_bodies"),
    "bodies_readable": _backup(
        "That a file cannot be read does not prove it damaged: put right what stands in the way (permissions, the disk,"
        " access to the bucket), and check again. Only what the disk itself lost has to come from a backup:"
    ),
    "bodies_intact": _revisit("gives up the damaged files", "revisit_bodies"),
    "cold_files": _backup("The archive file is missing."),
    "cold_intact": _backup("The archive file is damaged."),
    "sealed_tasks": HISTORY,
    "sealed_moves": HISTORY,
    "sealed_audit": _backup("The audit log was changed or deleted."),
    "seals": _backup("The seals themselves were changed: what they prove is not proved any more."),
    # 4: links
    "link_ends": _revisit("removes ends that are not known", "trim_links", "count_links"),
    "links_of_pages": _revisit("counts the links that are there", "count_links"),
    "trapped_pages": _recompute("lets the page wait for a visit", "free_trapped", "rebuild"),
    "sightings": _recompute("removes sights of what is not known", "drop_sightings", "rebuild"),
    "images_of_domains": Repair(
        Kind.RECOMPUTE,
        "`forager repair` makes the key again from the URL. An image of a domain that is gone needs a backup: "
        + FROM_BACKUP,
        ("rehash_images",),
    ),
    "nothing_forgotten": REBUILD,
    "due_times": _recompute("sets the moment again", "wake_domains"),
    "page_depths": _recompute("lowers the depth to the shortest way", "relax_depths"),
    "traps_on_record": _backup(
        "Traps are found again as pages are read; those that were released by a person need a backup."
    ),
    # 5: counters
    "page_counters": REBUILD,
    "visit_counters": REBUILD,
    "image_counters": REBUILD,
    "urgent_domains": REBUILD,
    "copied_settings": _recompute("copies the settings again", "copy_settings"),
    "run_counters": _recompute("counts the run again from its tasks", "recount_runs"),
    "run_bytes": _recompute("counts the run again from its tasks", "recount_runs"),
    "run_limits": _recompute("counts the run again from its tasks", "recount_claims"),
    "run_links": _recompute(
        "sets the run to what was counted by the minute, where there is one run only", "recount_links"
    ),
    "run_pages": _recompute("counts the tasks of the domain", "recount_run_pages"),
    "depths_reached": _recompute("looks for the deepest page", "recount_depths"),
    # 6: politeness
    "pace": _backup(
        "What was asked too early cannot be undone: `forager audit politeness` shows it. If rows were altered:"
    ),
    "requests_on_record": _backup("The evidence of requests was erased."),
    "robots_on_record": _backup("The evidence of requests for robots.txt was erased."),
    "sealed_robots": _backup("The evidence of requests for robots.txt was changed or erased."),
    # 7: states
    "exhausted_domains": REBUILD,
    "blocked_domains": _recompute("gives the block a reason, and others none", "explain_blocks"),
    "last_moves": _recompute("notes the move that is missing", "note_moves"),
    "chained_moves": HISTORY,
    "allowed_moves": HISTORY,
    "table_of_moves": _recompute("writes the table of moves again", "moves"),
    "moves_guard": SCHEMA,
    "ordered_moves": _backup("What people ordered for tasks was changed."),
    "task_moves_table": _recompute("writes the table of moves again", "task_transitions"),
    "task_moves_guard": SCHEMA,
    "waiting_tasks": _recompute("lets the task wait for a person instead", "stop_waiting"),
    "jobs_on_record": _recompute("puts the job into the timetable", "post_jobs"),
    # 8: prices, and what can be found
    "sealed_prices": _backup("The history of prices was changed or deleted, and nothing else has it."),
    "chained_prices": _backup("The history of prices was changed or deleted, and nothing else has it."),
    "current_prices": Repair(
        Kind.RECOMPUTE,
        "`forager repair` sets the product to the newest row of its history. One without a history needs a backup: "
        + FROM_BACKUP,
        ("reprice_products",),
    ),
    "products_of_pages": _backup("The product was given to another page."),
    "records_of_pages": _backup("The record or its history was changed, and nothing else has it."),
    "indexed_pages": _recompute("indexes the page again", "index_missing"),
    "indexed_products": _recompute("indexes the product again", "index_missing"),
    "indexed_signals": _revisit("marks the page as not known", "revisit_signals"),
    "details_of_pages": _revisit("removes what was not read so", "revisit_details"),
}
"""Name of a check → how to repair what it finds."""
