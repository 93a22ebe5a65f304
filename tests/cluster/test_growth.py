"""A real autoscaler, with machines that are processes: it brings a GPU when the encoder's actors want one."""

import socket

import pytest
import yaml

from tests.cluster.ray_nodes import RayNodes

pytestmark = pytest.mark.system

# Where Ray's provider of such machines looks for the head.
FAKE_PORT = 6379
SETTINGS = {
    "cluster_name": "tests",
    "max_workers": 2,
    "upscaling_speed": 1.0,
    "idle_timeout_minutes": 5,
    "provider": {"type": "fake_multinode", "disable_node_updaters": True, "disable_launch_config_check": True},
    "auth": {},
    "docker": {},
    "head_node_type": "ray.head.default",
    "available_node_types": {
        "ray.head.default": {"resources": {"CPU": 0}, "node_config": {}, "max_workers": 0},
        "cpu": {"resources": {"CPU": 1}, "node_config": {}, "min_workers": 1, "max_workers": 1},
        "gpu": {"resources": {"CPU": 1, "GPU": 1}, "node_config": {}, "min_workers": 0, "max_workers": 1},
    },
    **{f"{role}_start_ray_commands": [] for role in ("head", "worker")},
    **{name: [] for name in ("initialization_commands", "setup_commands", "cluster_synced_files", "rsync_exclude")},
    **{name: [] for name in ("head_setup_commands", "worker_setup_commands", "rsync_filter")},
    "file_mounts": {},
    "file_mounts_sync_continuously": False,
}
DRIVER = """
from jobs.config.runtime import Runtime
from jobs.run.ray import Cluster
with Cluster(Runtime(await_gpus_seconds=90)) as cluster:
    settings = {"kind": "open_clip"}
    before = cluster.encoder_actors(settings).gpus
    cluster.await_gpus("open_clip")
    print("GPUs of an actor:", before, "then", cluster.encoder_actors(settings).gpus)
"""


def test_a_gpu_is_brought_when_it_is_asked_for():
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", FAKE_PORT)) == 0:
            pytest.skip(f"port {FAKE_PORT} is taken, and the machines of this autoscaler know no other")
    with RayNodes() as nodes:
        nodes.port = FAKE_PORT
        (nodes.folder / "autoscaling.yaml").write_text(yaml.safe_dump(SETTINGS))
        fake = {"RAY_FAKE_CLUSTER": "1", "AUTOSCALER_UPDATE_INTERVAL_S": "1", "RAY_AUTH_MODE": "token"}
        nodes.start("ray start --head --num-cpus=0 --autoscaling-config=~/autoscaling.yaml", ip=None, **fake)
        found = nodes.run(
            "python", "-c", DRIVER, RAY_ADDRESS=f"{socket.gethostbyname(socket.gethostname())}:{nodes.port}"
        )
        assert "GPUs of an actor: 0 then 1" in found.stdout, found.stdout + found.stderr
