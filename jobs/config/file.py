"""Read a configuration file: YAML and overrides to settings; errors are one line with file, line and key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import ValidationError

from ..errors import BadSetting, UsageError
from ..settings.block import Block
from ..settings.document import DocumentError, Node, RepeatedKey, parse, scalar
from ..settings.places import Places
from .audit import Audit
from .misplaced_keys import unknown_key

Settings = TypeVar("Settings", bound=Block)
# Configurations have kilobytes; long lists of queries belong in a file of their own, which is read faster.
LARGEST_BYTES = 2_000_000
# Characters of an override that a message shows.
SHOWN = 200
# Parts of an override's key: a name that contains dots is quoted.
PART = re.compile(r'"([^"]*)"|([^."]+)')


@dataclass(frozen=True, kw_only=True, slots=True)
class ConfigFile(Generic[Settings]):
    """Validated settings, the folder that their relative paths start from, and where each is."""

    settings: Settings
    path: Path
    places: Places

    @property
    def folder(self) -> Path:
        """Where the file is."""
        return self.path.parent

    @contextmanager
    def placing(self) -> Iterator[None]:
        """Within this context, errors about a setting get its file, line and key.

        Raises:  UsageError for a BadSetting.
        """
        try:
            yield
        except BadSetting as error:
            raise UsageError(f"{self.places.where(error.key)}: {self.places.said_of(error, error.key)}") from None


def read_config(
    path: str | Path,
    overrides: Iterable[str] = (),
    form: type[Settings] = Audit,  # type: ignore[assignment]  # a type variable has no default in Python 3.11
) -> ConfigFile[Settings]:
    """Settings of a YAML file, `a.b=c` overrides applied before validation; form is the block that they must fit.

    Raises:  UsageError, one line that names the file, the line and the key.
    """
    path = Path(path)
    try:
        root = parse(_file_text(path))
    except DocumentError as error:
        line = "" if error.line is None else f":{error.line}"
        why = f"{error}" if isinstance(error, RepeatedKey) else f"not valid YAML: {error}"
        raise UsageError(f"{path}{line}: {why}") from None
    if not isinstance(root.content, dict):
        required = form.least()
        least = f"{', '.join(required[:-1])} and {required[-1]}"
        raise UsageError(f"{path}: a mapping of settings is expected, with at least {least}")
    overridden = set()
    for override in overrides:
        root, key = _with_override(root, override)
        overridden.add(key)
    places = Places(path=path, root=root, overridden=frozenset(overridden))
    try:
        settings = form.model_validate(root.value())
    except ValidationError as error:
        said = partial(unknown_key, form=form)
        raise UsageError(places.explained(error, said)) from None
    return ConfigFile(settings=settings, path=path.resolve(), places=places)


def _file_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"configuration {path}: {error.strerror}") from None
    if len(content) > LARGEST_BYTES:
        raise UsageError(
            f"configuration {path}: it has more than {LARGEST_BYTES / 1e6:g} MB: put long lists of queries into a "
            "file of their own and name it in `queries.file`"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(f"configuration {path}:{line}: not a UTF-8 text file") from None


def _with_override(root: Node, override: str) -> tuple[Node, str]:
    """The document with one `a.b=c` in it, and the key; the value is read as YAML.

    Blocks on the way are copied, so that other aliases of the same block do not change.
    """
    key, equals, value = override.partition("=")
    key, shown = key.strip(), f"--set {' '.join(override.split())[:SHOWN]}"
    parts = [quoted or plain.strip() for quoted, plain in PART.findall(key)]
    between = PART.sub("", key)
    if not equals or not all(parts) or between != "." * (len(parts) - 1) or not parts:
        raise UsageError(f"{shown}: the form a.b=c is expected")
    try:
        node = parse(value)
    except DocumentError as error:
        raise UsageError(f"{shown}: {value[:SHOWN]!r} is not a YAML value: {error}") from None
    return _with_value(root, parts, node, shown), ".".join(parts)


def _with_value(block: Node, parts: list[str], value: Node, shown: str) -> Node:
    """A copy of the block with the value set at a key."""
    name, *rest = parts
    content = block.content
    if isinstance(content, str) and block.is_plain and scalar(content) is None:
        content = {}  # a key without a value: a block without settings
    if isinstance(content, dict):
        inner = content.get(name, Node(line=block.line, content={}))
        changed = content | {name: _with_value(inner, rest, value, shown) if rest else value}
        return replace(block, content=changed, lines={name: block.line} | block.lines, is_plain=False)
    if not isinstance(content, list):
        raise UsageError(f"{shown}: a text or number comes before {name!r}, no block of settings")
    if name not in map(str, range(len(content))):
        raise UsageError(f"{shown}: {name[:SHOWN]!r} is not a position in that list, which has {len(content)}")
    items = list(content)
    items[int(name)] = _with_value(content[int(name)], rest, value, shown) if rest else value
    return replace(block, content=items)
