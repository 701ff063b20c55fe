"""The alert rules for Prometheus: one file for each way to run it, with the same rules, about metrics that exist."""

import re
from typing import Any

import yaml
from tests.unit.deploy import deployed
from tests.unit.stats.test_prometheus import names

from forager.runtime.schedule import JOBS

FILE = deployed.DEPLOY / "prometheus/forager.rules.yml"
GROUPS: list[Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))["groups"]
RULES: list[Any] = [rule for group in GROUPS for rule in group["rules"]]


def test_the_operator_gets_the_same_rules() -> None:
    manifest = yaml.safe_load((deployed.KUBERNETES / "monitoring/rules.yaml").read_text(encoding="utf-8"))
    assert manifest["spec"]["groups"] == GROUPS


def test_rules_ask_for_metrics_and_records_that_exist() -> None:
    records = {rule["record"] for rule in RULES if "record" in rule}
    for rule in RULES:
        assert set(re.findall(r"crawler_\w+", rule["expr"])) <= names()
        assert set(re.findall(r"forager:[a-z0-9_:]+", rule["expr"])) <= records
        assert rule["expr"].count("(") == rule["expr"].count(")")


def test_the_job_that_is_waited_for_exists() -> None:
    waited = {name for rule in RULES for name in re.findall(r'job_name="(\w+)"', rule["expr"])}
    assert waited
    assert waited <= {job.name for job in JOBS}


def test_an_alert_says_what_is_wrong_how_bad_it_is_and_after_which_time() -> None:
    alerts = {rule["alert"]: rule for rule in RULES if "alert" in rule}
    assert {"ForagerDown", "ForagerStalled", "ForagerSchedulerStopped", "ForagerAlert"} <= set(alerts)
    for rule in alerts.values():
        assert rule["labels"]["severity"] in {"critical", "warning"}
        assert rule["for"]
        assert rule["annotations"]["summary"]
