"""The manifests of `deploy/kubernetes`: what an API server would take, at the oldest and newest version we name, and
what Forager needs of them."""

import ipaddress
import re
from typing import Any

import kubernetes_validate
import pytest
import yaml
from tests.unit.deploy import deployed

from forager.config.settings import FIELDS
from forager.dispatch.names import CRAWL, PRIORITY

VERSIONS = ("1.30", "1.34")
FOREIGN = {"Kustomization", "Component", "ScaledObject", "ServiceMonitor", "PrometheusRule"}
"""Kinds that the API server learns from others; their schemas are not in the package."""
MANIFESTS = deployed.manifests()
OWN = [
    (f"{name}:{each['kind']}/{each['metadata']['name']}", each)
    for name, each in MANIFESTS
    if each["kind"] not in FOREIGN
]
PODS = {
    each["metadata"]["name"]: each["spec"]["template"]["spec"]
    for _, each in MANIFESTS
    if each["kind"] in {"Deployment", "Job"}
}
SERVERS = {each["metadata"]["name"]: each for _, each in MANIFESTS if each["kind"] == "StatefulSet"}
"""Servers of others, which Forager uses."""
each_pod = pytest.mark.parametrize("pod", PODS.values(), ids=PODS)


def only(kind: str, name: str) -> Any:
    (found,) = [each for _, each in MANIFESTS if each["kind"] == kind and each["metadata"]["name"] == name]
    return found


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("manifest", [each for _, each in OWN], ids=[name for name, _ in OWN])
def test_the_server_would_take_it(manifest: Any, version: str) -> None:
    kubernetes_validate.validate(manifest, version, strict=True)


def test_what_it_would_not_take_is_found_out() -> None:
    wrong = yaml.safe_load(yaml.safe_dump(only("Deployment", "forager-api")))
    wrong["spec"]["template"]["spec"]["containers"][0]["livenessprobe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


def test_every_file_belongs_to_a_kustomization() -> None:
    said = {deployed.KUBERNETES / "autoscaling/worker-without-keda.yaml"}
    for path in deployed.KUBERNETES.rglob("kustomization.yaml"):
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        named = [*content.get("resources", ()), *content.get("components", ())]
        assert all((path.parent / name).exists() for name in named)
        said |= {path, *((path.parent / name).resolve() for name in named)}
    assert set(deployed.KUBERNETES.rglob("*.yaml")) <= said


@each_pod
def test_a_pod_is_restricted(pod: Any) -> None:
    """As the Pod Security Standard `restricted` asks, which the namespace enforces."""
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["runAsUser"] == int(deployed.instruction("USER").partition(":")[0])
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    (container,) = pod["containers"]
    walls = container["securityContext"]
    assert not walls["allowPrivilegeEscalation"]
    assert walls["readOnlyRootFilesystem"]
    assert walls["capabilities"] == {"drop": ["ALL"]}
    assert not pod["automountServiceAccountToken"]
    assert {"requests", "limits"} == set(container["resources"])


@each_pod
def test_a_pod_is_not_told_of_services_by_its_environment(pod: Any) -> None:
    """The Service `forager-api` would come as FORAGER_API_PORT=tcp://…, and be taken for the setting."""
    assert pod["enableServiceLinks"] is False


@each_pod
def test_secrets_come_as_a_file_by_reference(pod: Any) -> None:
    (container,) = pod["containers"]
    assert "env" not in container
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert mounts["settings"] == "/etc/forager"
    assert {volume["name"] for volume in pod["volumes"]} == set(mounts)
    assert "Secret" not in {each["kind"] for _, each in MANIFESTS}
    assert not [value for value in only("ConfigMap", "forager")["data"].values() if "://" in value]


@pytest.mark.parametrize("name", ["forager-api", "forager-foreman"])
def test_alive_and_ready_are_two_questions(name: str) -> None:
    """/health is 503 while the database is away: no reason to kill the process, one to send nobody there."""
    (container,) = PODS[name]["containers"]
    assert container["livenessProbe"]["httpGet"]["path"] == "/"
    assert container["readinessProbe"]["httpGet"]["path"] == "/health"


def test_selectors_find_their_pods() -> None:
    labels = {
        each["metadata"]["name"]: each["spec"]["template"]["metadata"]["labels"]
        for _, each in MANIFESTS
        if each["kind"] in {"Deployment", "StatefulSet"}
    }
    for _, each in MANIFESTS:
        name = each["metadata"]["name"] if "metadata" in each else ""
        match each["kind"]:
            case "Deployment" | "PodDisruptionBudget":
                assert each["spec"]["selector"]["matchLabels"].items() <= labels[name].items()
            case "Service":
                assert each["spec"]["selector"].items() <= labels[name].items()
            case "HorizontalPodAutoscaler" | "ScaledObject":
                scaled = each["spec"]["scaleTargetRef"]["name"]
                assert scaled in labels
                assert "replicas" not in only("Deployment", scaled)["spec"], "two would decide how many there are"
            case "ServiceMonitor":
                service = only("Service", "forager-api")
                assert each["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
                (port,) = service["spec"]["ports"]
                assert {endpoint["port"] for endpoint in each["spec"]["endpoints"]} == {port["name"]}


def test_there_is_one_foreman_at_a_time() -> None:
    foreman = only("Deployment", "forager-foreman")["spec"]
    assert foreman["replicas"] == 1
    assert foreman["strategy"] == {"type": "Recreate"}


def test_workers_are_as_many_as_the_domains_they_may_hold_ask_for() -> None:
    held = only("ConfigMap", "forager")["data"]["FORAGER_WORKER_MAX_DOMAINS"]
    (trigger,) = only("ScaledObject", "forager-worker")["spec"]["triggers"]
    assert trigger["metadata"]["threshold"] == held
    assert all(isinstance(value, str) for value in trigger["metadata"].values())
    (metric,) = only("HorizontalPodAutoscaler", "forager-worker")["spec"]["metrics"]
    assert metric["external"]["target"]["averageValue"] == held
    reference = (deployed.DEPLOY.parent / "docs/reference/metrics.md").read_text(encoding="utf-8")
    for name in ("crawler_leases_held", "crawler_domains_waiting"):
        assert name in trigger["metadata"]["query"]
        assert f"`{name}`" in reference


def test_workers_by_the_queue_count_what_waits_there_and_what_is_held() -> None:
    (trigger,) = only("ScaledObject", "forager-worker-by-queue")["spec"]["triggers"]
    assert trigger["metadata"]["threshold"] == only("ConfigMap", "forager")["data"]["FORAGER_WORKER_MAX_DOMAINS"]
    reference = (deployed.DEPLOY.parent / "docs/reference/metrics.md").read_text(encoding="utf-8")
    for name in ("crawler_leases_held", "crawler_queue_messages"):
        assert name in trigger["metadata"]["query"]
        assert f"`{name}`" in reference
    for kind in (PRIORITY, CRAWL):
        assert f'queue="{kind}"' in trigger["metadata"]["query"]


def test_crawling_pods_reach_the_ports_that_may_be_dialled_and_nothing_private() -> None:
    (rule,) = only("NetworkPolicy", "forager-crawls")["spec"]["egress"]
    assert ports_of(rule) == FIELDS["fetch.allow_ports"].default
    assert_nothing_private(rule)


def test_the_api_reaches_a_public_bucket_and_nothing_private() -> None:
    policy = only("NetworkPolicy", "forager-bucket")["spec"]
    assert policy["podSelector"]["matchLabels"] == {"app.kubernetes.io/component": "api"}
    (rule,) = policy["egress"]
    assert ports_of(rule) == (443,)
    assert_nothing_private(rule)


def test_every_pod_reaches_the_servers_that_can_be_configured_by_ports_that_are_not_crawled() -> None:
    """PostgreSQL, PgBouncer, Redis, RabbitMQ, OpenSearch; for S3 SeaweedFS and MinIO. Anywhere: so no port of sites."""
    _, rule = only("NetworkPolicy", "forager-closed")["spec"]["egress"]
    assert "to" not in rule
    assert set(ports_of(rule)) == {5432, 6432, 6379, 5672, 9200, 8333, 9000}
    assert not set(ports_of(rule)) & set(FIELDS["fetch.allow_ports"].default)


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_is_restricted_and_reached_by_forager_alone(name: str) -> None:
    template = SERVERS[name]["spec"]["template"]
    pod, labels = template["spec"], template["metadata"]["labels"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not container["securityContext"]["allowPrivilegeEscalation"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert SERVERS[name]["spec"]["selector"]["matchLabels"] == labels
    assert only("Service", name)["spec"]["selector"] == labels
    (way_in,) = only("NetworkPolicy", name)["spec"]["ingress"]
    assert ports_of(way_in) == tuple(port["containerPort"] for port in container["ports"])
    (who,) = [each["podSelector"]["matchLabels"] for each in way_in["from"]]
    for _, each in MANIFESTS:
        if each["kind"] in {"Deployment", "Job"}:
            assert who.items() <= each["spec"]["template"]["metadata"]["labels"].items()


@pytest.mark.parametrize("name", ["postgres", "redis"])
def test_a_server_is_as_in_compose(name: str) -> None:
    (container,) = SERVERS[f"forager-{name}"]["spec"]["template"]["spec"]["containers"]
    there = deployed.compose()["services"][name]
    said = [word for word in container["args"] if "max_connections" not in word]
    assert container["image"] == there["image"]
    assert said == [word for word in there["command"] if "max_connections" not in word]
    assert any(
        f"@{name}:" in url or f"/{name}:" in url
        for url in re.findall(r'"(\S+)"', deployed.texts()["forager.toml.example"])
    )


def ports_of(rule: Any) -> tuple[int, ...]:
    return tuple(port["port"] for port in rule["ports"])


def assert_nothing_private(rule: Any) -> None:
    shut = [ipaddress.ip_network(net) for block in rule["to"] for net in block["ipBlock"]["except"]]
    for private in (
        "10.1.2.3",
        "172.31.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "127.0.0.1",
        "100.64.0.1",
        "fd00::1",
        "fe80::1",
    ):
        address = ipaddress.ip_address(private)
        assert any(address in net for net in shut if net.version == address.version), private
