"""Files of images have an end, and images that nobody asked for so far can be asked for."""

from forager.db.migrations.scripts import run_script

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
