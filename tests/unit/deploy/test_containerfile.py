"""`deploy/Containerfile`: a base that can be pinned, an account that is not root, files that exist."""

import importlib.util
import re

from tests.unit.deploy import deployed

TEXT = deployed.CONTAINERFILE.read_text(encoding="utf-8")
ROOT = deployed.DEPLOY.parent


def test_every_stage_has_the_base_that_was_chosen() -> None:
    assert re.findall(r"^FROM (\S+)", TEXT, re.MULTILINE) == ["${PYTHON_IMAGE}", "${PYTHON_IMAGE}"]


def test_its_python_is_one_the_package_takes() -> None:
    (minor,) = re.findall(r"^ARG PYTHON_IMAGE=python:3\.(\d+)-", TEXT, re.MULTILINE)
    classifiers = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f"Programming Language :: Python :: 3.{minor}" in classifiers


def test_it_runs_as_a_number_that_is_not_root() -> None:
    """Kubernetes has to see that it is not root, which it cannot from a name."""
    user, group = deployed.instruction("USER").split(":")
    assert int(user) > 0
    assert int(group) > 0


def test_what_is_copied_exists_and_is_let_through_to_the_builder() -> None:
    sources = [name for line in re.findall(r"^COPY (?!--from)(.*)$", TEXT, re.MULTILINE) for name in line.split()[:-1]]
    let_through = set(re.findall(r"^!(\S+)$", deployed.texts()["Containerfile.dockerignore"], re.MULTILINE))
    assert sources
    assert all((ROOT / name).exists() for name in sources)
    assert set(sources) == let_through


def test_the_image_has_its_inner_loops_in_c() -> None:
    """The compiler is in the stage that builds, and a wheel without them ends the build."""
    build, image = TEXT.split("\nFROM ")[1:]
    assert "gcc libc6-dev" in build
    assert "check_native" in build
    assert "gcc" not in image
    assert "**/*.so" in deployed.texts()["Containerfile.dockerignore"].split(), (
        "what was compiled elsewhere stays there"
    )


def test_what_its_python_imports_exists() -> None:
    found = re.findall(r"from (forager[\w.]*) import (\w+)", TEXT)
    assert found
    for module, name in found:
        assert hasattr(importlib.import_module(module), name) or importlib.util.find_spec(f"{module}.{name}")
