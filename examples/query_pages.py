"""Exports all pages as CSV, loads them into SQLite and asks questions about them.

    python examples/query_pages.py

Any program that reads CSV can do the same. For large crawls, `forager export pages -o pages.parquet` is smaller.
"""

import csv
import sqlite3
import subprocess
import tempfile
from pathlib import Path

QUESTIONS = {
    "Pages by outcome": "SELECT outcome, count(*) FROM pages GROUP BY outcome ORDER BY count(*) DESC",
    "Pages by language": "SELECT language, count(*) FROM pages WHERE language <> '' GROUP BY language ORDER BY 2 DESC",
    "Titles of more than one page": """SELECT title, count(*) FROM pages WHERE title <> '' GROUP BY title
                                       HAVING count(*) > 1 ORDER BY count(*) DESC LIMIT 5""",
}


def load(file: Path) -> sqlite3.Connection:
    """Returns a database in memory with one table, `pages`, whose columns are those of the file."""
    database = sqlite3.connect(":memory:")
    with file.open(encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines)
        columns = next(rows)
        database.execute(f"CREATE TABLE pages ({', '.join(columns)})")
        database.executemany(f"INSERT INTO pages VALUES ({', '.join('?' * len(columns))})", rows)
    return database


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pages.csv"
        subprocess.run(["forager", "export", "pages", "--quiet", "-o", file], check=True)
        database = load(file)
    for question, sql in QUESTIONS.items():
        print(f"{question}:")
        for value, number in database.execute(sql):
            print(f"{number:>8}  {value}")
    database.close()


if __name__ == "__main__":
    main()
