"""Imports go one way, and each heavy package has one owner."""

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.sources import ROOT, module_name, source_module

# The folders of the job, in the order of docs/flow.md; single modules among them.
FOLDERS = (
    "errors",
    "words",
    "own_code",
    "interruption",
    "store",
    "settings",
    "images",
    "datasets",
    "queries",
    "lists",
    "encoders",
    "cache",
    "methods",
    "config",
    "search",
    "stages",
    "plan",
    "run",
    "analysis",
    "results",
    "report",
    "labelling",
    "submission",
    "audit",
    "proposal",
    "doctor",
    "cli",
    "__main__",
)
# A module of the library may import its own layer and those before it; a folder's name stands for all in it.
LAYERS = [
    {"errors", "caller", "html", "kept", "level_names"},
    {"settings", "declarations", "frames", "arrays", "exact_sums", "compiled", "scikit_learn", "spelling"},
    {"selection"},
    {"encoding", "proportional_fitting", "shares", "cell_table", "confusion", "hand_labels"},
    {"label_error", "stated_table"},
    {"reference", "reference_arguments", "reference_columns", "populations"},
    {"problem", "problem_arguments", "pool_order", "coded_problem", "from_frames", "cells"},
    {"assumptions", "attention", "calibration", "prior_shift", "naming", "probes", "shrinkage"},
    {"function_classes", "witness"},
    {"intervals", "lotteries"},
    {"lotteries_of_rows", "lottery_kernel", "lottery_reuse"},
    {"chance"},
    {"label_errors"},
    {"method", "measurement", "metrics", "requirements", "tables"},
    {"optimisers", "baselines"},
    {"registry"},
    {"keywords", "api", "statistics", "warm_up", "rerank", "curve"},
    {"__init__"},
]
LAYER_OF = {name: number for number, names in enumerate(LAYERS) for name in names}

# Package -> the modules or folders that may import it.
OWNERS = {
    "ray": ["jobs/run/ray/"],
    "faiss": ["jobs/search/faiss_kernel.py"],
    "gurobipy": ["mprlib/optimisers/"],
    "highspy": ["mprlib/optimisers/highs/"],
    "clarabel": ["mprlib/optimisers/"],
    "numba": ["mprlib/compiled.py"],
    "torch": ["jobs/encoders/", "jobs/search/"],
    "open_clip": ["jobs/encoders/clip_model.py"],
    "torchvision": ["jobs/encoders/torchvision_operators.py"],
    "sentence_transformers": ["jobs/encoders/"],
    "PIL": ["jobs/images/"],
    "yaml": ["jobs/settings/document.py"],
}


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@cache
def imported(path: Path) -> set[str]:
    """Full names of everything that a file imports, at its top or inside a function."""
    return names_in(ast.walk(ast.parse(path.read_text(encoding="utf-8"))), path)


def names_in(nodes: Iterable[ast.AST], path: Path) -> set[str]:
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = source_module(node, path)
            names |= {module} | {f"{module}.{alias.name}" for alias in node.names}
    return names


def at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Statements that run when a module is imported: not those of functions, nor what is for type checkers."""
    for below in ast.iter_child_nodes(node):
        is_for_types = isinstance(below, ast.If) and ast.unparse(below.test) == "TYPE_CHECKING"
        if not isinstance(below, (ast.FunctionDef, ast.AsyncFunctionDef)) and not is_for_types:
            yield below
            yield from at_import(below)


def needed_when_imported(path: Path, known: Collection[str]) -> set[str]:
    """Modules whose content a file needs as soon as it is imported."""
    needed: set[str] = set()
    for node in at_import(ast.parse(path.read_text(encoding="utf-8"))):
        module = source_module(node, path) if isinstance(node, ast.ImportFrom) else None
        if module in known:
            below = {f"{module}.{alias.name}" for alias in node.names}
            needed |= {one if one in known else module for one in below}
    return needed


def layer(path: Path) -> int:
    first = path.relative_to(ROOT / "mprlib").parts[0].removesuffix(".py")
    assert first in LAYER_OF, f"mprlib/{first} has no layer: give it one in this test"
    return LAYER_OF[first]


@pytest.mark.parametrize("path", modules("mprlib"), ids=lambda path: str(path.relative_to(ROOT)))
def test_library_imports_go_one_way(path):
    own = layer(path)
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "mprlib" and len(parts) > 1 and parts[1] in LAYER_OF:
            assert LAYER_OF[parts[1]] <= own, f"{path.name} imports {name}, which stands above it"
        assert parts[0] != "jobs", f"{path.name} imports {name}: the library knows no job"


@pytest.mark.parametrize("path", modules("jobs"), ids=lambda path: str(path.relative_to(ROOT)))
def test_folders_of_the_job_import_what_comes_before_them(path):
    own = path.relative_to(ROOT / "jobs").parts[0].removesuffix(".py")
    if own in ("__init__", "data"):
        return
    assert own in FOLDERS, f"jobs/{own} has no place in the order of folders: give it one in this test and docs/flow.md"
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "jobs" and len(parts) > 1 and parts[1] in FOLDERS:
            assert FOLDERS.index(parts[1]) <= FOLDERS.index(own), f"{path.name} imports {name}, which comes after it"


@pytest.mark.parametrize("path", modules("jobs"), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_job_does_not_name_its_package(path):
    """The folder `jobs` is installed as `mpr_audit` (setup.py), where it would find another `jobs` or none."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    absolute = [node for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    assert not [node.module for node in absolute if node.module.partition(".")[0] in ("jobs", "mpr_audit")]


def test_the_page_on_the_flow_lists_the_folders_in_their_order():
    text = (ROOT / "docs/flow.md").read_text(encoding="utf-8")
    table = text.partition("| folder | what it does |")[2].partition("\n\n")[0]
    listed = [name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert listed == [name for name in FOLDERS if name != "__main__"]


@pytest.mark.parametrize("package", ["jobs", "mprlib"])
def test_no_module_needs_itself(package):
    names = {module_name(path): path for path in modules(package)}
    graph = {name: needed_when_imported(path, names) for name, path in names.items()}
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("package", OWNERS)
def test_heavy_packages_have_one_owner(package):
    users = [
        str(path.relative_to(ROOT))
        for path in modules("mprlib") + modules("jobs")
        if any(name == package or name.startswith(f"{package}.") for name in imported(path))
    ]
    for user in users:
        assert any(user.startswith(owner) for owner in OWNERS[package]), f"{user} imports {package}"
    if OWNERS[package][0].endswith("/") and package in ("gurobipy", "clarabel"):
        assert len(users) <= 1, f"{package} is imported by {users}"


@pytest.mark.parametrize("path", modules("mprlib"), ids=lambda path: str(path.relative_to(ROOT)))
def test_library_sets_up_no_logging_and_seeds_nothing(path):
    calls = [node.func for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    called = {ast.unparse(call) for call in calls}
    assert not {name for name in called if name == "print" or name.endswith(("basicConfig", "random.seed"))}
