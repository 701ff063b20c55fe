"""Numbers by the minute, alerts, patterns of errors.

Until the next release a change of `db/schema.sql` belongs in here too; a test compares what migrations build with it.
"""

from forager.db.migrations.scripts import run_script

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
