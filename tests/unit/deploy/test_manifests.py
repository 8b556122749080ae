"""The manifests hold what the code needs: ports, commands, variables, probes, and none of the known traps."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from typer.testing import CliRunner

from bot.__main__ import app as bot_app
from bot.commands.health import first_process
from clients.config_file import load_config
from indexer.__main__ import app as indexer_app

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy" / "k3s"
FILES = sorted(p for p in DEPLOY.rglob("*.yaml") if p.name != "kustomization.yaml")
DOCUMENTS = [(p.relative_to(DEPLOY).as_posix(), d) for p in FILES for d in yaml.safe_load_all(p.read_text()) if d]


def of_kind(*kinds: str) -> list[tuple[str, dict[str, Any]]]:
    return [(where, document) for where, document in DOCUMENTS if document["kind"] in kinds]


def pod_specs() -> list[tuple[str, dict[str, Any]]]:
    specs = []
    for _, document in of_kind("Deployment", "StatefulSet", "Job"):
        name = document["metadata"].get("name") or document["metadata"]["generateName"]
        specs.append((name, document["spec"]["template"]["spec"]))
    for _, document in of_kind("CronJob"):
        specs.append((document["metadata"]["name"], document["spec"]["jobTemplate"]["spec"]["template"]["spec"]))
    return specs


def containers() -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{name}/{c['name']}", c)
        for name, spec in pod_specs()
        for c in [*spec.get("initContainers", []), *spec["containers"]]
    ]


@pytest.mark.parametrize(("where", "document"), DOCUMENTS)
def test_each_is_valid_kubernetes(where: str, document: dict[str, Any]) -> None:
    if document["apiVersion"].startswith("postgresql.cnpg.io"):
        assert {"instances", "bootstrap", "storage"} <= set(document["spec"])
        return
    named = {**document, "metadata": {"name": "generated", **document["metadata"]}}
    kubernetes_validate.validate(named, "1.31", strict=True)


def test_yaml_is_clean() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "yamllint", "--strict", "-c", ROOT / ".yamllint.yml", DEPLOY],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def test_what_has_a_volume_of_its_own_is_never_rolled() -> None:
    for _, document in of_kind("Deployment"):
        volumes = document["spec"]["template"]["spec"].get("volumes", [])
        if any("persistentVolumeClaim" in volume for volume in volumes):
            assert document["spec"]["strategy"]["type"] == "Recreate", document["metadata"]["name"]


def test_liveness_asks_nobody_else() -> None:
    web = next(c for name, c in containers() if name == "threadcite-web/web")
    assert web["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert web["readinessProbe"]["httpGet"]["path"] == "/readyz"


def test_a_first_model_pull_fits_into_the_startup_probe() -> None:
    for name, container in containers():
        if name.split("/")[0] in ("tei", "ollama"):
            probe = container["startupProbe"]
            assert probe["periodSeconds"] * probe["failureThreshold"] >= 1800, name


def test_default_deny_leaves_dns_open() -> None:
    policies = {d["metadata"]["name"]: d["spec"] for _, d in of_kind("NetworkPolicy")}
    assert policies["default-deny"]["policyTypes"] == ["Ingress", "Egress"]
    ports = {(p["protocol"], p["port"]) for p in policies["allow-dns"]["egress"][0]["ports"]}
    assert ports == {("UDP", 53), ("TCP", 53)}


def test_jobs_never_trip_over_an_earlier_one() -> None:
    for where, document in of_kind("Job"):
        assert "generateName" in document["metadata"], where
        assert document["spec"]["ttlSecondsAfterFinished"] > 0, where


def test_every_container_is_locked_down_and_can_write_to_tmp() -> None:
    for name, spec in pod_specs():
        assert spec["securityContext"]["runAsNonRoot"] is True, name
        assert {"name": "tmp", "emptyDir": {}} in spec["volumes"], name
    for name, container in containers():
        assert container["securityContext"]["readOnlyRootFilesystem"] is True, name
        assert container["securityContext"]["allowPrivilegeEscalation"] is False, name
        assert "/tmp" in {mount["mountPath"] for mount in container["volumeMounts"]}, name
        assert "memory" in container["resources"]["limits"], name


def test_an_hnsw_build_has_its_shared_memory() -> None:
    spec = next(spec for name, spec in pod_specs() if name == "postgres")
    assert next(v for v in spec["volumes"] if v["name"] == "shm")["emptyDir"]["medium"] == "Memory"


def test_secrets_come_by_reference_only() -> None:
    for name, container in containers():
        for variable in container.get("env", []):
            if re.search("KEY|SECRET|PASSWORD|TOKEN|DATABASE_URL", variable["name"]):
                assert "secretKeyRef" in variable["valueFrom"], (name, variable["name"])


def test_every_variable_is_one_that_the_code_reads() -> None:
    code = "\n".join(p.read_text() for room in ("clients", "bot", "indexer") for p in (ROOT / room).rglob("*.py"))
    for name, container in containers():
        for variable in container.get("env", []):
            if variable["name"].startswith("THREADCITE_") and not name.startswith("postgres-backup"):
                short = variable["name"].removeprefix("THREADCITE_")
                assert f'"{short}"' in code or f'"{variable["name"]}"' in code, (name, variable["name"])


def test_every_command_exists() -> None:
    rooms = {"bot": bot_app, "indexer": indexer_app}
    for name, container in containers():
        command = container.get("command", [])
        if command[:2] == ["python", "-m"]:
            told = CliRunner().invoke(rooms[command[2]], [command[3], "--help"])
            assert told.exit_code == 0, (name, told.output)
            for option in (part for part in command[4:] if part.startswith("--")):
                assert option in told.output, (name, option)


def test_the_image_holds_what_runs_and_listens_where_the_service_looks() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    for room in ("forum", "clients", "indexer", "bot", "sql"):
        assert f"COPY {room} {room}" in dockerfile
        assert f"!{room}" in (ROOT / ".dockerignore").read_text()
    web = next(c for name, c in containers() if name == "threadcite-web/web")
    assert f"EXPOSE {web['ports'][0]['containerPort']}" in dockerfile
    assert "USER 65532:65532" in dockerfile


def test_the_image_s_health_check_fits_the_web_and_the_worker() -> None:
    [command] = re.findall(r"^HEALTHCHECK .*CMD (\[.*\])$", (ROOT / "Dockerfile").read_text(), re.M)
    assert json.loads(command) == ["python", "-m", "bot", "health"]
    parts = {name: first_process(c["command"] + c.get("args", []))[0] for name, c in containers() if "command" in c}
    assert (parts["threadcite-web/web"], parts["threadcite-worker/worker"]) == ("web", "worker")


def test_the_deployed_config_is_valid_and_names_services_that_exist() -> None:
    config = load_config(DEPLOY / "base" / "config.yml")
    services = {d["metadata"]["name"]: d["spec"]["ports"][0] for _, d in of_kind("Service")}
    for url in (config.embedder.url, config.reranker.url, config.llm.url):
        host, _, port = url.removeprefix("http://").partition(":")
        assert services[host]["port"] == int(port)
    assert services["tei"]["nodePort"] == 32136
    assert services["ollama"]["nodePort"] == 32134


def test_the_worker_shows_its_metrics_where_the_manifest_says() -> None:
    address = load_config(DEPLOY / "base" / "config.yml").metrics.worker_address
    worker = next(c for name, c in containers() if name == "threadcite-worker/worker")
    assert address == f"0.0.0.0:{worker['ports'][0]['containerPort']}"
    policies = {d["metadata"]["name"]: d["spec"] for _, d in of_kind("NetworkPolicy")}
    assert worker["ports"][0]["containerPort"] in {p["port"] for p in policies["metrics-in"]["ingress"][0]["ports"]}


def test_the_image_holds_the_comments_that_the_flags_page_shows() -> None:
    assert "COPY config.yml config.yml" in (ROOT / "Dockerfile").read_text()


def test_the_key_of_every_secret_is_made_in_the_readme() -> None:
    readme = (DEPLOY / "README.md").read_text()
    for _, container in containers():
        for variable in container.get("env", []):
            reference = variable.get("valueFrom", {}).get("secretKeyRef", {})
            if reference.get("name") == "threadcite":
                assert f"--from-file={reference['key']}" in readme
