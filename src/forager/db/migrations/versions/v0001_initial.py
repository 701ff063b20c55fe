"""The first schema: runs, workers, domains, pages, tasks, links.

Frozen with the first release. Until then a change of `db/schema.sql` belongs in here too: copy it over
`v0001_initial.up.sql` and mend the `down` script; a test compares what they build.
"""

from forager.db.migrations.scripts import run_script

revision = "0001"
down_revision = None


def upgrade() -> None:
    run_script(__file__, "up")


def downgrade() -> None:
    run_script(__file__, "down")
