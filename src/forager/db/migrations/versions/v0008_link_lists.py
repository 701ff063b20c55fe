"""The links of a page in one row: a sixth of the work, a third of the space.

Until the next release a change of `db/schema.sql` belongs in here too; a test compares what migrations build with it.
"""

from forager.db.migrations.scripts import run_script

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
