"""More of what pages and products say: headline, site, days, ratings, structured data; regular and unit prices."""

from forager.db.migrations.scripts import run_script

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
