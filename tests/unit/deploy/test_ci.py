"""The CI workflow is valid, covers the Pythons the package names, and runs verbs that the Makefile has."""

import json
import re
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).parents[3]
GITHUB = ROOT / ".github"
VERB = re.compile(r"^make (.+?)(?: PYTHON=python)?$")


def load(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader)


def schema(name: str) -> Any:
    vendored = resources.files("check_jsonschema").joinpath("builtin_schemas", "vendor", f"{name}.json")
    return json.loads(vendored.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def jobs() -> dict[str, Any]:
    found: dict[str, Any] = load(GITHUB / "workflows/ci.yml")["jobs"]
    return found


def test_the_workflow_follows_its_schema() -> None:
    document = yaml.safe_load((GITHUB / "workflows/ci.yml").read_text(encoding="utf-8"))
    document["on"] = document.pop(True)  # YAML 1.1 takes `on` for a truth
    jsonschema.validate(document, schema("github-workflows"))


@pytest.mark.parametrize("form", ["bug.yml", "idea.yml"])
def test_the_forms_of_issues_follow_their_schema(form: str) -> None:
    document = yaml.safe_load((GITHUB / "ISSUE_TEMPLATE" / form).read_text(encoding="utf-8"))
    jsonschema.validate(document, schema("github-issue-forms"))


def test_every_python_of_the_package_is_tested(jobs: dict[str, Any]) -> None:
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["classifiers"]
    named = [found.group(1) for each in classifiers if (found := re.search(r":: (3\.\d+)$", each))]
    assert jobs["test"]["strategy"]["matrix"]["python"] == named


def test_every_job_ends(jobs: dict[str, Any]) -> None:
    assert all(int(job["timeout-minutes"]) > 0 for job in jobs.values())


def test_every_verb_exists(jobs: dict[str, Any]) -> None:
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    verbs = {found.group(1) for command in commands if (found := VERB.match(command))} - {"${{ matrix.verb }}"}
    verbs |= {verb.split()[0] for verb in jobs["nightly"]["strategy"]["matrix"]["verb"]}
    existing = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"test", "dist", "fuzz", "sanitize"} <= verbs <= existing
