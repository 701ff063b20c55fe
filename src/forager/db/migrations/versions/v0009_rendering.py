"""Domains whose pages a browser draws.

Until the next release a change of `db/schema.sql` belongs in here too; a test compares what migrations build with it.
"""

from forager.db.migrations.scripts import run_script

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
