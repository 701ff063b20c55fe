"""Products that only lists showed so far; how many pages of one template a domain may have taken."""

from forager.db.migrations.scripts import run_script

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
