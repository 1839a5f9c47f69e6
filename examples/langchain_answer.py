from langchain_core.messages import AIMessage, HumanMessage

from proofspan.adapters import langchain_records

cited = {"type": "citation", "title": "manual.pdf", "cited_text": "Engine oil: 4.5 litres."}
cited |= {"extras": {"document_index": 0, "start_page_number": 42, "end_page_number": 43}}
answer = AIMessage(content=[{"type": "text", "text": "4.5 litres", "annotations": [cited]}])
(trace,), chunks = langchain_records([HumanMessage("How much oil?"), answer])
assert trace["citations"][0]["page_idx"] == 41
