"""The Dockerfile, read: no engine builds it here."""

import re
import shlex

import pytest

from tests.cluster.start_commands import CLUSTER

ROOT = CLUSTER.parent
KNOWN = {"FROM", "ARG", "RUN", "ENV", "USER", "WORKDIR", "COPY", "ENTRYPOINT", "CMD", "LABEL"}


@pytest.fixture(scope="module")
def instructions() -> list[tuple[str, str]]:
    text = (CLUSTER / "Dockerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [tuple(line.split(maxsplit=1)) for line in joined.splitlines() if line.strip()]


def arguments(instructions, name) -> list[str]:
    return [rest for keyword, rest in instructions if keyword == name]


def test_only_known_instructions(instructions):
    assert {keyword for keyword, _ in instructions} <= KNOWN
    assert instructions[0][0] == "FROM"


def test_the_base_is_pinned_and_new_enough(instructions):
    [base] = arguments(instructions, "FROM")
    major, minor, _ = re.fullmatch(r"python:(\d+)\.(\d+)\.(\d+)-slim-\w+", base).groups()
    assert (int(major), int(minor)) >= (3, 11)


def test_what_is_copied_exists_and_is_not_ignored(instructions):
    ignored = (CLUSTER / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    allowed = {line[1:] for line in ignored if line.startswith("!")}
    copied = set()
    for rest in arguments(instructions, "COPY"):
        sources = [part for part in shlex.split(rest) if not part.startswith("--")][:-1]
        copied |= set(sources)
    assert all((ROOT / source).exists() for source in copied)
    assert copied == allowed
    assert "*" in ignored


def test_it_does_not_run_as_root(instructions):
    users = arguments(instructions, "USER")
    # A number, for Kubernetes' runAsNonRoot.
    assert users == ["1000"]
    order = [keyword for keyword, _ in instructions]
    assert order.index("USER") < order.index("COPY")


def test_packages_are_pinned_and_faiss_comes_once(instructions):
    commands = [rest for rest in arguments(instructions, "RUN") if "pip install" in rest]
    torch, everything = commands
    assert torch == "pip install ${TORCH}"
    assert "TORCH=torch==2.13.0" in arguments(instructions, "ARG")
    assert "--constraint constraints.txt --constraint versions.txt" in everything
    assert '".[${VARIANT},text,clip,s3]"' in everything
    assert "grep -c '^faiss')\" = 1" in everything


def test_no_secret_and_no_address(instructions):
    text = (CLUSTER / "Dockerfile").read_text(encoding="utf-8")
    assert "://" not in text
    for name in re.findall(r"(\w+)=", " ".join(arguments(instructions, "ENV") + arguments(instructions, "ARG"))):
        assert not name.endswith(("TOKEN", "SECRET", "PASSWORD", "KEY"))
