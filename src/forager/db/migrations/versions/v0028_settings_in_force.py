"""A domain keeps the networks it may be dialled in, and tells its worker that its settings have changed."""

from forager.db.migrations.scripts import run_script

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
