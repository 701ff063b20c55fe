"""Workers anywhere: labels of workers and domains, workers that are sent away, which older Forager may still start."""

from forager.db.migrations.scripts import run_script

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
