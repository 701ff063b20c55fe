"""What readings say beyond title and text; the link graph.

Until the next release a change of `db/schema.sql` belongs in here too; a test compares what migrations build with it.
"""

from forager.db.migrations.scripts import run_script

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
