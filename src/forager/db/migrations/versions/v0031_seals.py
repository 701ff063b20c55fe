"""Digests of what never changes: history, prices, moves, requests for robots.txt, the audit log."""

from forager.db.migrations.scripts import run_script

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
