"""`deploy/compose.yaml` is what the Compose specification allows, and closed where it can be."""

import json
import re
from importlib import resources
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import pytest
from tests.unit.deploy import deployed

SERVICES: dict[str, Any] = deployed.compose()["services"]
OURS = {name: service for name, service in SERVICES.items() if "build" in service}


def specification() -> Any:
    vendored = resources.files("check_jsonschema").joinpath("builtin_schemas", "vendor", "compose-spec.json")
    return json.loads(vendored.read_text(encoding="utf-8"))


def test_it_follows_the_specification() -> None:
    jsonschema.validate(deployed.compose(), specification())


def test_what_does_not_follow_it_is_found_out() -> None:
    wrong = deployed.compose()
    wrong["services"]["foreman"]["restrat"] = "always"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, specification())


@pytest.mark.parametrize("name", OURS)
def test_our_containers_may_do_little(name: str) -> None:
    service = OURS[name]
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["user"] == deployed.instruction("USER")


@pytest.mark.parametrize("name", SERVICES)
def test_whatever_stays_has_limits_and_is_watched(name: str) -> None:
    service = SERVICES[name]
    if service["restart"] == "no":
        return
    assert {"cpus", "memory"} == set(service["deploy"]["resources"]["limits"])
    assert "healthcheck" in service or name == "foreman", "the foreman's is in the image"


def test_all_that_is_named_is_declared() -> None:
    whole = deployed.compose()
    for service in SERVICES.values():
        assert set(service.get("networks", ())) <= set(whole["networks"])
        mounted = {volume.partition(":")[0] for volume in service.get("volumes", ())}
        assert mounted <= set(whole["volumes"])
        for kind in ("secrets", "configs"):
            used = {each if isinstance(each, str) else each["source"] for each in service.get(kind, ())}
            assert used <= set(whole[kind])
        assert set(service.get("depends_on", ())) <= set(SERVICES)


def test_volumes_lie_where_the_image_has_folders_of_its_account() -> None:
    """A new volume gets the owner of the folder it covers; without one, it is root's."""
    (made,) = re.findall(r"--owner=10001 --group=10001 --mode=0750 ([^\\\n]+)", deployed.CONTAINERFILE.read_text())
    for service in OURS.values():
        assert {volume.split(":")[1] for volume in service.get("volumes", ())} <= set(made.split())


def test_a_home_is_shared_by_no_two_containers() -> None:
    """Notes of what a worker reads are named by its process number, which each container counts from one."""
    homes = [volume for service in SERVICES.values() for volume in service.get("volumes", ()) if "home:" in volume]
    assert len(homes) == 1


def test_every_part_that_settings_can_name_can_be_started_and_only_on_request() -> None:
    """Where forager.toml.example has an address, somebody here has that name."""
    example = deployed.texts()["forager.toml.example"]
    named = {urlsplit(url).hostname for url in re.findall(r'"((?:postgresql|redis|amqp|http)://[^"]+)"', example)}
    assert named == {"postgres", "redis", "rabbitmq", "opensearch", "seaweedfs"}
    for name in named - {"postgres"}:
        service = SERVICES[str(name)]
        assert service["profiles"] == [name]
        assert service["networks"] == ["inside"], "nobody else reaches it"
        assert service["cap_drop"] == ["ALL"]
    (bucket,) = re.findall(r'"s3://([^/"]+)', example)
    assert f"s3.bucket.create -name {bucket}" in deployed.COMPOSE.read_text(encoding="utf-8")


def test_no_secret_is_in_it() -> None:
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            if "PASSWORD" in name or "SECRET" in name or "KEY" in name:
                assert value is None or value.startswith("/run/secrets/"), "a file, or as `.env` says"
            assert "://" not in (value or "")


def test_the_example_of_env_names_what_is_read_with_its_defaults() -> None:
    read = dict(re.findall(r"\$\{(\w+):-([^}]*)\}", deployed.COMPOSE.read_text(encoding="utf-8")))
    passed_on = {name for name, value in SERVICES["foreman"]["environment"].items() if value is None}
    named = dict(re.findall(r"^(?:# )?([A-Z_]+)=(.*)$", deployed.texts()[".env.example"], re.MULTILINE))
    assert named == read | dict.fromkeys(passed_on, "")
