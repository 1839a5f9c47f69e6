from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson

from proofspan.traces.importers.workspace import Converted, Importer, Record


def convert(source: Path, files: Mapping[str, Path]) -> Converted:
    """Convert a file of question rows."""
    rows = orjson.loads(source.read_bytes())["rows"]
    texts = {f"{row['id']}-{n}": text for row in rows for n, text in enumerate(row["contexts"], start=1)}

    def traces() -> Iterator[Record]:
        for row in rows:
            chunks = [{"id": f"{row['id']}-{n}"} for n, _ in enumerate(row["contexts"], start=1)]
            yield {"q_id": row["id"], "q": row["question"], "answer": row["answer"], "chunks": chunks}

    return Converted(
        name=source.stem,
        run={"run_id": "R001"},
        chunks=({"chunk_id": chunk_id, "text": text} for chunk_id, text in texts.items()),
        traces=traces(),
    )


ROWS = Importer(name="rows", description="Turn a file of question rows into a workspace.", convert=convert)
