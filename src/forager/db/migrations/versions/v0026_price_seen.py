"""Products say when their price was last read, and since when their pages do not show them."""

from forager.db.migrations.scripts import run_script

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
