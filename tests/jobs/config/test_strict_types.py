"""No setting takes another type for its own: in every block, class and method, in the file and in `--set`."""

import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest
from pydantic import ValidationError

from jobs.config.audit import Audit
from jobs.config.file import read_config
from jobs.config.prompts import PromptTraining
from jobs.config.reference import blocks
from jobs.errors import UsageError
from jobs.methods import ARRAYS
from jobs.methods.named_arrays import TextList
from mprlib import FUNCTION_CLASSES, METHODS
from mprlib.attention import AttentionName
from mprlib.declarations import declared
from mprlib.settings import Choice, Flag, Number, Whole

FIELDS = list(
    dict.fromkeys(
        (block, name) for root in (Audit, PromptTraining) for block in blocks(root) for name in block.model_fields
    )
)
WRONG: dict[Any, list[Any]] = {
    bool: ["no", "false", "true", "", 0, 1, 1.0, None],
    int: ["5", "", True, 5.0, 5.5, 10**30, [5]],
    float: ["0.5", True, float("nan"), float("inf"), [0.5]],
    str: [5, 0.5, True, ["a"], {}],
    dict: [[], "x", 5],
    Literal: [True, 0, "", "nobody"],
}
# As YAML writes what is no value of a kind.
ARRAY_SETTINGS = {(name, of): setting for name, arrays in ARRAYS.items() for of, setting in arrays.settings.items()}
WRITTEN = {
    Whole: ["'5'", "no", "1.0", "1e0", "-1", "012", "0o7", "1_0", "12:30", "true", "[2]", "{}", "9" * 400],
    Number: ["'0.5'", "no", "true", ".nan", ".inf", "-1", "00.5:1", "1_0.5", "[0.5]", "nonsense"],
    Flag: ["no", "off", "'true'", "0", "1", "nonsense", "[]"],
    Choice: ["nonsense", "true", "5", "[mean]"],
    AttentionName: ["nonsense", "geometric", "geometric(1)", "true", "5", "[log2]"],
}
BASE = """\
dataset: {path: people.parquet, attributes: {gender: {}}}
encoder: {kind: sentence}
queries: {list: [nurse]}
"""


def base_of(annotation):
    """The type that a field holds, without None and limits."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return base_of(parts[0])
    if origin in (Union, types.UnionType):
        return base_of(next(part for part in parts if part is not type(None)))
    return origin or annotation


def members_of(annotation):
    """The types of a union, however it is annotated."""
    if get_origin(annotation) is Annotated:
        return members_of(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return {member for part in get_args(annotation) for member in members_of(part)}
    return {annotation}


@pytest.mark.parametrize(("block", "name"), FIELDS, ids=lambda one: getattr(one, "__name__", one))
def test_a_field_takes_no_other_type(block, name):
    field = block.model_fields[name]
    # A block may be in a file instead.
    is_file_too = base_of(field.annotation) is dict and str in members_of(field.annotation)
    for value in WRONG.get(base_of(field.annotation), []):
        if is_file_too and isinstance(value, str):
            continue
        with pytest.raises(ValidationError) as caught:
            block.model_validate({name: value})
        assert any(error["loc"][:1] == (name,) for error in caught.value.errors()), value


@pytest.mark.parametrize("members", [["5"], [True], [5.5]])
def test_members_of_lists_are_strict(members):
    with pytest.raises(ValidationError) as caught:
        Audit.model_validate({"k": members})
    assert ("k", 0) in [error["loc"] for error in caught.value.errors()]


def settings_of(registry):
    for name in registry:
        yield from ((name, setting, kind) for setting, kind in declared(registry[name]).items())


def refusal(folder, text, overrides=()):
    path = folder / "audit.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_config(path, overrides)
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(str(folder))


@pytest.mark.parametrize(("name", "setting", "kind"), list(settings_of(FUNCTION_CLASSES)))
def test_a_class_is_refused_at_its_line(tmp_path, name, setting, kind):
    for written in WRITTEN[type(kind)]:
        entry = f"{{{name}: {{{setting}: {written}}}}}"
        found = refusal(tmp_path, BASE + f"function_classes:\n  - linear\n  - {entry}\n")
        assert found.startswith(f"/audit.yaml:6: function_classes.1.{name}.{setting}: {setting} is "), found
        assert f"{kind.expected} is expected" in found
        found = refusal(tmp_path, BASE, [f"function_classes=[{entry}]"])
        assert found.startswith(f"--set function_classes: function_classes.0.{name}.{setting}: {setting} is "), found


@pytest.mark.parametrize(("name", "setting", "kind"), list(settings_of(METHODS)))
def test_a_method_is_refused_at_its_line(tmp_path, name, setting, kind):
    for written in WRITTEN[type(kind)]:
        entry = f"{{{name}: {{{setting}: {written}}}}}"
        found = refusal(tmp_path, BASE + f"methods:\n  - top_k\n  - {entry}\n")
        assert found.startswith(f"/audit.yaml:6: methods.1.{name}.{setting}: {name}'s {setting} is "), found
        assert f"{kind.expected} is expected" in found


@pytest.mark.parametrize("name", [name for name in METHODS if METHODS[name].parameter is not None])
def test_values_are_refused_at_their_line(tmp_path, name):
    for written in [*WRITTEN[type(METHODS[name].value)], "null"]:
        text = BASE + f"methods:\n  - top_k\n  - {name}:\n      values: [{written}]\n"
        found = refusal(tmp_path, text)
        assert found.startswith(f"/audit.yaml:7: methods.1.{name}.values: {name}'s "), found


@pytest.mark.parametrize(
    ("name", "setting"),
    [(name, setting) for name, setting in ARRAY_SETTINGS if isinstance(ARRAYS[name].settings[setting], TextList)],
)
def test_lists_of_texts_are_strict(tmp_path, name, setting):
    for written in ("gender", "[]", "[gender, true]", "[gender, null]", "[gender, [a]]", "[gender, '']", "{a: b}", "5"):
        found = refusal(tmp_path, BASE + f"methods:\n  - {name}: {{{setting}: {written}}}\n")
        assert found.startswith(f"/audit.yaml:5: methods.0.{name}.{setting}: {setting} is "), found


@pytest.mark.parametrize(
    ("name", "setting"),
    [(name, setting) for name, setting in ARRAY_SETTINGS if not isinstance(ARRAYS[name].settings[setting], TextList)],
)
def test_texts_are_strict(tmp_path, name, setting):
    for written in ("5", "''", "null", "true", "[a]"):
        found = refusal(tmp_path, BASE + f"methods:\n  - {name}: {{{setting}: {written}}}\n")
        assert found.startswith(f"/audit.yaml:5: methods.0.{name}.{setting}: {setting} is "), found


@pytest.mark.parametrize(
    ("setting", "written", "words"),
    [
        ("report.minimum_share", "'0.1'", "a number is expected, got the text '0.1': quotes make it a text: write 0.1"),
        ("prefilter.top", "1e3", "a whole number is expected, got 1e3: write 1000"),
        ("prefilter.top", "0400", "a whole number is expected, got 0400: a leading zero"),
        ("shard_items", "4_096", "a whole number is expected, got 4_096: leave the underscores out"),
        ("runtime.unit_seconds", "1:30:00", "a number is expected, got 1:30:00: to YAML 1.1 colons mean base 60"),
        ("reference.query_conditioned", "yes", "true or false is expected, got yes: write true or false"),
        ("reference.query_conditioned", "'true'", "true or false is expected, got the text 'true': quotes make it"),
        ("reference.query_conditioned", "1", "true or false is expected, got 1"),
        ("reference.size", "true", "a number is expected, got true"),
        ("reference", "5", "a block of settings is expected, got 5"),
        ("encoder", "[a]", "a block of settings is expected, got a list"),
        ("name", "2024", 'a text is expected, got 2024: write "2024", in quotes'),
        ("name", "true", 'a text is expected, got true: write "true", in quotes'),
        ("name", "", "a text is expected, got nothing"),
        ("queries.list", "[nurse, null]", 'a text is expected, got null: write "null", in quotes'),
        ("queries.list", "nurse", "a list is expected, got nurse"),
        ("k", "[]", "a list of at least 1 is expected, got an empty list"),
        ("k", "al", "a whole number or all is expected, got 'al'"),
        ("k", "9" * 400, "a whole number is expected, got 9"),
        ("report.group_attributes", "5", "a number of at most 4 is expected, got 5"),
        ("prefilter.backend", "fast", "'auto', 'faiss' or 'torch' is expected, got fast"),
    ],
)
def test_the_refusal_says_what_came_and_what_to_write(tmp_path, setting, written, words):
    found = refusal(tmp_path, BASE, [f"{setting}={written}"])
    assert found.startswith(f"--set {setting}: ")
    assert words in found
    assert len(found) < 300


def test_levels_columns_and_queries_are_taken_as_they_are_written(tmp_path):
    path = tmp_path / "audit.yaml"
    path.write_text(
        """\
dataset:
  path: people.parquet
  id: 0
  relevance: 1e3
  attributes:
    zip: {column: 2024, order: [012, 12, 1e3, no, 2024-01-01, 0x1F]}
    2025: {map: {1: 01, no: 0, true: 1.50}}
reference: {kind: shares, shares: {zip: {012: 0.5, 12: 0.25, 1e3: 0.25}, 2025: {"01": 1}}}
encoder: {kind: precomputed, column: 7}
queries: {list: [2024, nurse, no, 1.0]}
function_classes: [{linear: {over: [2025]}}]
methods: [{pbm: {attributes: [2025]}}]
""",
        encoding="utf-8",
    )
    settings = read_config(path).settings
    block = settings.dataset[0]
    assert (block.id, block.relevance, settings.encoder.column) == ("0", "1e3", "7")
    assert block.attributes["zip"].column == "2024"
    assert block.attributes["zip"].order == ("012", "12", "1e3", "no", "2024-01-01", "0x1F")
    assert block.attributes["2025"].map == {"1": "01", "no": "0", "true": "1.50"}
    assert settings.reference[0].shares == {"zip": {"012": 0.5, "12": 0.25, "1e3": 0.25}, "2025": {"01": 1.0}}
    assert settings.queries.list == ("2024", "nurse", "no", "1.0")
    assert settings.function_classes[0].over == ("2025",)
    assert settings.methods[0].extras == {"attributes": ["2025"]}


def test_an_exponent_is_a_number(tmp_path):
    path = tmp_path / "audit.yaml"
    path.write_text(BASE + "function_classes: [{rkhs: {bandwidth: 1e-3}}]\n", encoding="utf-8")
    assert read_config(path).settings.function_classes[0].settings == {"bandwidth": 0.001}
