"""Every setting of an audit, with its default and its description.

Field descriptions are the documentation of the configuration file, which `jobs.config.file` reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import (
    BeforeValidator,
    Field,
    FiniteFloat,
    PlainValidator,
    TypeAdapter,
    ValidationInfo,
    field_validator,
    model_validator,
)

from jobs.config.entries import ClassEntry, MethodEntry, class_entry, method_entry
from jobs.config.probes import Probe
from jobs.datasets import AnyDataset
from jobs.datasets.block import Dataset
from jobs.encoders import KINDS as ENCODERS
from jobs.encoders import AnyEncoder
from jobs.encoders.block import EncoderSettings
from jobs.errors import BadSetting
from jobs.lists import AnyResults
from jobs.lists.items import ListedItems
from jobs.methods import arrays_of
from jobs.queries.block import Queries
from jobs.settings.block import Block, DriverPath, Many, Whole
from mprlib import registry
from mprlib.reference import STATED_SIZE
from mprlib.settings import LARGEST_SEED


def _one_or_many(value: Any) -> Any:
    return value if isinstance(value, (list, tuple)) else [value]


# Every item of a query's list, however long it is.
ALL: Final = "all"
_NUMBER: TypeAdapter[int] = TypeAdapter(Annotated[Whole, Field(ge=1)])


def _all_or_number(value: Any) -> Any:
    return ALL if value == ALL else _NUMBER.validate_python(value)


# A number of items. Not a union: pydantic would name its members in messages.
Depth = Annotated[int | Literal["all"], PlainValidator(_all_or_number)]


class Reference(Block):
    """The population that retrieval should represent."""

    name: str = Field("population", description="its name in the result rows")
    kind: Literal["population", "balanced", "shares", "dataset", "results"] = Field(
        "population",
        description="population: the data set itself by its weights; balanced: every combination of levels has the "
        "same share; shares: stated target shares; dataset: another data set; results: what another engine showed for "
        "the query",
    )
    query_conditioned: bool = Field(
        False, description="population and dataset: only its most similar people for the query"
    )
    shares: dict[str, dict[str, float]] | None = Field(
        None,
        description='kind shares: {attribute: {level: share}}, joint ones as {"a & b": {"x & y": share}}, where a name '
        "that holds & itself is written in double quotes within the key",
    )
    path: DriverPath | None = Field(
        None,
        description="kind shares: a table of each query's own target in the place of `shares`, with the columns query, "
        "attribute, level and share (attribute and level as in `shares`), and perhaps size, the number of people whom "
        "the query's shares were counted among; queries without a target are listed and not compared",
    )
    size: FiniteFloat | None = Field(
        None,
        gt=0,
        description="balanced and shares: the number of reference rows that the shares count as, on which MPR "
        f"depends; by default {STATED_SIZE:,} for shares, and one per combination of levels for balanced, as in the "
        "paper",
    )
    results: AnyResults | None = Field(
        None,
        description="kind results: the block of the other engine's list, whose items have the labels of the audited "
        "data set, by item id, or attributes of their own; queries that it lacks are listed and not compared",
    )
    dataset: AnyDataset | None = Field(
        None,
        validate_default=True,
        description="kind dataset: its block; its default name is the reference's",
    )

    @model_validator(mode="before")
    @classmethod
    def _named_dataset(cls, raw: Any) -> Any:
        """Name the data set after its reference, so that messages do not confuse it with the audited one."""
        if isinstance(raw, dict) and isinstance(raw.get("dataset"), dict):
            return raw | {"dataset": {"name": raw.get("name", "population")} | raw["dataset"]}
        return raw

    @field_validator("dataset")
    @classmethod
    def _items_of_the_list(cls, block: Dataset | None, info: ValidationInfo) -> Dataset | None:
        results = info.data.get("results")
        if block is None and results is not None and results.attributes:
            return ListedItems.of(results, info.data["name"])
        return block

    @model_validator(mode="after")
    def _complete(self) -> Reference:
        if (self.kind == "results") != (self.results is not None):
            raise ValueError("a results block goes with kind: results, and only with it")
        if (self.kind == "dataset") != (self.dataset is not None) and not isinstance(self.dataset, ListedItems):
            raise ValueError("a dataset block goes with kind: dataset, and only with it")
        if (self.kind == "shares") != (self.shares is not None or self.path is not None):
            raise ValueError("shares go with kind: shares, and only with it, or a path to each query's own")
        if self.shares is not None and self.path is not None:
            raise ValueError(
                "shares are stated, or those of each query are in a file: one of shares and path is expected"
            )
        if self.query_conditioned and self.kind in ("balanced", "shares", "results"):
            raise ValueError(f"query_conditioned needs a reference of people: kind {self.kind} has none")
        return self


class Prefilter(Block):
    """The search for each query's pool, its most similar items."""

    top: Whole = Field(10_000, ge=1, description="largest number of items in a pool")
    backend: Literal["auto", "faiss", "torch"] = Field("auto", description="the library that computes scores")
    storage: Literal["float32", "float16"] = Field(
        "float32",
        description="number format of stored item vectors; float16 halves what is read, scores use the stored vectors",
    )
    shard_megabytes: FiniteFloat = Field(
        1024,
        gt=0,
        description="most megabytes of vectors that one search task maps; consecutive shards are searched together",
    )


class ReportSettings(Block):
    """What the report shows."""

    group_attributes: Whole = Field(
        2, ge=1, le=4, description="named groups are intersections of up to this many attributes"
    )
    minimum_share: float = Field(
        0.01, ge=0, lt=1, description="groups below this share of the reference are left out of headlines"
    )
    thumbnail_megabytes: float = Field(
        6, ge=0, le=100, description="megabytes of the page for thumbnails of the items shown first; 0: no thumbnails"
    )


# What is said of a setting without a default that is not there.
MISSING = "missing, and it has no default"

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


class Audit(Block):
    """The whole configuration."""

    name: str = Field("audit", description="the audit's name, in its report and in run ids")
    seed: Whole = Field(0, ge=0, le=LARGEST_SEED, description="seed of all random choices")
    output: str | None = Field(
        None, description="folder of the run, relative to where the command runs, or any fsspec URL"
    )
    results: AnyResults | None = Field(
        None,
        description="what an engine showed, in the place of `encoder` and `queries`: nothing is embedded or searched",
    )
    dataset: Annotated[Many[AnyDataset], BeforeValidator(_one_or_many)] = Field(
        (),
        validate_default=True,
        description="the items to retrieve: a block, or a list of named blocks; required, but for `results` with "
        "attributes of their own",
    )
    reference: Annotated[Many[Reference], BeforeValidator(_one_or_many), Field(min_length=1)] = Field(
        (Reference(),), description="the population to represent: a block, or a list of named blocks"
    )
    probes: dict[str, Probe] = Field(
        {}, description="classifiers of vectors by name, for attributes with `probe: NAME` and for `pbm`"
    )
    encoder: AnyEncoder | None = Field(
        None,
        description="required without `results`: the model that makes the vectors; its `kind` is "
        f"{', '.join(ENCODERS)}",
    )
    queries: Queries | None = Field(
        None,
        description="required without `results`: the queries of the audit; with `results`, those of the list to audit",
    )
    prefilter: Prefilter = Field(Prefilter(), description="how each query's pool is found")
    shard_items: Whole = Field(4096, ge=1, description="items per shard, which one unit embeds")
    k: Annotated[Many[Depth], BeforeValidator(_one_or_many), Field(min_length=1)] = Field(
        (50,),
        description="number of retrieved items, at least 1: a number, or a list of numbers; `all` is the whole list of "
        "each query, where an engine's `results` are audited",
    )
    function_classes: Annotated[
        Many[Annotated[ClassEntry, BeforeValidator(class_entry)]], BeforeValidator(_one_or_many), Field(min_length=1)
    ] = Field((ClassEntry(name="linear"),), description="classes under which every selection is measured")
    methods: Annotated[
        Many[Annotated[MethodEntry, BeforeValidator(method_entry)]], BeforeValidator(_one_or_many), Field(min_length=1)
    ] = Field((MethodEntry(name="top_k"),), description="methods that select the items")
    report: ReportSettings = Field(ReportSettings(), description="what the report shows")
    runtime: Runtime = Field(Runtime(), description="how the job runs")

    @classmethod
    def least(cls) -> list[str]:
        return ["dataset", "encoder", "queries"]

    @property
    def searching(self) -> tuple[EncoderSettings, Queries]:
        """The encoder and the queries of an audit that searches itself."""
        assert self.encoder is not None and self.queries is not None
        return self.encoder, self.queries

    @property
    def depths(self) -> list[int]:
        """Every k that is a number."""
        return [k for k in self.k if k != ALL]

    @model_validator(mode="before")
    @classmethod
    def _shown_first(cls, raw: Any) -> Any:
        """What an engine showed is what is audited, unless methods are named."""
        return {"methods": ["as_shown"], **raw} if isinstance(raw, dict) and raw.get("results") is not None else raw

    @model_validator(mode="before")
    @classmethod
    def _asked_terms(cls, raw: Any) -> Any:
        """Queries that are a column of the data set are its items' true terms."""
        queries = raw.get("queries") if isinstance(raw, dict) else None
        column = queries.get("column") if isinstance(queries, dict) else None
        if column is None or raw.get("results") is not None:
            return raw
        blocks = _one_or_many(raw.get("dataset"))
        told = [{"relevance": column, **block} if isinstance(block, dict) else block for block in blocks]
        return raw | {"dataset": told}

    @field_validator("dataset")
    @classmethod
    def _items_of_the_list(cls, blocks: tuple[Dataset, ...], info: ValidationInfo) -> tuple[Dataset, ...]:
        results = info.data.get("results")
        if blocks and results is not None and results.attributes:
            raise BadSetting("the labels are in a dataset, or in the attributes of results: one of them is expected")
        if not blocks and results is not None and results.attributes:
            return (ListedItems.of(results),)
        if not blocks:
            raise BadSetting(
                MISSING if results is None else f"{MISSING}: it holds the labels, or results.attributes do"
            )
        return blocks

    @model_validator(mode="after")
    def _consistent(self) -> Audit:
        self._check_executor()
        self._check_source()
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

    def _check_source(self) -> None:
        """Vectors and a search, or a list that needs neither and cannot have what does."""
        if self.results is None:
            for key in ("encoder", "queries"):
                if getattr(self, key) is None:
                    raise BadSetting(MISSING, key)
            self._check_terms()
            if ALL in self.k:
                raise BadSetting("all is the whole list of each query: it goes with results", "k")
            for place, entry in enumerate(self.methods):
                if arrays_of(entry.name).needs_list:
                    raise BadSetting(f"{entry.name} is what an engine showed: it goes with results", "methods", place)
            return
        if self.encoder is not None:
            raise BadSetting("results are in the place of the encoder: nothing is embedded, leave it out", "encoder")
        for key in ("vectors", "column"):
            if self.queries is not None and getattr(self.queries, key) is not None:
                raise BadSetting(f"queries of results are those of the list: no {key} is needed", "queries", key)
        self._check_without_vectors()

    def _check_terms(self) -> None:
        """Queries that are a column are what makes an item relevant."""
        column = self.queries and self.queries.column
        for place, block in enumerate(self.dataset if column is not None else ()):
            if block.relevance != column:
                raise BadSetting(
                    f"queries.column is {column!r} and this {block.relevance!r}: one column of terms is expected",
                    "dataset", place, "relevance",
                )  # fmt: skip

    def _check_without_vectors(self) -> None:
        lack = "looks at vectors, and a result list has none"
        for place, entry in enumerate(self.methods):
            method, arrays = registry.METHODS[entry.name], arrays_of(entry.name)
            if method.needs_embeddings or method.needs_query or arrays.needs_embeddings(entry.extras):
                raise BadSetting(
                    f"{entry.name} {lack}: leave it out, or give an encoder in the place of results", "methods", place
                )
        for place, one in enumerate(self.function_classes):
            if one.over == "embedding":
                raise BadSetting(f"{one.name} over embedding {lack}", "function_classes", place, one.name, "over")
        for name in self.probes:
            raise BadSetting(f"the probe {name!r} {lack}", "probes", name)
        for place, block in enumerate(self.dataset):
            for name, attribute in block.attributes.items():
                if attribute.probe is not None:
                    raise BadSetting(f"a probe {lack}", "dataset", place, "attributes", name, "probe")
        for place, reference in enumerate(self.reference):
            if reference.query_conditioned and reference.dataset is not None:
                raise BadSetting(f"query_conditioned {lack}", "reference", place, "query_conditioned")

    def _check_attributes(self, who: str, seen: Sequence[str], *key: str | int) -> None:
        """Attributes that a method or class uses exist in every data set."""
        for block in self.dataset:
            for attribute in seen:
                if attribute not in block.attributes:
                    raise BadSetting(
                        f"{who} uses attribute {attribute!r}: dataset {block.name} has {', '.join(block.attributes)}",
                        *key,
                    )

    def _check_probes(self) -> None:
        """Every probe that an attribute or method names is defined in `probes`."""
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
        """Refuse limits that are set and cannot be enforced; the default of `unit_seconds` is dropped instead."""
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
