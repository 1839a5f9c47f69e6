"""Adapters: other libraries' retrieved records → the citation payload, without importing those libraries.

A record is read by its attributes, or as the dictionary of an export. Where a value occurs in several places,
the caller's parameter counts first, then the record's metadata, then the record's own attribute.
"""

from proofspan.adapters.payload import (
    Given,
    PageBase,
    Payload,
    langchain_payload,
    llamaindex_payload,
    ranked,
    semantic_kernel_payload,
)

__all__ = [
    "Given",
    "PageBase",
    "Payload",
    "langchain_payload",
    "llamaindex_payload",
    "ranked",
    "semantic_kernel_payload",
]
