"""Write the scores that a run logged for its reranked candidates, a line each: q_id, chunk_id, score.

Any reranker can write such a file; `proofspan rerank --scores` reads it.
Usage: python logged_scores.py TRACES > scores.jsonl
"""

import json
import sys

import pyarrow

with pyarrow.input_stream(sys.argv[1], compression="detect") as file:
    traces = [json.loads(line) for line in file.read().splitlines()]
for trace in traces:
    if (trace["paraphrase"], trace["seed"]) == (0, 0):
        for candidate in trace["stages"]["reranked"]:
            score = {"q_id": trace["q_id"], "chunk_id": candidate["id"], "score": candidate["score"]}
            print(json.dumps(score))
