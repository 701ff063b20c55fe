"""The first schema: runs, workers, domains, pages, tasks, links."""

from forager.db.migrations.scripts import run_script

revision = "0001"
down_revision = None


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
