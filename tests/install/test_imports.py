"""What `import mprlib` loads, and what is said where a package is missing: `python -m tests.benchmarks.start_up`
times the import."""

import ast
import json
import subprocess
import sys

import pytest

from mprlib import FUNCTION_CLASSES, METHODS
from tests.install import without
from tests.sources import ROOT, module_name
from tests.test_architecture import at_import, modules, names_in

# Packages and modules that only some calls need, all of which take longer to load than the library itself.
LATER = {
    *("ray", "torch", "sklearn", "matplotlib", "pandas", "polars", "pyarrow", "narwhals", "fsspec"),
    *("numba", "highspy", "clarabel", "gurobipy", "PIL", "typer", "pydantic", "IPython"),
    *("scipy.sparse", "scipy.special", "scipy.spatial", "scipy.linalg", "scipy.optimize", "scipy.stats"),
    *("logging", "difflib", "importlib.metadata"),
}
COMMAND = "import sys; from jobs.cli import main; sys.exit(main({arguments!r}))"
EVERY_NAME = """
import json
import numpy as np
import mprlib

levels = np.eye(2)[np.arange(40) % 2]
vectors = np.random.default_rng(0).standard_normal((40, 3))
problem = mprlib.Problem(
    scores=vectors @ [0.1, 0.2, 0.1], labels=levels, reference=levels, k=6, embeddings=vectors, query=[0.1, 0.2, 0.1])
said = {}

def tried(name, call):
    try:
        call()
    except mprlib.InputError as error:
        said[name] = str(error)

for name in mprlib.FUNCTION_CLASSES:
    tried(name, lambda: mprlib.measure(problem, range(6), name))
values = {"mopr": 0.1, "mopr_qp": 0.1, "mopr_integer": 0.1, "mopr_paper": 0.1, "mmr": 0.5, "pbm": 0.3, "clip_clip": 1}
for name in mprlib.METHODS:
    tried(name, lambda: mprlib.select(problem, name, values.get(name)))

class Model:
    def fit(self, x, y): ...
    def predict(self, x): ...

tried("model", lambda: mprlib.measure(problem, range(6), Model()))
tried("probe", lambda: __import__("mprlib.probes").probes.train_probe(vectors, ["a", "b"] * 20))
print(json.dumps(said))
"""


def test_the_library_loads_nothing_that_a_call_may_not_need():
    script = "import json, sys, mprlib; print(json.dumps(sorted(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    # The tests' own environment may load some of these by itself, as editable installations do.
    bare = subprocess.run(
        [sys.executable, "-c", script.replace(", mprlib", "")], capture_output=True, text=True, check=True
    )
    assert not (set(json.loads(shown.stdout)) - set(json.loads(bare.stdout))) & LATER


# Modules and folders that are imported where something is solved, and what they are there for.
OWNERS = ("mprlib.compiled", "mprlib.optimisers.cone", "mprlib.optimisers.highs")


def is_loaded_late(module: str) -> bool:
    return module.endswith("_kernel") or any(module == one or module.startswith(f"{one}.") for one in OWNERS)


@pytest.mark.parametrize("path", modules("mprlib"), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_imports_at_its_top_what_only_a_call_needs(path):
    """`import scipy` is cheap, and `scipy.special` is loaded when it is first used."""
    needed = names_in(at_import(ast.parse(path.read_text(encoding="utf-8"))), path)
    heavy = {name for name in needed if any(name == one or name.startswith(f"{one}.") for one in LATER)}
    is_late = is_loaded_late(module_name(path))
    assert is_late or not heavy, f"{path.name} imports {sorted(heavy)}: import it within the function"
    late = {name for name in needed if is_loaded_late(name)}
    assert is_late or not late, f"{path.name} imports {sorted(late)} at its top"


def test_classes_and_methods_say_that_they_need_scikit_learn_or_do_without():
    done = without.run(["sklearn"], EVERY_NAME)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    advised = {name for name, line in said.items() if line.endswith("which is not installed: pip install scikit-learn")}
    assert {"linear_regression", "tree_greedy", "forest", "mlp_trained", "clip_clip", "model", "probe"} == advised
    # What else is refused lacks an argument that is no matter of installation.
    assert {name for name in said if name not in advised} <= {*METHODS, *FUNCTION_CLASSES}
    assert not any("sklearn" in line for line in said.values())


@pytest.mark.parametrize(
    ("missing", "arguments"),
    [("typer", ["--help"]), ("typer", ["run", "audit.yaml"]), ("fsspec", ["status", "run"])],
)
def test_the_command_names_the_extra_that_brings_what_is_missing(missing, arguments):
    done = without.run([missing], COMMAND.format(arguments=arguments))
    assert done.returncode == 2
    assert (
        done.stderr
        == f"mpr-audit: {missing} is not installed: pip install 'mprlib[audit]' brings what an audit needs\n"
    )


def test_a_run_without_ray_names_the_extra(tmp_path):
    from tests.jobs.conftest import write_audit

    path = write_audit(tmp_path, methods=["top_k"], runtime={})
    done = without.run(["ray"], COMMAND.format(arguments=["run", str(path), "--output", str(tmp_path / "run")]))
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "mpr-audit: ray is not installed: pip install 'mprlib[audit]' brings what an audit needs"
    )


def test_a_module_of_ours_that_is_missing_is_no_missing_package():
    done = without.run(["jobs"], "import jobs.cli")
    assert "Traceback" in done.stderr
