"""Runs the SQL scripts of a revision inside Alembic's transaction."""

from pathlib import Path
from typing import Literal

from alembic import op


def run_script(revision_file: str, direction: Literal["up", "down"]) -> None:
    """Scripts have many statements, which only the driver's own `execute` takes."""
    script = Path(revision_file).with_suffix(f".{direction}.sql").read_text(encoding="utf-8")
    connection = op.get_bind()
    connection.exec_driver_sql("SELECT 1")  # opens the transaction that the script must be part of
    adapted = connection.connection.dbapi_connection
    assert adapted is not None
    if script.strip():  # the driver takes no empty one
        adapted.run_async(lambda driver: driver.execute(script))
