"""The Kubernetes files: what Kubernetes knows against its schemas, what KubeRay adds against its fields' names."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest
from pddl_eval.commands.cli import main
from pddl_eval.errors import WRONG_INPUT

from tests.infra.folder import documents, pods

DOCUMENTS = documents()
PODS = pods()

KUBERNETES_VERSIONS = ("1.29", "1.35")

# Fields of KubeRay's API, ray.io/v1 (ray-operator/apis/ray/v1 of version 1.5); no package on PyPI has its schemas.
CLUSTER_FIELDS = {
    "rayVersion",
    "authOptions",
    "headGroupSpec",
    "workerGroupSpecs",
    "enableInTreeAutoscaling",
    "suspend",
}
HEAD_FIELDS = {"serviceType", "headService", "enableIngress", "rayStartParams", "template"}
WORKER_FIELDS = {"groupName", "replicas", "minReplicas", "maxReplicas", "numOfHosts", "rayStartParams", "template"}
JOB_FIELDS = {
    "entrypoint",
    "submissionMode",
    "backoffLimit",
    "activeDeadlineSeconds",
    "shutdownAfterJobFinishes",
    "ttlSecondsAfterFinished",
    "runtimeEnvYAML",
    "clusterSelector",
    "rayClusterSpec",
}


def is_kuberay(document: dict[str, Any]) -> bool:
    return document["apiVersion"] == "ray.io/v1"


def test_all_the_documents_are_there() -> None:
    assert sorted(DOCUMENTS) == [
        "CronJob/pddl-eval-nightly",
        "Job/pddl-eval-parts",
        "NetworkPolicy/pddl-eval-alone",
        "NetworkPolicy/pddl-eval-ray",
        "PersistentVolumeClaim/pddl-eval-nights",
        "RayCluster/pddl-eval",
        "RayJob/pddl-eval-score",
    ]
    assert len(PODS) == 6


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
@pytest.mark.parametrize("name", [name for name, document in DOCUMENTS.items() if not is_kuberay(document)])
def test_kubernetes_accepts_the_document(name: str, version: str) -> None:
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    kubernetes_validate.validate(DOCUMENTS[name], version, strict=True)


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
@pytest.mark.parametrize("name", PODS)
def test_kubernetes_accepts_the_pod(name: str, version: str) -> None:
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, **PODS[name]}
    kubernetes_validate.validate(pod, version, strict=True)


def test_a_wrong_field_would_be_noticed() -> None:
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    with pytest.raises(kubernetes_validate.ValidationError):
        claim = DOCUMENTS["PersistentVolumeClaim/pddl-eval-nights"]
        kubernetes_validate.validate(claim | {"no_such_field": 1}, KUBERNETES_VERSIONS[0], strict=True)


def test_the_job_brings_the_cluster_of_the_other_file() -> None:
    assert DOCUMENTS["RayJob/pddl-eval-score"]["spec"]["rayClusterSpec"] == DOCUMENTS["RayCluster/pddl-eval"]["spec"]


def test_the_cluster_has_kuberays_fields() -> None:
    cluster = DOCUMENTS["RayCluster/pddl-eval"]["spec"]
    assert {"rayVersion", "authOptions", "headGroupSpec", "workerGroupSpecs"} <= set(cluster) <= CLUSTER_FIELDS
    assert set(cluster["headGroupSpec"]) <= HEAD_FIELDS
    for group in cluster["workerGroupSpecs"]:
        assert set(group) <= WORKER_FIELDS
        assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]
        limits = group["template"]["spec"]["containers"][0]["resources"]["limits"]
        assert group["rayStartParams"]["num-cpus"] == limits["cpu"]


def test_the_parameters_are_options_of_ray_start() -> None:
    scripts = pytest.importorskip("ray.scripts.scripts")
    known = {name for option in scripts.start.params for name in option.opts}
    cluster = DOCUMENTS["RayCluster/pddl-eval"]["spec"]
    for group in [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]:
        assert {f"--{name}" for name in group["rayStartParams"]} <= known
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())


def test_the_ray_job_resumes_and_cleans_up() -> None:
    job = DOCUMENTS["RayJob/pddl-eval-score"]["spec"]
    assert set(job) <= JOB_FIELDS
    assert job["submissionMode"] == "HTTPMode"
    assert job["shutdownAfterJobFinishes"] is True and job["backoffLimit"] > 0


def test_the_cluster_asks_for_a_token_and_is_not_reachable_from_outside() -> None:
    cluster = DOCUMENTS["RayCluster/pddl-eval"]["spec"]
    assert cluster["authOptions"] == {"mode": "token"}
    assert cluster["headGroupSpec"]["serviceType"] == "ClusterIP"
    assert not cluster["headGroupSpec"].get("enableIngress")


def test_the_policies_select_every_pod() -> None:
    """KubeRay labels its pods ``ray.io/is-ray-node: "yes"``."""
    ray, alone = (DOCUMENTS[f"NetworkPolicy/pddl-eval-{name}"]["spec"] for name in ("ray", "alone"))
    assert ray["podSelector"]["matchLabels"] == {"ray.io/is-ray-node": "yes"}
    jobs = (DOCUMENTS["CronJob/pddl-eval-nightly"]["spec"]["jobTemplate"], DOCUMENTS["Job/pddl-eval-parts"])
    labels = [job["spec"]["template"]["metadata"]["labels"] for job in jobs]
    (expression,) = alone["podSelector"]["matchExpressions"]
    assert expression["operator"] == "In"
    assert [each[expression["key"]] for each in labels] == expression["values"]
    assert alone["policyTypes"] == ["Ingress"] and "ingress" not in alone


def test_the_pods_of_the_job_are_the_parts_of_one_run() -> None:
    job = DOCUMENTS["Job/pddl-eval-parts"]["spec"]
    (container,) = job["template"]["spec"]["containers"]
    written = container["args"][0].removeprefix("exec pddl-eval ")
    parts = set()
    for index in range(job["completions"]):
        shell = ["sh", "-c", f"printf '%s\\n' {written}"]
        words = subprocess.run(shell, env={"JOB_COMPLETION_INDEX": str(index)}, capture_output=True, text=True)
        name, *arguments = words.stdout.splitlines()
        context = main.commands[name].make_context(name, arguments)
        parts.add(context.params["part"])
        assert str(context.params["workers"]) == container["resources"]["limits"]["cpu"]
    assert parts == {f"{number}/{job['completions']}" for number in range(1, job["completions"] + 1)}


def test_what_would_fail_again_is_not_tried_again_and_a_lost_node_is_no_failure() -> None:
    job = DOCUMENTS["Job/pddl-eval-parts"]["spec"]
    wrong, disrupted = job["podFailurePolicy"]["rules"]
    assert wrong["onExitCodes"]["values"] == [WRONG_INPUT] and wrong["action"] == "FailIndex"
    assert disrupted["action"] == "Ignore" and job["template"]["spec"]["restartPolicy"] == "Never"


def test_nights_do_not_meet() -> None:
    cron = DOCUMENTS["CronJob/pddl-eval-nightly"]["spec"]
    assert cron["concurrencyPolicy"] == "Forbid"
    assert cron["jobTemplate"]["spec"]["activeDeadlineSeconds"] < 24 * 3600


@pytest.mark.parametrize("name", PODS)
def test_the_pod_can_do_no_more_than_it_must(name: str) -> None:
    spec = PODS[name]["spec"]
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec)
    assert {"name": "scratch", "emptyDir": {"sizeLimit": "4Gi"}} in spec["volumes"]
    (container,) = spec["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {"name": "scratch", "mountPath": "/tmp"} in container["volumeMounts"]
    assert set(container["resources"]["limits"]) == {"cpu", "memory", "ephemeral-storage"}
    assert container["envFrom"] == [{"secretRef": {"name": "pddl-eval-s3"}}]
    assert [variable["name"] for variable in container["env"]] == ["HOME"]
