"""Homes with a cluster already in them, and processes that use its server."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.db.guests import Guest, Invite

from forager.db import embedded
from forager.db.embedded.paths import Place


@pytest.fixture(scope="session")
def finished_cluster(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Made once: making one takes a second, copying it a tenth."""
    folder = run_folder / f"cluster-{tmp_path_factory.getbasetemp().name}"
    embedded.join(folder).leave()
    yield Place.of(folder).data
    shutil.rmtree(folder)


@pytest.fixture
def made_home(home: Path, finished_cluster: Path) -> Path:
    """A home with a stopped, unused cluster."""
    subprocess.run(["cp", "-a", str(finished_cluster), str(Place.of(home).data)], check=True)
    return home


@pytest.fixture
def invite(home: Path) -> Iterator[Invite]:
    guests: list[Guest] = []

    def invite_one(place: Path | None = None, uid: int | None = None) -> Guest:
        guests.append(Guest(home if place is None else place, uid))
        return guests[-1]

    yield invite_one
    for guest in guests:
        if guest.process.poll() is None:
            guest.kill()
        for stream in (guest.process.stdin, guest.process.stdout):
            assert stream is not None
            stream.close()
