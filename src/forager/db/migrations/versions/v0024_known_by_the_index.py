"""What is known of a URL is answered by the index it is looked up in."""

from forager.db.migrations.scripts import run_script

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
