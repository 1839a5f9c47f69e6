import json

from proofspan import validate_citations
from proofspan.adapters import ranked, semantic_kernel_payload

exported = """[{"DocId": "manual", "SectionId": "4.2", "SnippetId": "c7", "Tokens": 5, "Page": 42,
    "SourceUrl": "https://example.org/m.pdf", "Offsets": {"Start": 2310, "End": 2320, "Unit": "char"},
    "ScoreRaw": 0.81, "ScoreNorm": null, "KPos": null, "KFinal": null}]"""
pinned = {"index_hash": "faiss:2f7d", "embed_model": "bge-m3:mean", "analyzer": "lowercase", "rev": "3b91f2a"}
citations = ranked(semantic_kernel_payload(each, page_base=1, **pinned) for each in json.loads(exported))
assert validate_citations(citations) == "ok"
