"""A check that was started over HTTP may be a deep one."""

from forager.db.migrations.scripts import run_script

revision = "0032"
down_revision = "0031"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
