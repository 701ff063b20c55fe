"""Pages by language; products by the words of their names, by price and by day."""

from forager.db.migrations.scripts import run_script

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
