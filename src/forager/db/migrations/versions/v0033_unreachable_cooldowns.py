"""A domain that nobody answers for rests a little longer each time: how often it did is counted."""

from forager.db.migrations.scripts import run_script

revision = "0033"
down_revision = "0032"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
