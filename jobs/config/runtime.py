"""How a job runs: nothing in this block changes a result."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, FiniteFloat

from ..settings.block import Block, Whole

# Settings that `executor: local` cannot honour, with the reason. `workers` and `encoder_actors` are upper bounds, which
# running one unit at a time respects.
NOT_LOCAL = {
    "address": "runs units in the process of the run, on no cluster",
    "await_gpus_seconds": "runs units on this machine, which gets no GPU by waiting",
    "unit_seconds": "runs units in the process of the run, which cannot stop a unit that takes too long",
    "unit_megabytes": "runs units in the process of the run, which cannot stop a unit that takes too much memory",
}


class Runtime(Block):
    """How the job runs; nothing here changes a result."""

    executor: Literal["ray", "local"] = Field(
        "ray",
        description="ray: units run in parallel in worker processes; local: one after the other in the process of "
        "the run, without Ray, for debuggers, notebooks and small audits. A unit cannot be stopped there: "
        "`unit_seconds` and `unit_megabytes` are refused if set, and so are `address` and `await_gpus_seconds`",
    )
    workers: Whole | None = Field(None, ge=1, description="CPUs that a local Ray uses; default: all")
    address: str | None = Field(
        None, description="address of a running Ray cluster; default: RAY_ADDRESS, else Ray is started locally"
    )
    encoder_actors: Whole | None = Field(
        None, ge=1, description="most actors that load the encoder; default: one per CPU, or as many as fit the GPUs"
    )
    gpus_per_actor: FiniteFloat | None = Field(
        None,
        ge=0,
        description="GPUs per actor if the encoder can use them, also a fraction such as 0.5; default: 1 where the "
        "cluster has any, else 0. Where no node has that many, CPUs are used and a warning is logged",
    )
    await_gpus_seconds: FiniteFloat = Field(
        0,
        ge=0,
        description="on an autoscaling cluster that has no GPU yet: seconds to wait for the GPUs that are requested "
        "(for encoder_actors actors, else one) before the encoder runs on CPUs",
    )
    decode_workers: Whole | None = Field(
        None,
        ge=1,
        description="processes per actor that decode pictures in advance; default: 1 on a CPU, else one less than the "
        "actor's share of its node's CPUs, at most 16",
    )
    max_failures: Whole | None = Field(
        None, ge=1, description="stop once that many units have failed; default: go on with all that can be done"
    )
    unit_seconds: FiniteFloat | None = Field(
        21_600, gt=0, description="time limit of a unit; one that runs longer is stopped and counts as failed"
    )
    unit_megabytes: FiniteFloat | None = Field(
        None,
        gt=0,
        description="memory limit of a unit's process, which is ended above it; only as many units run at once as fit; "
        "default: the machine's memory",
    )

    @property
    def most_cpus(self) -> int | None:
        """Most CPUs that a run on this machine uses at once; None for all."""
        return 1 if self.executor == "local" else self.workers
