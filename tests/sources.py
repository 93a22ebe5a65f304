"""What Python files import, read from their source."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def source_module(node: ast.ImportFrom, path: Path) -> str:
    """The full name of the module that a statement of a file imports from."""
    package = path.relative_to(ROOT).parts[:-1]
    above = package[: len(package) - node.level + 1] if node.level else ()
    return ".".join([*above, *([node.module] if node.module else [])])
