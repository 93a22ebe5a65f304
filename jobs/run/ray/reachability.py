"""Does a cluster answer at an address, and would it accept a run? Ray itself tries for minutes before it gives up."""

from __future__ import annotations

import os

import grpc
import ray
from ray._private.grpc_utils import init_grpc_channel
from ray._private.services import find_node_ids, get_ray_address_from_environment
from ray.core.generated.gcs_pb2 import GcsNodeInfo  # type: ignore[attr-defined]  # made when it is imported
from ray.core.generated.gcs_service_pb2 import GetAllNodeInfoReply  # type: ignore[attr-defined]  # the same

from ... import interruption
from ...config.runtime import Runtime
from ...errors import UsageError
from ..addresses import host_and_port, listener_fault
from ..temporary_folder import temporary_folder

# The address of a local start, and that of whichever cluster runs on this machine.
LOCAL, ANY = "local", "auto"
# Seconds for a name server, a connection and all answers together; then for each answer.
ANSWER_SECONDS = 8.0
CALL_SECONDS = 4.0
# A call that every head answers, with an empty message; and one that no node knows, and rejects.
NODES_CALL, UNKNOWN_CALL = "/ray.rpc.NodeInfoGcsService/GetAllNodeInfo", "/mpr_audit/IsAnybodyThere"
SILENCE = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
REFUSALS = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)

REFUSED = (
    "the cluster refuses this machine's token: put its token into a file that only you can read and set "
    "RAY_AUTH_MODE=token and RAY_AUTH_TOKEN_PATH=FILE"
)
IS_IT_THERE = "is the cluster still running, and is this the address of its head?"


def named(settings: Runtime) -> str | None:
    """The address of a running cluster and the setting that names it, as errors name them; None for a local start."""
    address = settings.address or os.environ.get("RAY_ADDRESS")
    if not address or address == LOCAL:
        return None
    return f"runtime.address {address}" if settings.address else f"RAY_ADDRESS {address}"


def expect_reachable(settings: Runtime) -> str | None:
    """HOST:PORT of the cluster that the settings or RAY_ADDRESS name, which answers.

    Returns: None for a local start, and where this process has a cluster already.
    Raises:  UsageError, one sentence within ANSWER_SECONDS, where no cluster answers, or a local one could not start.
    """
    if ray.is_initialized():
        return None
    name = named(settings)
    if name is None:
        temporary_folder()
        return None
    try:
        address = name.partition(" ")[2]
        where = _local_address() if address == ANY else address
        host, port = host_and_port(where)
        _in_time(host, port)
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from None
    return where


def _in_time(host: str, port: int) -> None:
    faults: list[str] = []
    is_in_time = interruption.bounded(
        f"asking {host}:{port}", lambda: faults.append(_why_not_there(host, port)), ANSWER_SECONDS
    )
    if not is_in_time or not faults:
        faults.append(f"no answer within {ANSWER_SECONDS:g} s: {IS_IT_THERE}")
    if faults[0]:
        raise UsageError(faults[0])


def _why_not_there(host: str, port: int) -> str:
    """Why a run cannot start there; nothing where it can."""
    fault = listener_fault(host, port, CALL_SECONDS)
    if fault:
        return f"{fault}: {IS_IT_THERE}"
    answer = _call(host, port, NODES_CALL)
    if answer in SILENCE:
        return f"what listens there does not answer as Ray does: {IS_IT_THERE}"
    if answer in REFUSALS:
        return REFUSED
    if not isinstance(answer, bytes):
        return f"what answers there is no head of a Ray cluster: {IS_IT_THERE}"
    here = set(find_node_ids())  # type: ignore[no-untyped-call]  # Ray leaves it untyped
    nodes = [
        node
        for node in GetAllNodeInfoReply.FromString(answer).node_info_list
        if node.state == GcsNodeInfo.GcsNodeState.ALIVE and node.node_id.hex() in here
    ]
    if not nodes:
        return (
            "no node of that cluster runs on this machine: start the run on one of its machines, or send it there "
            "with `mpr-audit submit`"
        )
    # Ray takes the head where it is one of them, else any.
    chosen = max(nodes, key=lambda node: node.is_head_node)
    if _call(chosen.node_manager_address, chosen.node_manager_port, UNKNOWN_CALL) in SILENCE:
        return f"the cluster's head answers, its node on this machine does not: {IS_IT_THERE}"
    return ""


def _call(host: str, port: int, call: str) -> bytes | grpc.StatusCode:
    """The answer to a call with an empty message, or what came in its place."""
    where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    with init_grpc_channel(where, [("grpc.enable_http_proxy", 0)]) as channel:
        try:
            answer: bytes = channel.unary_unary(call)(b"", timeout=CALL_SECONDS)
            return answer
        except grpc.RpcError as error:
            code: grpc.StatusCode = error.code()
            return code


def _local_address() -> str:
    """The address of a cluster that runs on this machine.

    Raises:  UsageError where there is none.
    """
    try:
        return str(get_ray_address_from_environment(ANY, None))
    except ConnectionError:
        raise UsageError("no Ray cluster runs on this machine") from None
