"""What in a Python source could run code that a file, a table or a setting brought along."""

from __future__ import annotations

import ast
from collections.abc import Iterator

# Modules whose reading runs code; importing one for the name of an error is no reading.
UNSAFE_MODULES = {"marshal", "shelve", "dill", "cloudpickle", "joblib", "jsonpickle"}
UNSAFE_CALLS = {
    "pickle.load",
    "pickle.loads",
    "pickle.Unpickler",
    "eval",
    "exec",
    "compile",
    "os.system",
    "os.popen",
    "yaml.load",
    "yaml.unsafe_load",
    "yaml.full_load",
    "pd.read_pickle",
    "pandas.read_pickle",
    "torch.jit.load",
    "torch.hub.load",
    "shutil.unpack_archive",
}
UNSAFE_METHODS = {"extractall", "extract", "read_pickle"}


def faults(source: str) -> Iterator[str]:
    """One line a fault."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (_said(node, one.name) for one in node.names if one.name.split(".")[0] in UNSAFE_MODULES)
        elif isinstance(node, ast.ImportFrom):
            if (node.module or "").split(".")[0] in UNSAFE_MODULES | {"pickle"} and node.module != "pickle":
                yield _said(node, node.module)
            if node.module == "pickle":
                yield from (_said(node, one.name) for one in node.names if not one.name.endswith("Error"))
        elif isinstance(node, ast.Call):
            yield from _of_call(node)


def _of_call(node: ast.Call) -> Iterator[str]:
    name = ast.unparse(node.func)
    given = {one.arg: one.value for one in node.keywords}
    if name in UNSAFE_CALLS:
        yield _said(node, name)
    if isinstance(node.func, ast.Attribute) and node.func.attr in UNSAFE_METHODS and "filter" not in given:
        yield _said(node, name)
    if name == "torch.load" and not _is(given.get("weights_only"), True):
        yield _said(node, "torch.load without weights_only=True")
    if "allow_pickle" in given and not _is(given["allow_pickle"], False):
        yield _said(node, "allow_pickle")
    if "shell" in given and not _is(given["shell"], False):
        yield _said(node, "a shell")
    if "trust_remote_code" in given and not _is(given["trust_remote_code"], False):
        yield _said(node, "trust_remote_code")


def _is(node: ast.expr | None, value: bool) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _said(node: ast.stmt | ast.expr, what: str) -> str:
    return f"line {node.lineno}: {what}"
