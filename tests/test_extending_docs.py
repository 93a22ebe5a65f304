"""The examples of docs/extending.md, put where they belong and run through the tests of the built-in ones."""

import importlib.util
import json
import re
import sys
from inspect import signature

import numpy as np
import pytest

import mprlib
from jobs import datasets, encoders, methods
from jobs.cli import application, commands
from jobs.config.audit import Audit
from jobs.config.reference import reference
from jobs.errors import UsageError
from jobs.stages.execute import execute
from tests.jobs.conftest import settings
from tests.jobs.report import synthetic
from tests.jobs.units_in_process import run_units
from tests.mprlib import test_api, test_doctests, test_settings
from tests.mprlib.function_classes import test_contract
from tests.pages import blocks, text_of
from tests.populations import one_hot_problem

EXAMPLES = {block.splitlines()[0].removeprefix("# "): block for block in blocks("docs/extending.md", "python")}
CONTRACT = [
    test
    for name, test in vars(test_contract).items()
    if name.startswith("test_") and "name" in signature(test).parameters
]


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Imports an example as the module that its first line names."""

    def load(path):
        file = tmp_path / "example.py"
        file.write_text(EXAMPLES[path], encoding="utf-8")
        name = path.removesuffix(".py").replace("/", ".")
        spec = importlib.util.spec_from_file_location(name, file)
        found = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, found)
        spec.loader.exec_module(found)
        return found

    return load


@pytest.fixture
def one_attribute(module, monkeypatch):
    kind = module("mprlib/function_classes/one_attribute.py").OneAttribute
    monkeypatch.setitem(mprlib.FUNCTION_CLASSES, kind.name, kind)
    return kind.name


@pytest.mark.parametrize("test", CONTRACT, ids=lambda test: test.__name__)
def test_the_class_keeps_the_contract(one_attribute, test):
    test(one_attribute)


def test_the_class_sees_no_intersections_and_can_be_constrained(one_attribute):
    """Half of the reference are (a, x) and half (b, y); shown are (a, y) and (b, x): every attribute is even."""
    problem = mprlib.Problem(
        scores=[1.0, 1.0, 0.0, 0.0],
        labels=[[1, 0, 0, 1], [0, 1, 1, 0], [1, 0, 1, 0], [0, 1, 0, 1]],
        reference=[[1, 0, 1, 0], [0, 1, 0, 1]],
        k=2,
        attributes={"first": [0, 1], "second": [2, 3]},
    )
    assert mprlib.measure(problem, [0, 1], one_attribute).value == pytest.approx(0)
    assert mprlib.measure(problem, [0, 1], "saturated").value > 0.1
    problem = one_hot_problem()
    rho = mprlib.select(problem, "top_k", function_class=one_attribute).mpr / 2
    fairer = mprlib.select(problem, "mopr", rho, one_attribute)
    assert fairer.status in ("optimal", "feasible") and fairer.mpr <= rho


@pytest.fixture
def lottery(module, monkeypatch):
    kind = module("mprlib/baselines/lottery.py").Lottery
    monkeypatch.setitem(mprlib.METHODS, kind.name, kind)
    return kind.name


def test_the_method_keeps_the_contract(lottery):
    generator = np.random.default_rng(0)
    problem = mprlib.Problem(
        scores=generator.random(60), labels=np.eye(3)[generator.integers(0, 3, 60)], reference=np.eye(3), k=9
    )
    test_api.test_every_method_returns_k_distinct_items_best_first(problem, lottery)
    test_api.test_the_same_input_gives_the_same_items(problem, lottery)
    test_api.test_all_items_equal_and_one_class_only(lottery)
    test_settings.test_the_parameter_takes_no_other_type(lottery)
    test_settings.test_every_setting_is_described_and_limited_unless_it_is_an_array(lottery)
    assert set(mprlib.select(problem, lottery, 0.15).items) == set(problem.best_first[:9])
    assert mprlib.select(problem, lottery, 0.5, seed=3).message == "30 items took part"


@pytest.mark.parametrize("name", ["one_attribute", "lottery"])
def test_the_worked_examples_print_what_they_say(name, request):
    request.getfixturevalue(name)
    kind = {**mprlib.FUNCTION_CLASSES, **mprlib.METHODS}[name]
    assert test_doctests.tried(sys.modules[kind.__module__]) > 0


def test_a_configuration_names_the_method(lottery, one_attribute):
    asked = settings(methods=["top_k", {lottery: {"seed": 5, "points": 4}}], function_classes=["linear", one_attribute])
    assert Audit.model_validate(asked).methods[1].extras == {"seed": 5}
    assert methods.known_settings(lottery) == ["seed"]
    with pytest.raises(ValueError, match="lottery's seed is -1"):
        Audit.model_validate(settings(methods=[{lottery: {"seed": -1}}]))
    for name in (lottery, one_attribute):
        assert f"## `{name}`" in reference()


def test_the_page_counts_the_files_that_a_part_takes():
    for part, own_file in (("A function class", "The class's own file"), ("A method", "The method's own file")):
        steps = text_of("docs/extending.md").partition(f"## {part}\n")[2].partition("It takes three files:")[2]
        files = re.findall(r"^\d\. (The \w+'s own file|`[\w/.]+`)", steps.partition("\n## ")[0], flags=re.M)
        assert files == [own_file, "`mprlib/registry.py`", "`docs/configuration.md`"]


def test_the_data_set_is_read(module, monkeypatch, tmp_path):
    directory = module("jobs/datasets/directory.py").Directory
    monkeypatch.setitem(datasets.KINDS, "directory", directory)
    block = datasets.described({"kind": "directory", "path": "people.jsonl", "text": "{about}"})
    with pytest.raises(UsageError, match="dataset items: .*people.jsonl"):
        datasets.load(block, tmp_path)
    people = [{"id": f"p{number}", "about": "a nurse", "gender": "fm"[number % 2]} for number in range(4)]
    lines = [*map(json.dumps, people), "not json"]
    (tmp_path / "people.jsonl").write_text("\n".join(lines), encoding="utf-8")
    catalogue = datasets.load(block, tmp_path)
    assert catalogue.size == 4 and catalogue.levels["gender"] == ("f", "m")
    assert catalogue.skipped.to_pylist()[0]["item_id"] == "line 5"
    with pytest.raises(ValueError, match="key goes with kind directory, not with celeba"):
        datasets.described({"kind": "celeba", "path": ".", "key": "id"})


def test_the_encoder_is_loaded(module, monkeypatch, tmp_path):
    words = module("jobs/encoders/words.py").WordsEncoder
    for registry in (encoders.MODELS, encoders.KINDS):
        monkeypatch.setitem(registry, "words", words)
    asked = Audit.model_validate(settings(encoder={"kind": "words", "width": 512})).encoder
    source = encoders.item_source(asked, tmp_path)
    assert source == encoders.text_source(asked, tmp_path) and source.width == 512
    encoder = encoders.load(source.loading)
    nurse, other, driver = encoder.encode(["A photo of a nurse", "nurse, a photo of a", "truck driver"])
    assert np.linalg.norm(nurse) == pytest.approx(1) and nurse @ other == pytest.approx(1) and nurse @ driver < 0.1
    with pytest.raises(ValueError, match="no word"):
        encoder.encode(["..."])


def test_the_command_is_found_in_its_folder(monkeypatch, tmp_path, capsys):
    (tmp_path / "notes.py").write_text(EXAMPLES["jobs/cli/commands/notes.py"], encoding="utf-8")
    monkeypatch.setattr(commands, "__path__", [*commands.__path__, str(tmp_path)])
    monkeypatch.setattr(application, "app", application.application())
    del sys.modules["jobs.cli.commands.notes"]
    assert application.execute(["--help"]) == 0 and "Print the remarks of a run's plan" in capsys.readouterr().out
    synthetic.write(tmp_path / "run")
    assert application.execute(["notes", str(tmp_path / "run"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"notes": ["rho = 0.005 is at noise level here"]}
    assert application.execute(["notes", str(tmp_path)]) == 2 and "holds no finished run" in capsys.readouterr().err


def test_the_stage_runs_on_what_others_have_written(module, tmp_path):
    stage = module("jobs/stages/lengths.py")
    plan, store = run_units(tmp_path)
    units = [stage.Lengths(title=shard.title, vectors=shard.key) for shard in plan.stages["embed"]]
    assert [unit.needs for unit in units] == [(shard.key,) for shard in plan.stages["embed"]]
    assert len({unit.key for unit in units}) == len(units)
    for unit in units:
        assert execute(unit, store).message == ""
        assert stage.read_lengths(store, unit.key)["most"][0].as_py() == pytest.approx(1)
