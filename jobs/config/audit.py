"""What an audit is: every setting, its default and its meaning.

Field descriptions are the documentation of the configuration file; `jobs.config.file` reads one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, FiniteFloat, model_validator

from jobs.config.entries import ClassEntry, MethodEntry, class_entry, method_entry
from jobs.config.probes import Probe
from jobs.datasets import AnyDataset
from jobs.datasets.block import Dataset
from jobs.encoders import KINDS as ENCODERS
from jobs.encoders import AnyEncoder
from jobs.errors import BadSetting
from jobs.queries.block import Queries
from jobs.settings.block import Block, Many, Whole
from mprlib import registry
from mprlib.settings import LARGEST_SEED


def _one_or_many(value: Any) -> Any:
    return value if isinstance(value, (list, tuple)) else [value]


class Reference(Block):
    """Whom retrieval should show."""

    name: str = Field("population", description="how rows of the results name it")
    kind: Literal["population", "balanced", "shares", "dataset"] = Field(
        "population",
        description="population: the data set itself by its weights; balanced: every combination of levels alike; "
        "shares: stated target shares; dataset: another data set",
    )
    query_conditioned: bool = Field(False, description="population and dataset: its top items for the query")
    shares: dict[str, dict[str, float]] | None = Field(
        None,
        description='kind shares: {attribute: {level: share}}, joint ones as {"a & b": {"x & y": share}}, where a name '
        "that holds & itself is written in double quotes within the key",
    )
    size: FiniteFloat = Field(10_000, gt=0, description="balanced and shares: the stated number of reference rows")
    dataset: AnyDataset | None = Field(None, description="kind dataset: its block, named as the reference by default")

    @model_validator(mode="before")
    @classmethod
    def _named_dataset(cls, raw: Any) -> Any:
        """So that what is said of it is not taken for the audited data set, whose default name it would have."""
        if isinstance(raw, dict) and isinstance(raw.get("dataset"), dict):
            return raw | {"dataset": {"name": raw.get("name", "population")} | raw["dataset"]}
        return raw

    @model_validator(mode="after")
    def _complete(self) -> Reference:
        if (self.kind == "dataset") != (self.dataset is not None):
            raise ValueError("a dataset block goes with kind: dataset, and only with it")
        if (self.kind == "shares") != (self.shares is not None):
            raise ValueError("shares go with kind: shares, and only with it")
        if self.query_conditioned and self.kind in ("balanced", "shares"):
            raise ValueError(f"query_conditioned needs people to ask: kind {self.kind} has none")
        return self


class Prefilter(Block):
    """How many of the most similar items form a query's pool."""

    top: Whole = Field(10_000, ge=1, description="items in a pool, at most")
    backend: Literal["auto", "faiss", "torch"] = Field("auto", description="what scores a shard")
    storage: Literal["float32", "float16"] = Field(
        "float32",
        description="numbers of stored item vectors; float16 halves what is read, scores are of the stored vectors",
    )
    shard_megabytes: FiniteFloat = Field(
        1024,
        gt=0,
        description="vectors that one search task maps, at most: neighbouring units of embedding are searched together",
    )


class ReportSettings(Block):
    """What the report shows."""

    group_attributes: Whole = Field(2, ge=1, le=4, description="named groups are intersections of up to this many")
    minimum_share: float = Field(0.01, ge=0, lt=1, description="smaller groups of the reference stay out of headlines")
    thumbnail_megabytes: float = Field(
        6, ge=0, le=100, description="of the page, for small pictures of the items shown first; 0: none are kept"
    )


# What `executor: local` cannot do, by the setting that asks for it. `workers` and `encoder_actors` are upper bounds,
# which one unit at a time respects.
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
        description="ray: units in parallel, in processes of their own; local: one after the other in the process of "
        "the run, without Ray, for debuggers, notebooks and small audits. Nothing can stop a unit there: "
        "`unit_seconds` and `unit_megabytes` are refused if set, and so are `address` and `await_gpus_seconds`",
    )
    workers: Whole | None = Field(None, ge=1, description="CPUs to use on a local start; default: all")
    address: str | None = Field(None, description="a running Ray cluster; default: RAY_ADDRESS, else a local start")
    encoder_actors: Whole | None = Field(
        None, ge=1, description="actors that hold the encoder, at most; default: one a CPU, or one a GPU's share"
    )
    gpus_per_actor: FiniteFloat | None = Field(
        None,
        ge=0,
        description="GPUs of an actor whose encoder can use them, or a part of one, such as 0.5; default: 1 where the "
        "cluster has any, else 0. Where no node has that many, CPUs are used and the run says so",
    )
    await_gpus_seconds: FiniteFloat = Field(
        0,
        ge=0,
        description="on a cluster that grows by demand and has no GPU yet: how long to wait for one, once asked for "
        "(as many as encoder_actors says, else one), before the encoder runs on CPUs",
    )
    decode_workers: Whole | None = Field(
        None,
        ge=1,
        description="processes that decode pictures ahead of each actor; default: 1 on a CPU, else the CPUs that a "
        "GPU's share of its node leaves, at most 16",
    )
    max_failures: Whole | None = Field(
        None, ge=1, description="stop once that many units have failed; default: go on with all that can be done"
    )
    unit_seconds: FiniteFloat | None = Field(
        21_600, gt=0, description="a back-stop: a unit that runs longer is stopped and counts as failed"
    )
    unit_megabytes: FiniteFloat | None = Field(
        None,
        gt=0,
        description="memory that a unit's process may take: more ends it; no more units run at once than fit; "
        "default: whatever the machine has",
    )

    @property
    def most_cpus(self) -> int | None:
        """CPUs that a run on this machine uses at once, at most; None for all there are."""
        return 1 if self.executor == "local" else self.workers


class Audit(Block):
    """The whole configuration."""

    name: str = Field("audit", description="the audit's name, in its report and in run ids")
    seed: Whole = Field(0, ge=0, le=LARGEST_SEED, description="of everything that draws")
    output: str | None = Field(
        None, description="folder of the run, relative to where the command runs, or any fsspec URL"
    )
    dataset: Annotated[Many[AnyDataset], BeforeValidator(_one_or_many), Field(min_length=1)] = Field(
        description="what is retrieved from: a block, or a list of named ones"
    )
    reference: Annotated[Many[Reference], BeforeValidator(_one_or_many), Field(min_length=1)] = Field(
        (Reference(),), description="whom retrieval should show: a block, or a list of named ones"
    )
    probes: dict[str, Probe] = Field(
        {}, description="classifiers of vectors, by name, for attributes that say `probe: NAME` and for `pbm`"
    )
    encoder: AnyEncoder = Field(description=f"the model behind the vectors; its `kind` is {', '.join(ENCODERS)}")
    queries: Queries = Field(description="what is asked")
    prefilter: Prefilter = Field(Prefilter(), description="how pools are made")
    shard_items: Whole = Field(4096, ge=1, description="items a unit of embedding")
    k: Annotated[Many[Annotated[Whole, Field(ge=1)]], BeforeValidator(_one_or_many), Field(min_length=1)] = Field(
        (50,), description="how many items are shown: a number, or a list"
    )
    function_classes: Annotated[
        Many[Annotated[ClassEntry, BeforeValidator(class_entry)]], BeforeValidator(_one_or_many), Field(min_length=1)
    ] = Field((ClassEntry(name="linear"),), description="every selection is measured under each of them")
    methods: Annotated[
        Many[Annotated[MethodEntry, BeforeValidator(method_entry)]], BeforeValidator(_one_or_many), Field(min_length=1)
    ] = Field((MethodEntry(name="top_k"),), description="what selects the items")
    report: ReportSettings = Field(ReportSettings(), description="what the report shows")
    runtime: Runtime = Field(Runtime(), description="how the job runs")

    @model_validator(mode="after")
    def _consistent(self) -> Audit:
        self._check_executor()
        for key, names in (
            ("dataset", [block.name for block in self.dataset]),
            ("reference", [block.name for block in self.reference]),
            ("function_classes", [entry.display for entry in self.function_classes]),
            ("methods", [entry.name for entry in self.methods]),
        ):
            if len(set(names)) != len(names):
                raise BadSetting(f"two of them share a name: {', '.join(names)}", key)
        self._check_probes()
        for place, entry in enumerate(self.methods):
            self._check_targets(place, entry)
            seen = entry.extras.get("attributes", ())
            self._check_attributes(entry.name, seen, "methods", place, entry.name, "attributes")
        for place, one in enumerate(self.function_classes):
            seen = () if isinstance(one.over, str) else one.over
            self._check_attributes(one.display, seen, "function_classes", place, one.name, "over")
        return self

    def _check_attributes(self, who: str, seen: Sequence[str], *key: str | int) -> None:
        """Attributes that somebody looks at are those of every data set."""
        for block in self.dataset:
            for attribute in seen:
                if attribute not in block.attributes:
                    raise BadSetting(
                        f"{who} looks at attribute {attribute!r}: "
                        f"dataset {block.name} has {', '.join(block.attributes)}",
                        *key,
                    )

    def _check_probes(self) -> None:
        """Whoever names a probe names one of `probes`."""
        blocks: list[tuple[tuple[str | int, ...], Dataset | None]] = [
            *((("dataset", place), block) for place, block in enumerate(self.dataset)),
            *((("reference", place, "dataset"), one.dataset) for place, one in enumerate(self.reference)),
        ]
        named: list[tuple[str, str, tuple[str | int, ...]]] = [
            (f"attribute {name!r} of {block.name}", attribute.probe, (*key, "attributes", name, "probe"))
            for key, block in blocks
            if block is not None
            for name, attribute in block.attributes.items()
            if attribute.probe is not None
        ]
        named += [
            (entry.name, name, ("methods", place, entry.name, "probes"))
            for place, entry in enumerate(self.methods)
            for name in entry.extras.get("probes", ())
        ]
        for who, name, key in named:
            if name not in self.probes:
                known = f"probes has {', '.join(self.probes)}" if self.probes else "the configuration has no `probes`"
                raise BadSetting(f"{who} names the probe {name!r}: {known}", *key)

    def _check_executor(self) -> None:
        """A limit that is asked for is enforced or refused; the default back-stop of `unit_seconds` is given up."""
        if self.runtime.executor != "local":
            return
        for name, reason in NOT_LOCAL.items():
            if name in self.runtime.model_fields_set and getattr(self.runtime, name):
                raise BadSetting(f"executor local {reason}: leave {name} out, or use executor ray", "runtime", name)

    def _check_targets(self, place: int, entry: MethodEntry) -> None:
        method = registry.METHODS[entry.name]
        known = [one.display for one in self.function_classes]
        possible = [one.display for one in self.function_classes if method.takes(one.name)]
        takes = ", ".join(method.classes or ())
        key = ("methods", place, entry.name)
        for target in entry.targets or ():
            if target not in known:
                has = f"function_classes has {', '.join(known)}"
                raise BadSetting(f"{entry.name} targets {target!r}: {has}", *key, "targets")
            if target not in possible:
                raise BadSetting(f"{entry.name} cannot constrain {target!r}: it takes {takes}", *key, "targets")
        if not possible:
            raise BadSetting(f"{entry.name} constrains {takes}, and function_classes has none of them", *key)
