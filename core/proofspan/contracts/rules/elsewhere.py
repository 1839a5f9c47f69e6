"""The rules whose checks read files, documents or a whole run, and so are in modules above this one."""

from __future__ import annotations

from proofspan.contracts.rules.catalogue import Rule, register

for _rule in (
    # traces/lines/reader.py
    Rule(
        "not_json",
        "reading",
        "not JSON",
        "The line is not valid JSON and holds no record.",
        "Write one JSON object a line; NaN and Infinity are not JSON.",
    ),
    Rule(
        "bad_utf8",
        "reading",
        "not UTF-8",
        "The line holds bytes that are not UTF-8.",
        "Write the file as UTF-8, or read it with --fix-encoding, which takes them for Windows-1252.",
    ),
    Rule(
        "line_too_long",
        "reading",
        "line too long",
        "The line is longer than is read.",
        "Keep pictures and whole documents out of the records.",
    ),
    Rule(
        "nested_too_deeply",
        "reading",
        "nested too deeply",
        "Arrays and objects are nested deeper than is read.",
        "Flatten the record.",
    ),
    # traces/lines/json_document.py
    Rule(
        "not_an_object",
        "reading",
        "not an object",
        "The line is JSON and no object.",
        "Write one JSON object a line.",
    ),
    Rule(
        "duplicate_key",
        "reading",
        "key twice",
        "An object has a key twice, and readers differ on which of the two counts.",
        "Write each key once.",
    ),
    Rule(
        "integer_too_large",
        "reading",
        "integer beyond 64 bits",
        "A whole number does not fit in 64 bits; many readers round it.",
        "Write it as text, or as a number that fits.",
    ),
    Rule(
        "byte_order_mark",
        "reading",
        "byte order mark",
        "The file begins with a byte order mark, which many readers take for a character.",
        "Write the file as UTF-8 without one.",
        "warning",
    ),
    Rule(
        "crlf",
        "reading",
        "CRLF line ends",
        "Lines end with CR LF; byte offsets and hashes differ from those of the same file with LF.",
        "Write LF alone.",
        "warning",
    ),
    # traces/lines/encodings.py
    Rule(
        "mojibake",
        "reading",
        "text decoded wrongly",
        "Text of the record was UTF-8 and was decoded with a code page, as ΔS that became ŒîS or Î”S.",
        "Write the file as UTF-8, or read it with --fix-encoding (in a manifest: fix_encoding: true).",
        "warning",
    ),
    # traces/separate/log_lines.py
    Rule(
        "unknown_key",
        "reading",
        "unknown key in a log line",
        "A log line has an entry whose name is not one of its keys; it is kept.",
        "Correct the name, or quote the value that it is part of.",
        "warning",
    ),
    # traces/records/identity.py
    Rule(
        "other_run",
        "across",
        "line of another run",
        "The line names another run than the one whose file it is in.",
        "Name the file under its own run in the manifest, or take the line out.",
    ),
    # traces/contract.py
    Rule(
        "question_unknown",
        "answer",
        "question not known",
        "The record holds no question and the gold set knows none of this id, so the trace has no label.",
        "Log the question's text, or add it to the gold set.",
        "warning",
    ),
    # contracts/chunk_ids/minting.py
    Rule(
        "rev_extended",
        "chunk",
        "revision with 12 digits",
        "Two documents share the first eight digits of their revision, so twelve are used.",
        "Nothing to fix; the ids of both documents remain distinct.",
        "warning",
    ),
    # contracts/chunk_ids/audit.py
    Rule(
        "chunk_order",
        "chunk",
        "ids out of reading order",
        "Sorted by id, the chunks of this section are not in reading order.",
        "Number the blocks in reading order within their section or page.",
    ),
    # store/index/labelling.py
    Rule(
        "template_violated",
        "answer",
        "answer without its citation line",
        "The answer neither names its citations in its text, as the template asks, nor declines.",
        "Keep the template at the end of the system prompt, with the temperature at 0.",
    ),
    # store/index/run_rules.py
    Rule(
        "answer_repeated",
        "answer",
        "answer of another question",
        "Answer, candidates and citations are those of another question, as from a wrong cache key.",
        "Check the key of the answer cache, and run the question again.",
    ),
    # metrics/gold_cover.py
    Rule(
        "gold_not_covered",
        "chunk",
        "gold span outside its chunk",
        "The offsets of a gold span do not lie in those of the chunk that is expected for it.",
        "Rebuild the section tree and check that the offsets count in the text that is cited.",
    ),
    # services/chunk_ids.py
    Rule(
        "id_not_recomputable",
        "chunk",
        "id cannot be computed again",
        "The id's revision is not the one computed from the document's text.",
        "Ingest the document again with the extractor that is pinned.",
    ),
    Rule(
        "text_not_at_place",
        "chunk",
        "text not at its place",
        "The chunk's text is not at its offsets, or on its page, in the document as read today.",
        "Ingest the document again, or check in which text the offsets count.",
    ),
    # services/validation.py
    Rule(
        "duplicate_id",
        "across",
        "id twice",
        "The id came before in this file.",
        "Give every record an id of its own.",
    ),
    Rule(
        "duplicate_question",
        "across",
        "question twice",
        "The run answers this question more than once.",
        "Write each question once per run, or distinguish variants by paraphrase and seed.",
    ),
    Rule(
        "unjoined_record",
        "across",
        "belongs to no question",
        "No answer or query of the run has this record's question id.",
        "Write the same q_id into all records of a question.",
    ),
    # services/health/run_findings.py
    Rule(
        "metrics_pack_missing",
        "across",
        "no metrics pack",
        "The run has no metrics pack, so its numbers were not committed with it.",
        "Write one with `proofspan metrics --pack` and name it under the run's metrics.",
        "warning",
    ),
):
    register(_rule)
