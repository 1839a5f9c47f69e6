from langchain_core.documents import Document

from proofspan import validate_citations
from proofspan.adapters import langchain_payload, ranked

metadata = {"doc": "manual", "section_id": "4.2", "source": "https://example.org/m.pdf", "page": 41}
metadata |= {"tokens": 5, "start_index": 2310}  # start_index: a splitter with add_start_index=True
document = Document(id="c7", page_content="Use 5W-30.", metadata=metadata)
retrieved = [(document, 0.81)]  # what vector_store.similarity_search_with_score(question) gives
pinned = {"index_hash": "faiss:2f7d", "embed_model": "bge-m3:mean", "analyzer": "lowercase", "rev": "3b91f2a"}
names = {"doc_id": "doc", "source_url": "source"}  # keys that differ in your metadata
citations = ranked(langchain_payload(d, score=s, page_base=0, names=names, **pinned) for d, s in retrieved)
assert validate_citations(citations) == "ok"
