"""Python and the packages: versions against what the project asks for, and what the heavy ones can do here."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Mapping
from importlib import metadata
from typing import Any

from packaging.requirements import Requirement

from mprlib.optimisers.gurobi import FREE_LICENCE_SIZE

from ..encoders.block import Needs
from .check import Check, ok, problem, warning

# What to do where machine code is not kept.
KEEP_CODE = "let ~/.cache/mprlib be written, or name a folder in NUMBA_CACHE_DIR"

PROJECT = "mprlib"
# The extra of everything that the job imports.
EXTRA = "audit"
OLDEST_PYTHON = (3, 11)
# Builds of FAISS that install the same module over each other.
FAISS_BUILDS = ("faiss-cpu", "faiss-gpu", "faiss-gpu-cu11", "faiss-gpu-cu12")


def python() -> Check:
    """The interpreter."""
    found = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info < OLDEST_PYTHON:
        return problem("python", found, "Python 3.11 or newer is needed")
    return ok("python", found)


def versions(requirements: Iterable[str] | None = None) -> list[Check]:
    """Installed versions against the project's requirements (default: its own metadata's).

    A package of another extra than the job's own may be missing, yet must not be of a wrong version.
    """
    if requirements is None:
        try:
            requirements = metadata.requires(PROJECT) or []
        except metadata.PackageNotFoundError:
            return [problem("packages", f"{PROJECT} is not installed", "pip install 'mprlib[cpu,text]'")]
    seen, wrong, right = set(), [], 0
    # A package of several extras is asked for once, where one of them needs it.
    for requirement in sorted(map(Requirement, requirements), key=_is_optional):
        is_extra = _is_optional(requirement)
        requirement.marker = None
        if requirement.name == PROJECT:
            continue
        if str(requirement.specifier) + requirement.name in seen:
            continue
        seen.add(str(requirement.specifier) + requirement.name)
        try:
            installed = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            if not is_extra:
                wrong.append(problem("packages", f"{requirement.name} is missing", f"pip install '{requirement}'"))
            continue
        wanted = f"{requirement.name}{requirement.specifier}"
        if requirement.specifier.contains(installed, prereleases=True):
            right += 1
        elif is_extra:
            found = f"{requirement.name} {installed}, an extra wants {wanted}"
            wrong.append(warning("packages", found, f"pip install '{wanted}'"))
        else:
            found = f"{requirement.name} {installed}, {wanted} is needed"
            wrong.append(problem("packages", found, f"pip install '{wanted}'"))
    return wrong or [ok("packages", f"{right} as the project asks for them")]


def _is_optional(requirement: Requirement) -> bool:
    """Whether the job can do without: what an extra brings that is not the job's own."""
    marker = requirement.marker
    return marker is not None and "extra" in str(marker) and not marker.evaluate({"extra": EXTRA})


def faiss(answer: Mapping[str, Any], has_torch: bool, builds: list[str] | None = None) -> Check:
    """Which build of FAISS is there; two of them overwrite each other's files."""
    builds = [name for name in FAISS_BUILDS if _is_installed(name)] if builds is None else builds
    if len(builds) > 1:
        every = " ".join(builds)
        found = f"{' and '.join(builds)} overwrite each other"
        return problem("faiss", found, f"pip uninstall {every}, then install one of them")
    if "error" in answer:
        if not builds and has_torch:
            return ok("faiss", "none; torch searches")
        if not builds:
            return problem("faiss", "neither FAISS nor torch can search", "pip install 'mprlib[cpu]'")
        return problem("faiss", f"{builds[0]}: {answer['error']}", f"pip install --force-reinstall {builds[0]}")
    return ok("faiss", f"{answer['value']} ({builds[0] if builds else 'a build that pip does not know'})")


def torch(answer: Mapping[str, Any], is_needed: bool) -> Check:
    """torch and the GPUs that it sees."""
    if "error" in answer:
        report = problem if is_needed else warning
        return report("torch", answer["error"], "pip install 'mprlib[cpu]'; encoders need it")
    value = answer["value"]
    build = f"built for CUDA {value['cuda']}" if value["cuda"] else "CPU build"
    return ok("torch", f"{value['version']}, {build}, sees {_gpus(value['gpus'])}")


def encoder_kind(kind: str, needs: Needs, answer: Mapping[str, Any], is_needed: bool) -> Check:
    """Whether what a kind of encoder needs can be imported."""
    if "error" not in answer:
        return ok(kind, answer["value"])
    if is_needed:
        return problem(kind, answer["error"], needs.command)
    if not _is_installed(needs.package):
        return ok(kind, f"not installed; {needs.purpose}: {needs.command}")
    return warning(kind, answer["error"], f"images cannot be embedded: {needs.command}")


def gurobi(answer: Mapping[str, Any]) -> Check:
    """The solver of integer programmes and its licence."""
    if "error" in answer:
        return problem("gurobi", answer["error"], "methods solve with HiGHS under the setting solver: highs")
    size = answer["value"]
    if size is None:
        return ok("gurobi", "no licence or not installed; HiGHS solves everything")
    if size <= FREE_LICENCE_SIZE:
        return ok("gurobi", f"free licence up to {size:,} variables; HiGHS solves what is larger")
    return ok("gurobi", "full licence")


def machine_code(answer: Mapping[str, Any]) -> Check:
    """The optimisers' compiled functions, which are ready after this look."""
    if "error" in answer:
        return problem("machine code", answer["error"], "numba must be able to compile: look at its installation")
    found = answer["value"]
    if not found["functions"]:
        return ok("machine code", "the optimisers are compiled")
    compiled = f"the optimisers were compiled now, in {found['seconds']:.0f} s"
    if not found["is_kept"]:
        return warning("machine code", f"{compiled}, and every process does so again", KEEP_CODE)
    return ok("machine code", f"{compiled}; later runs find them")


def _is_installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _gpus(names: list[str]) -> str:
    return f"{len(names)} GPU{'s' * (len(names) > 1)} ({', '.join(sorted(set(names)))})" if names else "no GPU"
