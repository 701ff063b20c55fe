"""A search server beside PostgreSQL: what it has to hear of, what it refused, and its indexes."""

from forager.db.migrations.scripts import run_script

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
