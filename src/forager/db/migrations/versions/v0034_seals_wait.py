"""What leaves the history while it is being sealed waits for the seal, and is noted in it."""

from forager.db.migrations.scripts import run_script

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
