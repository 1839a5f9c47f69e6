from llama_index.core.schema import NodeWithScore, TextNode

from proofspan import validate_citations
from proofspan.adapters import llamaindex_payload, ranked

metadata = {"doc_id": "manual", "section_id": "4.2", "source_url": "https://example.org/m.pdf", "tokens": 5}
node = TextNode(id_="c7", text="Use 5W-30.", start_char_idx=2310, end_char_idx=2320, metadata=metadata)
retrieved = [NodeWithScore(node=node, score=0.81)]  # what retriever.retrieve(question) gives
pinned = {"index_hash": "faiss:2f7d", "embed_model": "bge-m3:mean", "analyzer": "lowercase", "rev": "3b91f2a"}
citations = ranked(llamaindex_payload(each, page_base=1, **pinned) for each in retrieved)
assert validate_citations(citations) == "ok"
