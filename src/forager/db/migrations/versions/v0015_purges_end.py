"""Purges say when they ended, so that one that was killed is told from one that is done."""

from forager.db.migrations.scripts import run_script

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
