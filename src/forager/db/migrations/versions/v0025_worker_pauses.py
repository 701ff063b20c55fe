"""Workers that are paused for a reason of our own say so."""

from forager.db.migrations.scripts import run_script

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
