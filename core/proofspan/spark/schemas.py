"""The columns of the tables between two steps. Spark has no dictionaries: words are plain text there."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa

from proofspan.spark.sources import PLACE
from proofspan.store.files.columns import ISSUE_SCHEMA, ROW_SCHEMA

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


def plain(schema: pa.Schema) -> pa.Schema:
    """Return a schema without dictionaries."""
    kinds = {field.name: field.type for field in schema}
    return pa.schema(
        [(name, kind.value_type if pa.types.is_dictionary(kind) else kind) for name, kind in kinds.items()]
    )


#: `ROW_SCHEMA` without dictionaries.
PLAIN_ROWS = plain(ROW_SCHEMA)
_PLACE = [(name, kind) for name, kind in zip(PLACE, (pa.string(), pa.int64(), pa.int64()), strict=True)]
#: What an issue adds to its record.
ISSUE_FIELDS = ("code", "reason", "remedy", "excerpt")
#: One row a record: its row of the index, or with `issue_code` why it has none. `label` is the folder of its
#: segment. `scores` are JSON, as are the `facts` of the batch that a row is the first of.
LABELLED = pa.schema(
    [
        ("run", pa.string()),
        ("folder", pa.string()),
        *_PLACE,
        ("record", pa.binary()),
        *PLAIN_ROWS,
        *((f"issue_{name}", ISSUE_SCHEMA.field(name).type) for name in ISSUE_FIELDS),
        ("scores", pa.string()),
        ("facts", pa.string()),
    ]
)
#: One row a trace in a segment, with what the rules over a run compare; one with `row` −1 a segment, of which
#: `rows`, `issues`, `scored` and `facts` are those of its file.
WRITTEN = pa.schema(
    [
        ("run", pa.string()),
        ("segment", pa.string()),
        ("row", pa.int64()),
        ("rows", pa.int64()),
        ("issues", pa.int64()),
        ("scored", pa.int64()),
        ("facts", pa.string()),
        *_PLACE,
        ("q_id", pa.string()),
        ("paraphrase", pa.int32()),
        ("seed", pa.int32()),
        ("q_print", pa.binary()),
        ("memory", pa.string()),
        ("offset_unit", pa.string()),
        ("has_mixed", pa.bool_()),
        ("answer_print", pa.int64()),
    ]
)


@cache
def spark_schema(schema: pa.Schema) -> StructType:
    """Return an Arrow schema as Spark has it."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)
