"""Read from this machine what a pinning record states: processor, system, threads, libraries."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from proofspan.contracts.records.records import Json
from proofspan.errors import InputFault, Problem

#: The variables that limit or order the threads of OpenMP, BLAS and tokenizers: those that a record states
#: even if they are not set, and others.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TOKENIZERS_PARALLELISM")
OTHER_VARIABLES = (
    *("OMP_DYNAMIC", "OMP_SCHEDULE", "KMP_AFFINITY", "KMP_DETERMINISTIC_REDUCTION", "OPENBLAS_CORETYPE"),
    *("MKL_CBWR", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS"),
)
_CPU_INFO = Path("/proc/cpuinfo")


def runtime_here(environment: Mapping[str, str] = os.environ) -> dict[str, Json]:
    """Return `runtime` of a record as this process finds it; `threads` only if OMP_NUM_THREADS states it."""
    runtime: dict[str, Json] = {
        "cpu": _cpu(),
        "os": _system(),
        "python": platform.python_version(),
        "environment": {name: environment.get(name) for name in THREAD_VARIABLES}
        | {name: environment[name] for name in OTHER_VARIABLES if name in environment},
    }
    if (blas := _blas()) is not None:
        runtime["blas"] = blas
    if (threads := environment.get("OMP_NUM_THREADS", "")).isdecimal() and int(threads):
        runtime["threads"] = int(threads)
    return runtime


def versions_here(names: Iterable[str]) -> dict[str, str]:
    """Return the installed version of each library. Raises InputFault for those that are not installed."""
    found: dict[str, str] = {}
    problems: list[Problem] = []
    for name in names:
        try:
            found[name] = version(name)
        except (PackageNotFoundError, ValueError):
            fix = "run the command in the environment of the pipeline, or write the version by hand"
            problems.append(Problem("no_library", f"the library {name!r} is not installed here", fix=fix))
    if problems:
        raise InputFault(*problems)
    return found


def _cpu() -> str:
    with suppress(OSError, UnicodeDecodeError):
        for line in _CPU_INFO.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name" and value.strip():
                return " ".join(value.split())
    return platform.processor() or platform.machine()


def _system() -> str:
    name = f"{platform.system()} {platform.release()}"
    with suppress(OSError):
        name = platform.freedesktop_os_release().get("PRETTY_NAME", name)
    return f"{name}, {platform.machine()}"


def _blas() -> str | None:
    """Return name and version of the BLAS that NumPy was built with."""
    config = np.show_config(mode="dicts")
    blas = config.get("Build Dependencies", {}).get("blas", {})
    words = " ".join(str(blas[key]) for key in ("name", "version") if blas.get(key))
    return words or None
