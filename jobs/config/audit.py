"""Every setting of an audit, with its default and its description.

Field descriptions are the documentation of the configuration file, which `jobs.config.file` reads.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

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

from mprlib.attention import NAMES as ATTENTIONS
from mprlib.attention import UNIFORM, attention_of
from mprlib.errors import InputError
from mprlib.settings import LARGEST_SEED

from ..datasets import AnyDataset
from ..datasets.block import Dataset
from ..encoders import KINDS as ENCODERS
from ..encoders import AnyEncoder
from ..encoders.block import EncoderSettings
from ..errors import BadSetting
from ..lists import AnyResults
from ..lists.items import ListedItems
from ..queries.block import Queries
from ..settings.block import Block, Distinct, Many, Whole
from . import checks
from .checks import ALL, MISSING
from .entries import ClassEntry, MethodEntry, class_entry, method_entry
from .population import Reference
from .probes import Probe
from .runtime import Runtime


def _one_or_many(value: Any) -> Any:
    return value if isinstance(value, (list, tuple)) else [value]


def _attention_name(value: Any) -> str:
    try:
        if isinstance(value, str):
            return attention_of(value).name
    except InputError:
        pass
    raise BadSetting(f"{ATTENTIONS} is expected, got {value!r:.60}")


# Lists of blocks that have a setting `name`.
NAMED = ("dataset", "reference", "methods")
_NUMBER: TypeAdapter[int] = TypeAdapter(Annotated[Whole, Field(ge=1)])


def _all_or_number(value: Any) -> Any:
    if isinstance(value, str) and value != ALL and not any(map(str.isdigit, value)):
        raise BadSetting(f"a whole number or {ALL} is expected, got {value!r:.60}")
    return ALL if value == ALL else _NUMBER.validate_python(value)


# A number of items. Not a union: pydantic would name its members in messages.
Depth = Annotated[int | Literal["all"], PlainValidator(_all_or_number)]
Attention = Annotated[str, PlainValidator(_attention_name)]


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


class Audit(Block):
    """The whole configuration."""

    name: str = Field("audit", description="the audit's name, in its report and in run ids")
    seed: Whole = Field(0, ge=0, le=LARGEST_SEED, description="seed of all random choices")
    output: str | None = Field(
        None, description="folder of the run, relative to where the command runs, or any fsspec URL"
    )
    cache: str | None = Field(
        None,
        description="folder, relative to where the command runs, or any fsspec URL, in which runs share vectors and "
        "finished units; default: the environment's MPR_AUDIT_CACHE, else none. It changes no result",
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
    k: Annotated[Distinct[Depth], BeforeValidator(_one_or_many), Field(min_length=1)] = Field(
        (50,),
        description="number of retrieved items, at least 1: a number, or a list of numbers; `all` is the whole list of "
        "each query, where an engine's `results` are audited",
    )
    function_classes: Annotated[
        Many[Annotated[ClassEntry, BeforeValidator(class_entry)]], BeforeValidator(_one_or_many), Field(min_length=1)
    ] = Field((ClassEntry(name="linear"),), description="classes under which every selection is measured")
    attention: Annotated[Many[Attention], BeforeValidator(_one_or_many), Field(min_length=1)] = Field(
        (UNIFORM.name,),
        description="how much each place of a selection counts in MPR: uniform (a set), log2 (1/log2(i + 1), as in "
        "DCG) or geometric(p) (p^(i-1)), or a list; every selection is measured under each, and the report is about "
        "the first",
    )
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

    def dataset_key(self, place: int) -> tuple[str | int, ...]:
        """Where a data set's block is written; that of a result list with labels of its own is the list's."""
        return ("results",) if isinstance(self.dataset[place], ListedItems) else ("dataset", place)

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
        checks.check_executor(self)
        checks.check_source(self)
        for key, names in (
            ("dataset", [block.name for block in self.dataset]),
            ("reference", [block.name for block in self.reference]),
            ("function_classes", [entry.display for entry in self.function_classes]),
            ("methods", [entry.display for entry in self.methods]),
            ("attention", list(self.attention)),
        ):
            if len(set(names)) != len(names):
                advice = "; an entry may have a `name` of its own" if key in NAMED else ""
                raise BadSetting(f"two of them share a name: {', '.join(names)}{advice}", key)
        checks.check_probes(self)
        for place, entry in enumerate(self.methods):
            checks.check_targets(self, place, entry)
            checks.check_order(self, place, entry)
            seen = entry.extras.get("attributes", ())
            checks.check_attributes(self, entry.name, seen, "methods", place, entry.name, "attributes")
        for place, one in enumerate(self.function_classes):
            seen = () if isinstance(one.over, str) else one.over
            checks.check_attributes(self, one.display, seen, "function_classes", place, one.name, "over")
        return self
