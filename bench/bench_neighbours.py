"""Seconds and CPU from 10,000 traces to the first filtered list of failures, here and in Phoenix and MLflow.

    python bench/bench_neighbours.py [--traces 10000] [--rounds 3] [--phoenix PYTHON] [--mlflow PYTHON]

PYTHON is the interpreter of an environment that has the tool installed (`pip install arize-phoenix`,
`pip install mlflow`), by default what PROOFSPAN_PHOENIX and PROOFSPAN_MLFLOW name; a tool without one is left
out. The traces are those of make_traces.py with 2,000
chunks. A tool's server is started with an empty SQLite file and is sent the same traces as OTLP, 100 a
request: for each a root span with question and answer and a retriever with its documents. The clock begins
before the server starts and ends when its API gives the first 50 root spans with an error, of which the
traces have one in three. Proofspan starts Python, builds its index, for which it labels every answer itself,
and reads the first 50 failures. All take turns; CPU counts all processes. Langfuse is left out: it needs
ClickHouse, Redis and object storage.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench_index import make_workspace

ROOT = Path(__file__).resolve().parents[1]
PROOFSPAN = """
import sys
from pathlib import Path
from proofspan.manifest.load import load_manifest
from proofspan.store.index.build import build_index
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store

folder, cache = map(Path, sys.argv[1:])
if __name__ == "__main__":
    manifest = load_manifest(folder)
    build_index(manifest, cache_dir=cache)
    failures = Filter("R1", label=("generation_drift", "retrieval_drift"))
    assert len(Store(manifest, cache).page(failures, Sort(), limit=50, offset=0)) == 50
"""
#: Sends the traces to a server at sys.argv[2] with the headers NAME=VALUE of sys.argv[3:].
SEND = """
import json, sys, time, urllib.error, urllib.request
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

file, server, *headers = sys.argv[1:]
headers = dict(each.split("=", 1) for each in headers) | {"content-type": "application/x-protobuf"}

def attribute(span, name, value):
    entry = span.attributes.add(key=name)
    if isinstance(value, float):
        entry.value.double_value = value
    else:
        entry.value.string_value = value

def span(scope, number, name, kind, parent=b""):
    made = scope.spans.add(name=name, trace_id=number.to_bytes(16, "big"))
    made.span_id = (2 * number + bool(parent)).to_bytes(8, "big")
    made.parent_span_id = parent
    made.start_time_unix_nano = 1_790_000_000_000_000_000 + number * 1_000_000
    made.end_time_unix_nano = made.start_time_unix_nano + 900_000
    attribute(made, "openinference.span.kind", kind)
    return made

def post(lines):
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    for number, line in lines:
        trace = json.loads(line)
        root = span(scope, number, "answer", "CHAIN")
        attribute(root, "input.value", trace["q"])
        attribute(root, "output.value", trace["answer"])
        root.status.code = 2 if number % 3 == 0 else 1
        retriever = span(scope, number, "retrieve", "RETRIEVER", root.span_id)
        for place, chunk in enumerate(trace["chunks"]):
            document = f"retrieval.documents.{place}.document"
            attribute(retriever, f"{document}.id", chunk["id"])
            attribute(retriever, f"{document}.score", float(chunk.get("score") or 0))
    data = request.SerializeToString()
    for wait in (0.1,) * 600:
        try:
            urllib.request.urlopen(urllib.request.Request(server + "/v1/traces", data, headers), timeout=300)
            return
        except (urllib.error.URLError, ConnectionError) as error:
            if getattr(error, "code", 503) not in (429, 503):
                raise SystemExit(f"{error}: {error.read()[:500]}")
            time.sleep(wait)
    raise SystemExit("the server took nothing for a minute")

with open(file, "rb") as source:
    batch = []
    for number, line in enumerate(source, start=1):
        batch.append((number, line))
        if len(batch) == 100:
            post(batch)
            batch = []
    if batch:
        post(batch)
"""
PHOENIX_LIST = """
import sys, time
from phoenix.client import Client
from phoenix.client.types.spans import SpanQuery

server, wanted = sys.argv[1], int(sys.argv[2])
query = SpanQuery().where("status_code == 'ERROR' and parent_id is None")
spans = Client(base_url=server).spans
while len(spans.get_spans_dataframe(query=query, project_identifier="default", limit=100_000)) < wanted:
    time.sleep(0.2)
assert len(spans.get_spans_dataframe(query=query, project_identifier="default", limit=50)) == 50
"""
MLFLOW_LIST = """
import sys, time
import mlflow

server, wanted = sys.argv[1], int(sys.argv[2])
mlflow.set_tracking_uri(server)
found = mlflow.search_traces(
    locations=["0"], filter_string="attributes.status = 'ERROR'", max_results=50, return_type="list"
)
assert len(found) == 50, len(found)
"""


class Cost(NamedTuple):
    """Seconds by the clock, and of all processes."""

    wall: float
    cpu: float


def cpu_of_session(session: int) -> float:
    """Return the CPU seconds of the processes of a session, and of those that they have waited for."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[3]) == session:
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def run(python: str, code: str, *arguments: str, env: Mapping[str, str] | None = None) -> Cost:
    """Run code to its end, and return what it took."""
    started = time.perf_counter()
    process = subprocess.Popen([python, "-c", code, *arguments], cwd=ROOT, env={**os.environ, **(env or {})})
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{python} ended with {os.waitstatus_to_exitcode(status)}")
    return Cost(time.perf_counter() - started, usage.ru_utime + usage.ru_stime)


def served(
    command: Sequence[str], python: str, listing: str, file: Path, traces: int, env: Mapping[str, str]
) -> Cost:
    """Start a server, send it the traces and read its failures; return what all of that took."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    address, started = f"http://127.0.0.1:{port}", time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("wb") as log:
        env = {name: value.format(folder=folder, port=port) for name, value in env.items()}
        process = subprocess.Popen(
            [each.format(folder=folder, port=port) for each in command],
            env={**os.environ, **env},
            start_new_session=True,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            sent = run(python, SEND, str(file), address, "x-mlflow-experiment-id=0")
            listed = run(python, listing, address, str(traces // 3), env=env)
            wall, cpu = time.perf_counter() - started, cpu_of_session(process.pid)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return Cost(wall, cpu + sent.cpu + listed.cpu)


def ours(folder: Path) -> Cost:
    """Return what Proofspan takes."""
    with tempfile.TemporaryDirectory() as cache:
        script = Path(cache) / "failures.py"
        script.write_text(PROOFSPAN, encoding="utf-8")
        code = f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')"
        return run(sys.executable, code, str(folder), str(Path(cache) / "cache"))


def phoenix(python: str, folder: Path, traces: int) -> Cost:
    """Return what Phoenix takes."""
    env = {"PHOENIX_WORKING_DIR": "{folder}", "PHOENIX_PORT": "{port}", "PHOENIX_GRPC_PORT": "0"}
    env |= {"PHOENIX_TELEMETRY_ENABLED": "false"}
    command = [str(Path(python).with_name("phoenix")), "serve"]
    return served(command, python, PHOENIX_LIST, folder / "traces.jsonl", traces, env)


def mlflow(python: str, folder: Path, traces: int) -> Cost:
    """Return what MLflow takes."""
    env = {"MLFLOW_DISABLE_TELEMETRY": "true"}
    command = [str(Path(python).with_name("mlflow")), "server", "--port", "{port}", "--workers", "1"]
    command += ["--backend-store-uri", "sqlite:///{folder}/mlflow.db", "--artifacts-destination", "{folder}"]
    return served(command, python, MLFLOW_LIST, folder / "traces.jsonl", traces, env)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--traces", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--phoenix", default=os.environ.get("PROOFSPAN_PHOENIX"))
    parser.add_argument("--mlflow", default=os.environ.get("PROOFSPAN_MLFLOW"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = make_workspace(Path(temporary), options.traces)
        costs: dict[str, list[Cost]] = {}
        for _ in range(options.rounds):
            costs.setdefault("Proofspan", []).append(ours(folder))
            if options.phoenix:
                costs.setdefault("Phoenix", []).append(phoenix(options.phoenix, folder, options.traces))
            if options.mlflow:
                costs.setdefault("MLflow", []).append(mlflow(options.mlflow, folder, options.traces))
    own = statistics.median(cost.cpu for cost in costs["Proofspan"])
    print(f"{options.traces:,} traces to the first 50 failures, {options.rounds} rounds, medians")
    for name, found in costs.items():
        wall, cpu = (statistics.median(each) for each in zip(*found, strict=True))
        print(f"  {name:<10}{wall:7.1f} s {cpu:7.1f} CPU s  {cpu / own:6.1f} times the CPU of Proofspan")


if __name__ == "__main__":
    main()
