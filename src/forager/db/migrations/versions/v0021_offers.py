"""Offers: domains whose hints are on their way to workers through a broker, and what that broker says of its queues."""

from forager.db.migrations.scripts import run_script

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
