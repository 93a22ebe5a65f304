"""The compiler is loaded by the first solve, not with the library."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mprlib
from mprlib.compiled import KERNELS, _folder, _reached, _sources

# Functions of which one calls the other, with a constant as well, and programs that call one or both.
KERNEL = """
from mprlib.compiled import compiled

@compiled
def twice(number):
    return 2 * number

@compiled
def twice_both(number):
    return twice(number) + twice(1)
"""
# One that counts no references.
UNCOUNTED = """
import numpy as np
from mprlib.compiled import uncounted

@uncounted
def twice(number):
    return 2 * number
"""
CALL = "from pathlib import Path; import mprlib.tiny_kernel as kernel; print(Path(kernel.__file__), kernel.twice(21)); \
import mprlib.compiled as c; f = c.compilation(); print(f.functions, f.is_kept)"
CALL_BOTH = "import mprlib.tiny_kernel as kernel; import mprlib.compiled as c; print(kernel.twice_both(20), \
c.compilation().functions, kernel.twice(21), c.compilation().functions)"
# How often `twice` is compiled where Python calls it first, and whether garbage is looked for afterwards.
CALL_PART_LAST = """
import gc
from numba.core import event
import mprlib.tiny_kernel as kernel

with event.install_recorder("numba:compile") as found:
    kernel.twice(21)
    kernel.twice_both(20)
print([one.data["dispatcher"].__name__ for _, one in found.buffer if one.is_start], gc.isenabled())
"""
IMPORTED = "import sys, mprlib; sys.exit('numba' in sys.modules)"


def test_importing_the_library_does_not_load_the_compiler():
    assert subprocess.run([sys.executable, "-c", IMPORTED], check=False).returncode == 0


def called(home: Path, library: Path, kernel: str = KERNEL, program: str = CALL) -> str:
    """What a process of its own prints that calls a copy of the library with that folder for its caches."""
    copy = library / "mprlib"
    shutil.copytree(
        Path(mprlib.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True
    )
    (copy / "tiny_kernel.py").write_text(kernel)
    environment = {**os.environ, "XDG_CACHE_HOME": str(home), "PYTHONPATH": str(library), "NUMBA_CACHE_DIR": ""}
    return subprocess.run(
        [sys.executable, "-P", "-c", program], env=environment, cwd=library, check=True, capture_output=True, text=True
    ).stdout


def compiled_files(home: Path) -> dict[str, int]:
    """Compiled files, and when each was written."""
    return {path.name: path.stat().st_mtime_ns for path in home.rglob("*.nbc")}


def test_a_copy_of_the_library_uses_what_another_has_compiled(tmp_path):
    """Each job of a cluster gets a copy in a folder of its own."""
    first = called(tmp_path / "cache", tmp_path / "first")
    files = compiled_files(tmp_path / "cache")
    second = called(tmp_path / "cache", tmp_path / "second")
    assert len(files) == 1 and compiled_files(tmp_path / "cache") == files
    for name, text, functions in (("first", first, "1"), ("second", second, "0")):
        assert text.split() == [str(tmp_path / name / "mprlib/tiny_kernel.py"), "42", functions, "True"]


def test_a_function_that_another_one_calls_is_no_function_of_its_own_before_python_calls_it(tmp_path):
    first, second = (called(tmp_path / "cache", tmp_path / name, program=CALL_BOTH) for name in ("first", "second"))
    assert first.split() == ["42", "1", "42", "2"]
    assert second.split() == ["42", "0", "42", "0"]


def test_what_python_called_before_is_not_compiled_anew_as_a_part(tmp_path):
    assert called(tmp_path / "cache", tmp_path / "copy", program=CALL_PART_LAST) == "['twice', 'twice_both'] True\n"


def test_a_module_is_compiled_anew_where_one_that_it_names_changed_and_no_other(tmp_path):
    package = Path(mprlib.__file__).parent
    names = [path.stem for path in package.rglob(KERNELS)]
    assert len(set(names)) == len(names)
    sources = {"a_kernel": "from mprlib.b_kernel import b", "b_kernel": "from mprlib import c_kernel", "c_kernel": ""}
    assert _reached("a_kernel", sources) == {"a_kernel", "b_kernel", "c_kernel"}
    assert _reached("b_kernel", sources) == {"b_kernel", "c_kernel"}
    assert _folder("item_swap_kernel") != _folder("random_kernel")
    assert _reached("item_swap_kernel", _sources()) == {"item_swap_kernel", "random_kernel"}


def test_where_nothing_can_be_written_each_process_compiles_for_itself(tmp_path):
    """Neither in the user's cache nor beside the module: there a file is in the folder's place."""
    (tmp_path / "cache").write_text("a file")
    (tmp_path / "copy" / "mprlib").mkdir(parents=True)
    (tmp_path / "copy" / "mprlib" / "__pycache__").write_text("a file")
    assert called(tmp_path / "cache", tmp_path / "copy").split()[1:] == ["42", "1", "False"]


def test_a_function_that_counts_no_references_cannot_make_an_array(tmp_path):
    """Nobody would free it."""
    assert called(tmp_path / "cache", tmp_path / "copy", UNCOUNTED).split()[1] == "42"
    with pytest.raises(subprocess.CalledProcessError, match="returned non-zero"):
        called(tmp_path / "cache", tmp_path / "copy", UNCOUNTED.replace("2 * number", "np.full(2, number)[0]"))


def test_every_compiled_function_is_in_a_module_whose_content_names_the_cache():
    package = Path(mprlib.__file__).parent
    uses = [path for path in package.rglob("*.py") if "mprlib.compiled import" in path.read_text(encoding="utf-8")]
    assert uses and all(path.match(KERNELS) for path in uses)
