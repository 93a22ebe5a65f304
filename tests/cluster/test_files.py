"""What stands in cluster/: valid by the published schemas, safe, and of the versions that were measured."""

import gzip
import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from jobs.cli import app
from mprlib import __version__
from tests.cluster.start_commands import CLUSTER, KUBERNETES, LAUNCHERS, cluster_of, load

ROOT = CLUSTER.parent
DEFINITIONS = Path(__file__).parent / "definitions"
DEFINITION_OF = {
    "RayJob": "ray.io_rayjobs.json.gz",
    "RayCronJob": "ray.io_raycronjobs.json.gz",
    "RayCluster": "ray.io_rayclusters.json.gz",
}
RAY_FILES = [path for path in KUBERNETES if load(path)["kind"] in DEFINITION_OF]
IMAGE = "registry.example/mpr-audit"


def name_of(path: Path) -> str:
    return path.name


def inside(value: Any) -> Iterator[dict[str, Any]]:
    """Every mapping in a document."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from inside(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from inside(inner)


def strict(schema: Any) -> Any:
    """The schema with unknown fields refused, as `kubectl --validate=strict` does."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: strict(value) for key, value in schema.items()}
    is_open = schema.get("x-kubernetes-preserve-unknown-fields") or "additionalProperties" in schema
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object" and not is_open:
        made["additionalProperties"] = False
    return made


@pytest.fixture(scope="module")
def definitions():
    made = {}
    for kind, file in DEFINITION_OF.items():
        definition = json.loads(gzip.decompress((DEFINITIONS / file).read_bytes()))
        [version] = [one for one in definition["spec"]["versions"] if one["name"] == "v1"]
        made[kind] = strict(version["schema"]["openAPIV3Schema"])
    return made


@pytest.mark.parametrize("path", RAY_FILES, ids=name_of)
def test_ray_files_are_valid(path, definitions):
    document = load(path)
    assert document["apiVersion"] == "ray.io/v1"
    jsonschema.validate(document, definitions[document["kind"]])


def test_an_unknown_field_would_be_found(definitions):
    document = load(CLUSTER / "kubernetes" / "rayjob.yaml")
    document["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0]["imag"] = "x"
    with pytest.raises(jsonschema.ValidationError, match="imag"):
        jsonschema.validate(document, definitions["RayJob"])


def test_pods_of_the_schedule_are_valid(definitions):
    """Kubernetes' own CronJob has no schema here; its pod is held to the one inside KubeRay's."""
    pod = definitions["RayJob"]["properties"]["spec"]["properties"]["submitterPodTemplate"]
    cron = load(CLUSTER / "kubernetes" / "cronjob.yaml")
    jsonschema.validate(cron["spec"]["jobTemplate"]["spec"]["template"], pod)
    assert cron["spec"]["concurrencyPolicy"] == "Forbid"


@pytest.mark.parametrize("path", LAUNCHERS, ids=name_of)
def test_launcher_files_are_valid(path):
    schema = Path(find_spec("ray").origin).parent / "autoscaler" / "ray-schema.json"
    settings = load(path)
    jsonschema.validate(settings, json.loads(schema.read_text()))
    types = settings["available_node_types"]
    assert types["gpu"]["min_workers"] == 0
    spot = json.dumps([types[name]["node_config"] for name in ("cpu", "gpu")]).lower()
    assert spot.count("spot") >= 2
    assert "spot" not in json.dumps(types["head"]).lower()


@pytest.mark.parametrize("path", RAY_FILES, ids=name_of)
def test_clusters_ask_for_the_token_and_scale_from_nothing(path):
    cluster = cluster_of(load(path))
    assert cluster["authOptions"] == {"mode": "token", "secretName": "mpr-audit-token"}
    assert cluster["headGroupSpec"]["serviceType"] == "ClusterIP"
    assert cluster["headGroupSpec"]["enableIngress"] is False
    groups = {group["groupName"]: group for group in cluster["workerGroupSpecs"]}
    assert groups["gpu"]["minReplicas"] == groups["gpu"]["replicas"] == 0
    assert groups["gpu"]["template"]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "1"
    for group in [cluster["headGroupSpec"], *groups.values()]:
        resources = group["template"]["spec"]["containers"][0]["resources"]
        assert resources["requests"] == resources["limits"]


def test_jobs_end_and_leave_their_results():
    for name in ("rayjob", "raycronjob"):
        spec = load(CLUSTER / "kubernetes" / f"{name}.yaml")["spec"]
        spec = spec.get("jobTemplate", spec)
        assert spec["shutdownAfterJobFinishes"] is True
        assert min(spec["ttlSecondsAfterFinished"], spec["backoffLimit"], spec["activeDeadlineSeconds"]) > 0
        assert "--output s3://" in spec["entrypoint"]


def test_one_cluster_for_every_way():
    """The three files hold the same cluster, so that what was tried with one holds for the others."""
    first, *others = [cluster_of(load(path)) for path in RAY_FILES]
    assert all(other == first for other in others)


@pytest.mark.parametrize("path", KUBERNETES, ids=name_of)
def test_no_pod_is_privileged(path):
    pods = [one for one in inside(load(path)) if "containers" in one]
    assert pods or path.name == "network-policy.yaml"
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)
        for container in pod["containers"]:
            assert container["securityContext"]["allowPrivilegeEscalation"] is False
            assert container["securityContext"]["capabilities"]["drop"] == ["ALL"]


@pytest.mark.parametrize("path", [*KUBERNETES, *LAUNCHERS], ids=name_of)
def test_no_secret_and_no_public_dashboard(path):
    text = path.read_text(encoding="utf-8")
    assert "LoadBalancer" not in text
    assert "NodePort" not in text
    assert "0.0.0.0" not in text
    for mapping in inside(load(path)):
        for key, value in mapping.items():
            if not isinstance(value, str) or value.startswith("~/"):
                continue
            # A long run of letters and digits is what tokens and keys look like.
            assert not re.search(r"(?<![\w/.-])[A-Za-z0-9+]{32,}(?![\w/.-])", value), (key, value)
            # A toleration's or a Secret entry's `key` is a name.
            assert not re.search(r"(?i)(token|secret|password|credential|.key)$", key), (key, value)
        if str(mapping.get("name", "")).upper().endswith(("TOKEN", "SECRET", "PASSWORD")) and "value" in mapping:
            pytest.fail(f"{mapping['name']} has its value in the file")


def test_launchers_open_nothing_but_ssh():
    aws = load(CLUSTER / "launcher" / "aws.yaml")["provider"]["security_group"]["IpPermissions"]
    assert [(one["FromPort"], one["ToPort"]) for one in aws] == [(22, 22)]
    gcp = load(CLUSTER / "launcher" / "gcp.yaml")
    assert gcp["provider"]["use_internal_ips"] is True
    for node in gcp["available_node_types"].values():
        assert all("accessConfigs" not in one for one in node["node_config"]["networkInterfaces"])
    for path in LAUNCHERS:
        assert "--dashboard-host=127.0.0.1" in load(path)["head_start_ray_commands"][1]


def pins(path: Path) -> dict[str, str]:
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    pairs = [line.partition("==")[::2] for line in lines if line and not line.startswith("#")]
    return {name.lower().replace("_", "-"): version for name, version in pairs}


def test_versions_agree():
    constraints, image = pins(ROOT / "constraints.txt"), pins(CLUSTER / "versions.txt")
    assert {name: image[name] for name in constraints} == constraints
    for path in RAY_FILES:
        assert cluster_of(load(path))["rayVersion"] == constraints["ray"]
    found = {tag for path in [*KUBERNETES, *LAUNCHERS] for tag in re.findall(rf"{IMAGE}:(\S+)", path.read_text())}
    assert found == {f"{__version__}-cpu", f"{__version__}-gpu"}
    for path in RAY_FILES:
        for group in [cluster_of(load(path))["headGroupSpec"], *cluster_of(load(path))["workerGroupSpecs"]]:
            [container] = group["template"]["spec"]["containers"]
            variant = "gpu" if "nvidia.com/gpu" in container["resources"]["limits"] else "cpu"
            assert container["image"] == f"{IMAGE}:{__version__}-{variant}"


def test_commands_of_the_files_exist():
    """Options that the files hand to mpr-audit are options that it has."""
    from typer.main import get_command

    commands = get_command(app).commands
    cron = load(CLUSTER / "kubernetes" / "cronjob.yaml")["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    program, name, *arguments = cron["containers"][0]["args"]
    assert program == "mpr-audit"
    commands[name].make_context(name, list(arguments))
    job = load(CLUSTER / "kubernetes" / "rayjob.yaml")["spec"]["entrypoint"].split()
    commands[job[1]].make_context(job[1], job[2:])


def test_readme_starts_every_file():
    text = (CLUSTER / "README.md").read_text(encoding="utf-8")
    for path in [*KUBERNETES, *LAUNCHERS]:
        assert path.relative_to(ROOT).as_posix() in text, path.name
    for block in re.findall(r"^```yaml\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
        yaml.safe_load(block)
