"""A revision that a later Forager may bring, made up in a folder and run by the real Alembic."""

from importlib import resources
from pathlib import Path

from alembic import command

from forager.db import migrate, schema

NEXT = f"{int(schema.head()) + 1:04}"
MODULE = """
from pathlib import Path
from forager.db.migrations.scripts import run_script

revision, down_revision = "{next}", "{head}"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
"""


def add_next(dsn: str, folder: Path, up: str) -> None:
    """Bring a database one revision further than this Forager knows."""
    name = folder / f"v{NEXT}_of_tomorrow.py"
    name.write_text(MODULE.format(next=NEXT, head=schema.head()))
    name.with_suffix(".up.sql").write_text(up)
    configuration = migrate._configuration(dsn)
    ours = resources.files("forager.db").joinpath("migrations", "versions")
    configuration.set_main_option("path_separator", "newline")
    configuration.set_main_option("version_locations", f"{ours}\n{folder}")
    with migrate._ALONE:
        command.upgrade(configuration, NEXT)
