"""Names that `deploy/` shares with the program mean something there: settings, commands, ports, startup parameters."""

import json
import re
import tomllib
from configparser import ConfigParser
from typing import Any

import pytest
from tests.unit.deploy import deployed

from forager.config.loader import ENV_PREFIX, load
from forager.config.settings import FIELDS, PATHS
from forager.db.pool import _options

VARIABLE = re.compile(rf"\b{ENV_PREFIX}([A-Z][A-Z_]*[A-Z])\b")
ASSIGNED = re.compile(rf"\b({ENV_PREFIX}[A-Z_]+)(?:=|: +)\"?([^\s\"]+)")
PORT = FIELDS["api.port"].default
PASSED_ON = {"application_name", "timezone", "client_encoding"}
"""Parameters that PgBouncer sets on the connection it lends; all others it refuses unless it is told to ignore them."""


@pytest.mark.parametrize("name", deployed.texts())
def test_every_variable_is_a_setting(name: str) -> None:
    named = {variable.lower() for variable in VARIABLE.findall(deployed.texts()[name])}
    assert named <= {*PATHS, "config"}


@pytest.mark.parametrize("name", deployed.texts())
def test_every_value_is_one_the_setting_takes(name: str) -> None:
    assigned = dict(ASSIGNED.findall(deployed.texts()[name]))
    assert assigned.pop("FORAGER_CONFIG", "/etc/forager/forager.toml") == "/etc/forager/forager.toml"
    load({}, assigned | {"FORAGER_HOME": "/var/lib/forager"})


def test_the_example_of_shared_settings_names_settings() -> None:
    example = deployed.texts()["forager.toml.example"]
    commented = "\n".join(re.findall(r"^# ((?:\w+ = |\[).*)$", example, re.MULTILINE))
    named = {*names_in(tomllib.loads(example)), *names_in(tomllib.loads(commented))}
    assert named <= set(FIELDS)
    assert {"contact", "database.url", "secret_key", "api.public_url"} <= named


def names_in(content: dict[str, Any]) -> set[str]:
    top = {name for name, value in content.items() if not isinstance(value, dict)}
    return top | {f"{name}.{key}" for name, value in content.items() if isinstance(value, dict) for key in value}


def test_every_command_is_one() -> None:
    services = deployed.compose()["services"]
    ours = {name: service for name, service in services.items() if "build" in service}
    said = [deployed.parse(service["command"]) for service in ours.values()]
    assert sorted(said) == ["db upgrade", "up", "worker"]
    pods = [pod_of(each) for _, each in deployed.manifests() if each["kind"] in {"Deployment", "Job"}]
    assert sorted(deployed.parse(pod["args"]) for pod in pods) == ["api", "db upgrade", "up", "worker"]
    assert [deployed.parse(words[1:]) for words in deployed.exec_starts()] == ["worker", "up"]
    *_, program = json.loads(deployed.instruction("ENTRYPOINT"))
    assert program == "forager"
    assert deployed.parse(json.loads(deployed.instruction("CMD"))) == "up"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (["down"], "No such command"),
        (["up", "--wrokers", "2"], "No such option"),
        (["db", "update"], "No such command"),
        (["worker", "--run", "none"], "valid integer"),
    ],
)
def test_a_command_that_is_none_is_found_out(wrong: list[str], words: str) -> None:
    with pytest.raises(Exception, match=words):
        deployed.parse(wrong)


def test_the_port_is_the_same_everywhere() -> None:
    assert deployed.instruction("EXPOSE") == str(PORT)
    assert f"http://127.0.0.1:{PORT}/health" in deployed.instruction("HEALTHCHECK")
    foreman = deployed.compose()["services"]["foreman"]
    assert foreman["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]
    assert foreman["command"][-2:] == ["--port", str(PORT)]
    containers = [pod_of(each) for _, each in deployed.manifests() if each["kind"] == "Deployment"]
    assert {port["containerPort"] for pod in containers for port in pod.get("ports", ())} == {PORT}


def test_pgbouncer_ignores_what_it_does_not_pass_on() -> None:
    settings = ConfigParser(comment_prefixes=(";",), interpolation=None)
    settings.read_string(deployed.texts()["pgbouncer.ini"])
    ignored = set(settings["pgbouncer"]["ignore_startup_parameters"].split(","))
    sent = set(_options("a worker", 1.0, 1.0)["server_settings"])
    assert sent <= ignored | PASSED_ON
    assert settings["pgbouncer"]["pool_mode"] == "session", "session locks and settings of a session need one"


def pod_of(manifest: dict) -> dict:  # type: ignore[type-arg]
    (container,) = manifest["spec"]["template"]["spec"]["containers"]
    return dict(container)
