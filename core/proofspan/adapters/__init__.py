"""Other libraries' retrieved records → the citation payload. Plain functions that import none of them.

They read a record by its attributes, or as the dictionary that it becomes in an export; both give the same
payload. Where a value stands in more than one place, the caller's parameter counts first, then the record's
metadata, then what the record's class itself holds.
"""

from proofspan.adapters.langchain import langchain_payload
from proofspan.adapters.llamaindex import llamaindex_payload
from proofspan.adapters.payload import Given, PageBase, Payload, ranked
from proofspan.adapters.semantic_kernel import semantic_kernel_payload

__all__ = [
    "Given",
    "PageBase",
    "Payload",
    "langchain_payload",
    "llamaindex_payload",
    "ranked",
    "semantic_kernel_payload",
]
