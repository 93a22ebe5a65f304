"""Reading a configuration file: YAML and overrides to settings, errors to one line with a place."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Generic, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from jobs.config.audit import Audit
from jobs.config.block import Block
from jobs.errors import UsageError

Settings = TypeVar("Settings", bound=Block)


@dataclass(frozen=True, kw_only=True, slots=True)
class ConfigFile(Generic[Settings]):
    """Validated settings and the folder that their relative paths start from."""

    settings: Settings
    path: Path

    @property
    def folder(self) -> Path:
        """Where the file lies."""
        return self.path.parent


def read_config(
    path: str | Path, overrides: tuple[str, ...] = (), form: type[Settings] = Audit
) -> ConfigFile[Settings]:
    """Settings of a YAML file, `a.b=c` overrides applied before validation; form says which settings.

    Raises:  UsageError, one line that names the file, the line and the key.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"configuration {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"configuration {path}: not a UTF-8 text file") from None
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        raw = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        reason = "nested too deeply" if isinstance(error, RecursionError) else getattr(error, "problem", None) or error
        raise UsageError(f"{path}{line}: not valid YAML: {_one_line(reason)}") from None
    if not isinstance(raw, dict):
        required = [name for name, field in form.model_fields.items() if field.is_required()]
        least = f"{', '.join(required[:-1])} and {required[-1]}"
        raise UsageError(f"{path}: a mapping of settings is expected, with at least {least}")
    _refuse_repeated_keys(path, root)
    overridden = {_override(raw, override) for override in overrides}
    try:
        settings = form.model_validate(raw)
    except ValidationError as error:
        raise UsageError(_first_error(error, path, root, overridden, form)) from None
    return ConfigFile(settings=settings, path=path.resolve())


def _refuse_repeated_keys(path: Path, node: yaml.Node) -> None:
    """YAML lets the last of two equal keys win, in silence; here it is an error."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_repeated_keys(path, item)
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                raise UsageError(f"{path}:{key.start_mark.line + 1}: {key.value}: this key stands twice in its block")
            if isinstance(key.value, str):
                seen.add(key.value)
            _refuse_repeated_keys(path, value)


def _override(raw: dict[str, Any], override: str) -> str:
    """Put one `a.b=c` into the raw settings; the value is read as YAML."""
    key, equals, value = override.partition("=")
    if not equals or not all(part.strip() for part in key.split(".")):
        raise UsageError(f"--set {override}: the form a.b=c is expected")
    parts = key.strip().split(".")
    place: Any = raw
    for part in parts[:-1]:
        place = (
            place[int(part)]
            if isinstance(place, list) and part.isdigit() and int(part) < len(place)
            else (place.setdefault(part, {}) if isinstance(place, dict) else None)
        )
        if not isinstance(place, (dict, list)):
            raise UsageError(f"--set {override}: {part!r} is not a block of settings")
    try:
        parsed = yaml.safe_load(value)
    except (yaml.YAMLError, ValueError, RecursionError):
        raise UsageError(f"--set {override}: {value!r} is not a YAML value") from None
    if isinstance(place, list):
        if not parts[-1].isdigit() or int(parts[-1]) >= len(place):
            raise UsageError(f"--set {override}: {parts[-1]!r} is not a position in that list")
        place[int(parts[-1])] = parsed
    else:
        place[parts[-1]] = parsed
    return key.strip()


def _first_error(error: ValidationError, path: Path, root: yaml.Node, overridden: set[str], form: type[Block]) -> str:
    """The first problem as one line: place, key, what is wrong."""
    # An unknown key explains a missing one next to it, not the other way round.
    problems = sorted(error.errors(), key=lambda problem: problem["type"] != "extra_forbidden")
    problem = _placed(problems[0], form)
    line, key = _locate(root, problem["loc"])
    dotted = ".".join(str(part) for part in problem["loc"] if not isinstance(part, int) and part not in _UNION_TAGS)
    # The override holds the problem, or stands in the block that the problem is about.
    override = next((name for name in overridden if _is_within(dotted, name) or _is_within(name, dotted)), None)
    where = f"--set {override}" if override else f"{path}:{line}: {key}" if key else f"{path}:{line}"
    if problem["type"] == "extra_forbidden":
        known = _known_keys(problem["loc"][:-1], form)
        close = get_close_matches(str(problem["loc"][-1]), known, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"
        return f"{where}: unknown key; {hint}"
    if problem["type"] == "missing":
        return f"{where}: missing, and it has no default"
    message = problem["msg"].removeprefix("Value error, ")
    got = "" if problem["type"] == "value_error" else f", got {problem['input']!r:.80}"
    return f"{where}: {_one_line(message)}{got}"


def _is_within(key: str, block: str) -> bool:
    return bool(block) and f"{key}.".startswith(f"{block}.")


def _placed(problem: dict[str, Any], form: type[Block]) -> dict[str, Any]:
    """The problem with the key that it is about, where pydantic names only the block."""
    key, _, message = problem["msg"].removeprefix("Value error, ").partition(": ")
    if not problem["loc"] and key in form.model_fields:
        return problem | {"loc": (key,), "msg": message}
    if problem["type"] == "union_tag_invalid":
        found, expected = problem["ctx"]["tag"], problem["ctx"]["expected_tags"]
        return problem | {
            "type": "value_error",
            "loc": (*problem["loc"], "kind"),
            "msg": f"unknown kind {found!r}: known are {expected}",
        }
    return problem


def _locate(root: yaml.Node, loc: tuple[int | str, ...]) -> tuple[int, str]:
    """Line of the deepest YAML node on the way, and the key as the file's author wrote it."""
    node, line, keys = root, root.start_mark.line + 1, []
    for part in loc:
        if isinstance(node, yaml.MappingNode):
            if isinstance(part, int):
                continue  # one block stood where a list may stand
            found = [(key, value) for key, value in node.value if key.value == part]
            if not found and part in _UNION_TAGS:
                continue
            keys.append(str(part))
            if not found:
                break
            line, node = found[0][0].start_mark.line + 1, found[0][1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            keys.append(str(part))
            node = node.value[part]
            line = node.start_mark.line + 1
        elif part not in _UNION_TAGS and not isinstance(part, int):
            keys.append(str(part))
    return line, ".".join(keys)


# Names that pydantic puts into a location for the chosen member of a union.
_UNION_TAGS = ("sentence", "precomputed", "open_clip")


def _known_keys(loc: tuple[int | str, ...], form: type[Block]) -> list[str]:
    """Keys of the settings block at a location."""
    model: Any = form
    for part in loc:
        if not isinstance(model, type) or not issubclass(model, BaseModel) or part not in model.model_fields:
            if part in _UNION_TAGS:
                model = _block_of(model, part)
            continue
        model = model.model_fields[part].annotation
        model = _block_of(model)
    return list(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else []


def _block_of(annotation: Any, tag: str | None = None) -> Any:
    """The settings block inside an annotation such as tuple[Dataset, ...] or a tagged union."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    blocks = [_block_of(inner, tag) for inner in getattr(annotation, "__args__", ())]
    blocks = [block for block in blocks if isinstance(block, type) and issubclass(block, BaseModel)]
    if tag is not None:
        return next((block for block in blocks if tag in str(block.model_fields["kind"].annotation)), annotation)
    return blocks[0] if len(blocks) == 1 else annotation


def _one_line(message: object) -> str:
    return " ".join(str(message).split())
