"""Head and worker as KubeRay starts them for the files in cluster/kubernetes, and a tiny job on them."""

import pytest

from tests.cluster import start_commands
from tests.cluster.ray_nodes import RayNodes

pytestmark = pytest.mark.system

RAY_FILES = [path for path in start_commands.KUBERNETES if start_commands.load(path)["apiVersion"] == "ray.io/v1"]
# The driver runs on the head, which has no CPU: a task can only run on the worker.
TINY = """
import ray, socket
ray.init(logging_level="ERROR")
@ray.remote(num_cpus=1)
def node():
    return ray.get_runtime_context().get_node_id()
print("elsewhere", ray.get(node.remote()) != ray.get_runtime_context().get_node_id())
"""


@pytest.fixture(scope="module")
def nodes():
    [(head, cpu, gpu)] = {
        (head, *workers)
        for head, workers in (start_commands.of_kuberay(start_commands.load(path)) for path in RAY_FILES)
    }
    assert "--num-cpus=0" in head
    assert "--num-gpus=1" in gpu
    with RayNodes() as nodes:
        # The operator hands the Secret's token to every container as a variable.
        secret = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": nodes.token.read_text()}
        nodes.token.unlink()
        nodes.start(head, **secret)
        nodes.start(cpu, FQ_RAY_IP="127.0.0.1", **secret)
        nodes.secret = secret
        yield nodes


def test_a_tiny_job_runs_on_the_worker(nodes):
    """As the submitter's pod sends it."""
    sent = nodes.run("ray", "job", "submit", "--address", nodes.address, "--", "python", "-c", TINY, **nodes.secret)
    assert sent.returncode == 0, sent.stdout + sent.stderr
    assert "elsewhere True" in sent.stdout


def test_nobody_without_the_token(nodes):
    refused = nodes.run("ray", "job", "list", "--address", nodes.address, RAY_AUTH_MODE="disabled")
    assert refused.returncode != 0
    assert "Missing authentication token" in refused.stdout + refused.stderr
