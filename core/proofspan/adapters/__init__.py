"""Adapters: other libraries' objects → our records, without importing those libraries.

`…_payload` makes the citation payload of a retrieved record, by its attributes or as the dictionary of an
export. Where a value occurs in several places, the caller's parameter counts first, then the record's
metadata, then the record's own attribute. `…_records` makes the trace and the chunks of a whole answer.
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
from proofspan.adapters.responses import (
    Exchange,
    Records,
    anthropic_records,
    azure_search_records,
    bedrock_records,
    cohere_records,
    gemini_records,
    langchain_records,
    llamaindex_records,
    mistral_records,
    openai_records,
)

__all__ = [
    "Exchange",
    "Given",
    "PageBase",
    "Payload",
    "Records",
    "anthropic_records",
    "azure_search_records",
    "bedrock_records",
    "cohere_records",
    "gemini_records",
    "langchain_payload",
    "langchain_records",
    "llamaindex_payload",
    "llamaindex_records",
    "mistral_records",
    "openai_records",
    "ranked",
    "semantic_kernel_payload",
]
