"""Lists of pages and tasks find rare values by an index; a task knows whether it is of an image."""

from forager.db.migrations.scripts import run_script

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
