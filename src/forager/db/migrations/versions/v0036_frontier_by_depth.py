"""The frontier's index knows the depth of pages; that pages have a domain is kept per statement, not per page."""

from forager.db.migrations.scripts import run_script

revision = "0036"
down_revision = "0035"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
