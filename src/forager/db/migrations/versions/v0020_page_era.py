"""An era of pages, which ends when any are deleted: what was remembered of them outside the database is void then."""

from forager.db.migrations.scripts import run_script

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
