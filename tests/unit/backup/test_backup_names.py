"""Names of files that a backup lists: only what lies in the folders of stored files is put back."""

import gzip
import json

import pytest

from forager.backup.files import FOLDERS, parse_file_list
from forager.errors import StoreError
from forager.parsing.extractors.load import FOLDER as EXTRACTORS
from forager.retention import archive_file as cold_file
from forager.storage.body_store import FOLDER as BODIES


def listed(name: str) -> bytes:
    return gzip.compress(json.dumps({"path": name, "size_bytes": 1, "sha256": "x"}).encode())


def test_the_folders_are_those_of_a_data_folder() -> None:
    assert {BODIES, cold_file.FOLDER, EXTRACTORS} == FOLDERS


@pytest.mark.parametrize("name", ["bodies/ab/cd.zst", "cold/visits/2026-01.jsonl.zst"])
def test_stored_files_are_put_back(name: str) -> None:
    assert list(parse_file_list(listed(name))) == [name]


@pytest.mark.parametrize(
    "name",
    [
        "forager.toml",
        "secret.key",
        "postgres/pg_hba.conf",
        "plugins/x.py",
        "bodies",
        "bodies/../forager.toml",
        "/etc/x",
    ],
)
def test_nothing_else_is(name: str) -> None:
    with pytest.raises(StoreError, match="bad name"):
        parse_file_list(listed(name))
