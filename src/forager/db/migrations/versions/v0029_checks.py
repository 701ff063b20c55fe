"""A check of the promises that was started over HTTP has a row with its state and result."""

from forager.db.migrations.scripts import run_script

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
