"""States of a task that nothing wrote leave the table of moves; images per page are per page, not per visit."""

from forager.db.migrations.scripts import run_script

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
