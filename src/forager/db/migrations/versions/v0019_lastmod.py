"""What sitemaps say of changes, and how often it was true."""

from forager.db.migrations.scripts import run_script

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
