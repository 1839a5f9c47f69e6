"""What a rule of the contract is: its code, what it is about, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Severity = Literal["error", "warning"]
#: What a rule is about; the order in which pages list them.
Group = Literal["reading", "envelope", "citation", "ranking", "parity", "answer", "chunk", "across"]
GROUPS: tuple[Group, ...] = (
    "reading",
    "envelope",
    "citation",
    "ranking",
    "parity",
    "answer",
    "chunk",
    "across",
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the contract.

    `title` is its name in a few words, as a table shows it; `meaning` and `next_step` are one sentence each.
    """

    code: str
    group: Group
    severity: Severity
    title: str
    meaning: str
    next_step: str


def listed(group: Group, code: str, title: str, meaning: str, next_step: str, *, warns: bool = False) -> Rule:
    """One rule of a list; one that `warns` is only recommended."""
    return Rule(code, group, "warning" if warns else "error", title, meaning, next_step)


# The rules of what stands on a line: can it be read, and is its envelope, payload and ranking as asked?

OF_FORM: tuple[Rule, ...] = (
    listed(
        "reading",
        "not_json",
        "not JSON",
        "The line is not valid JSON and holds no record.",
        "Write one JSON object a line; NaN and Infinity are not JSON.",
    ),
    listed(
        "reading",
        "not_an_object",
        "not an object",
        "The line is JSON and no object.",
        "Write one JSON object a line.",
    ),
    listed(
        "reading",
        "bad_utf8",
        "not UTF-8",
        "The line holds bytes that are not UTF-8.",
        "Write the file as UTF-8.",
    ),
    listed(
        "reading",
        "line_too_long",
        "line too long",
        "The line is longer than is read.",
        "Keep pictures and whole documents out of the records.",
    ),
    listed(
        "reading",
        "nested_too_deeply",
        "nested too deeply",
        "Arrays and objects are nested deeper than is read.",
        "Flatten the record.",
    ),
    listed(
        "reading",
        "duplicate_key",
        "key twice",
        "An object has a key twice, and readers differ on which of the two counts.",
        "Write each key once.",
    ),
    listed(
        "reading",
        "integer_too_large",
        "integer beyond 64 bits",
        "A whole number does not fit in 64 bits; many readers round it.",
        "Write it as text, or as a number that fits.",
    ),
    listed(
        "reading",
        "byte_order_mark",
        "byte order mark",
        "The file begins with a byte order mark, which many readers take for a character.",
        "Write the file as UTF-8 without one.",
        warns=True,
    ),
    listed(
        "reading",
        "crlf",
        "CRLF line ends",
        "Lines end with CR LF; byte offsets and hashes differ from those of the same file with LF.",
        "Write LF alone.",
        warns=True,
    ),
    listed(
        "reading",
        "more_findings",
        "more than are told",
        "The record breaks the contract in more places than are listed.",
        "Mend those that are listed, and validate again.",
    ),
    listed(
        "reading",
        "unknown_key",
        "unknown key in a log line",
        "A log line has an entry whose name is not one of its keys; it is kept.",
        "Correct the name, or quote the value that it is part of.",
        warns=True,
    ),
    listed(
        "envelope",
        "envelope_missing",
        "no envelope",
        "The record has none of the envelope's fields, so nothing says when, by whom and in which state of "
        "memory it was made.",
        "Write schema_version, event, ts, trace_id, agent_id, mem_rev and mem_hash into every record.",
    ),
    listed(
        "envelope",
        "schema_version_newer",
        "newer minor version",
        "The record is of a newer minor version of its schema; what that version added is kept and not read.",
        "Nothing is lost; update Proofspan to have the new fields read.",
        warns=True,
    ),
    listed(
        "envelope",
        "schema_version_unsupported",
        "other major version",
        "The record is of another major version of its schema, in which fields may mean something else.",
        "Write the record by the major version that is read, or update Proofspan.",
    ),
    listed(
        "envelope",
        "schema_conflict",
        "$schema says otherwise",
        "The record's $schema names another type than the one it is read as.",
        "Correct the $schema, or name the right type with --as.",
    ),
    listed(
        "envelope",
        "unknown_schema",
        "unknown $schema",
        "The record's $schema names no type that is known here.",
        "Name one of the published schemas; data/schemas has them.",
        warns=True,
    ),
    listed(
        "envelope",
        "memory_desync",
        "memory changed within the run",
        "mem_rev or mem_hash is not what the rest of the run has: its answers rest on different states of "
        "memory.",
        "Freeze the memory for the whole run, and run the questions again that saw another state.",
    ),
    listed(
        "citation",
        "empty_citations",
        "no citations",
        "The answer cites nothing and does not decline in the words of the triage profile.",
        "Make the prompt ask for citations first; `proofspan contract` prints the text.",
    ),
    listed(
        "citation",
        "bare_citation",
        "cited by id alone",
        "A citation is a chunk id alone, so neither its span nor its index and revision can be checked.",
        "Carry the citation payload on in the adapter, and write it beside the answer.",
        warns=True,
    ),
    listed(
        "citation",
        "bad_offsets",
        "offsets do not span",
        "The offsets do not begin before they end, begin below 0, or are in no known unit.",
        "Build the chunks' offsets anew and check their unit.",
    ),
    listed(
        "citation",
        "mixed_offset_units",
        "offset units mixed",
        "Offsets are in one unit here and in another elsewhere in the run.",
        "Decide on one unit, characters best, and convert the others where they are written.",
    ),
    listed(
        "citation",
        "cross_section_reuse",
        "sections mixed",
        "One segment of an answer cites several sections, which the contract forbids unless allowed.",
        "Install the section fence in the prompt, or list what may be combined under "
        "contract.allow_cross_section.",
    ),
    listed(
        "citation",
        "cite_after_answer",
        "cited after the answer",
        "The citations come only after the answer: explained first, cited afterwards.",
        "Ask for the citations first, or together with the answer in one text.",
    ),
    listed(
        "citation",
        "page_below_one",
        "page below 1",
        "A citation's page counts from 1, and this one is smaller.",
        "Add 1 where the payload is written, or write page_idx, which counts from 0.",
    ),
    listed(
        "citation",
        "pages_disagree",
        "page and page_idx disagree",
        "The citation's page is not its page_idx plus 1.",
        "Write one of the two, or mend the one that is off.",
    ),
    listed(
        "ranking",
        "missing_score",
        "no score",
        "Neither score_raw nor score_norm is logged, so the order cannot be checked.",
        "Let the adapter carry the store's score on.",
    ),
    listed(
        "ranking",
        "missing_k_pos",
        "no rank before reranking",
        "k_pos is not logged, so nobody can tell where the store had ranked this.",
        "Log the rank in the store's list, from 1, as k_pos.",
    ),
    listed(
        "ranking",
        "bad_k_pos",
        "k_pos wrong",
        "A k_pos is no whole number from 1, or two different chunks share one.",
        "Count ranks from 1 and give each place to one chunk.",
    ),
    listed(
        "ranking",
        "bad_k_final",
        "k_final wrong",
        "A k_final is no whole number from 1, or two different chunks share one.",
        "Count ranks from 1 and give each place to one chunk.",
    ),
    listed(
        "ranking",
        "lists_differ",
        "lists of different lengths",
        "Scores or ranks are not as many as the citations, so nothing says which belongs to which.",
        "Log one score and one rank for each citation, null where there is none.",
    ),
    listed(
        "ranking",
        "tie_order",
        "ties out of order",
        "Candidates of equal score are not ordered by section and chunk id, so the order may change from run "
        "to run.",
        "Break ties by (score_norm descending, section_id, snippet_id).",
        warns=True,
    ),
    listed(
        "ranking",
        "selected_not_k_out",
        "selected is not k_out",
        "The number of selected candidates is not the reranker's k_out.",
        "Mark exactly the k_out candidates that go on as selected.",
    ),
    listed(
        "ranking",
        "duplicate_candidate",
        "chunk twice in one list",
        "A chunk stands in one ranked list more than once and takes the place of another.",
        "Keep the best rank of each chunk where lists are joined.",
        warns=True,
    ),
)


# The rules of what records say together: of the index, answers, chunks, and one record against another.

OF_CONTENT: tuple[Rule, ...] = (
    listed(
        "parity",
        "mismatch_index_hash",
        "index differs",
        "The index that the record names is not the one that the run pins.",
        "Build the index anew, or start the reader only when the new index is in place.",
    ),
    listed(
        "parity",
        "embed_model_mismatch",
        "embedding model differs",
        "The embedding model that the record names is not the one that the run pins.",
        "Embed questions and chunks with one model and one pooling, and build the index anew.",
    ),
    listed(
        "parity",
        "analyzer_mismatch",
        "analyzer differs",
        "The analyzer at read time is not the one that the index was written with.",
        "Read and write with one analyzer and one normalization.",
    ),
    listed(
        "parity",
        "rev_mismatch",
        "document revision differs",
        "The cited revision is not the document's in the manifest.",
        "Ingest the document again, or put the cited revision back.",
    ),
    listed(
        "answer",
        "template_violated",
        "answer without its citation line",
        "The answer neither names its citations in its text, as the template asks, nor declines.",
        "Keep the template at the end of the system prompt, with the temperature at 0.",
    ),
    listed(
        "answer",
        "contract_stop",
        "stopped by the contract",
        "The model stopped and said which field of the contract was missing or inconsistent.",
        "Mend the field that it names where the citations are projected.",
    ),
    listed(
        "answer",
        "unknown_lambda_state",
        "unknown λ state",
        "The λ state is none of convergent, divergent, recursive and chaotic.",
        "Log one of the four, or its sign.",
        warns=True,
    ),
    listed(
        "answer",
        "prompt_not_locked",
        "prompt not locked",
        "The prompt does not ask for citations before the explanation.",
        "Paste the contract into the prompt; `proofspan contract` prints it.",
    ),
    listed(
        "answer",
        "question_unknown",
        "question not known",
        "The record holds no question and the gold set knows none of this id, so the trace has no label.",
        "Log the question's text, or add it to the gold set.",
        warns=True,
    ),
    listed(
        "answer",
        "gold_without_evidence",
        "gold without evidence",
        "The gold question names no section, chunk or span, so nothing can be measured on it.",
        "Name its sections or spans, or say answerable: false.",
        warns=True,
    ),
    listed(
        "answer",
        "gold_contradicts",
        "gold contradicts itself",
        "The gold question is not answerable and says where its answer stands.",
        "Take answerable: false away, or the sections, chunks and spans.",
    ),
    listed(
        "answer",
        "answer_repeated",
        "answer of another question",
        "Candidates, answer and citations are those of another question, as out of a cache with a wrong key.",
        "Check the key of the answer cache, and run the question again.",
    ),
    listed(
        "chunk",
        "hash_mismatch",
        "hash is not the text's",
        "The chunk's hash is not the hash of its text.",
        "Compute the hash after the last change of the text.",
    ),
    listed(
        "chunk",
        "hash_unreadable",
        "hash cannot be checked",
        "The chunk's hash is of no known kind, or cut short.",
        "Write sha1: or sha256: and all hexadecimal digits.",
        warns=True,
    ),
    listed(
        "chunk",
        "uncitable_id",
        "id cannot be cited",
        "The chunk's id holds white space, a comma or a bracket and cannot be cited inside citations: […].",
        "Mint ids with `proofspan chunk-ids`.",
    ),
    listed(
        "chunk",
        "id_not_canonical",
        "id not canonical",
        "The chunk's id does not follow the format, so it does not tell where the chunk stands.",
        "Mint ids with `proofspan chunk-ids`.",
        warns=True,
    ),
    listed(
        "chunk",
        "id_place_differs",
        "id names another place",
        "The document, section or page in the chunk's id is not the record's own.",
        "Mint the id from the record's place, or mend the place.",
    ),
    listed(
        "chunk",
        "number_beyond_999",
        "page or block beyond 999",
        "A page or block in the id has four digits or more: as text such ids do not sort in reading order.",
        "Sort ids by their numbers; nothing else is wrong.",
        warns=True,
    ),
    listed(
        "chunk",
        "rev_extended",
        "revision with 12 digits",
        "Two documents share the first eight digits of their revision, so twelve are used.",
        "Nothing to mend; ids of both documents stay apart.",
        warns=True,
    ),
    listed(
        "chunk",
        "id_not_recomputable",
        "id cannot be computed again",
        "The id's revision is not the one computed from the document's text.",
        "Ingest the document again with the extractor that is pinned.",
    ),
    listed(
        "chunk",
        "chunk_order",
        "ids out of reading order",
        "Sorted by id, the chunks of this section do not stand in reading order.",
        "Number the blocks in reading order within their section or page.",
    ),
    listed(
        "chunk",
        "text_not_at_place",
        "text not at its place",
        "The chunk's text does not stand at its offsets, or on its page, in the document as read today.",
        "Ingest the document again, or check in which text the offsets count.",
    ),
    listed(
        "chunk",
        "gold_not_covered",
        "gold span outside its chunk",
        "The offsets of a gold span do not lie in those of the chunk that is expected for it.",
        "Build the section tree anew and check that the offsets count in the text that is cited.",
    ),
    listed(
        "across",
        "cited_not_retrieved",
        "cited, never retrieved",
        "The answer cites a chunk that was not retrieved for its question.",
        "Check the ids against the retrieved ones before an answer goes out.",
    ),
    listed(
        "across",
        "reranked_not_retrieved",
        "reranked, never retrieved",
        "The reranker's list holds a chunk that was not retrieved for its question.",
        "Hand the reranker the retriever's list and nothing else.",
    ),
    listed(
        "across",
        "not_in_corpus",
        "not in the corpus",
        "A retrieved or cited chunk is not in the chunk file.",
        "Build traces and chunk file from one ingest, or write redirects with `proofspan chunk-ids`.",
    ),
    listed(
        "across",
        "duplicate_id",
        "id twice",
        "The id came before in this file.",
        "Give every record an id of its own.",
    ),
    listed(
        "across",
        "duplicate_question",
        "question twice",
        "The run answers this question more than once.",
        "Write each question once a run, or tell variants apart by paraphrase and seed.",
    ),
    listed(
        "across",
        "unjoined_record",
        "belongs to no question",
        "No answer or query of the run has this record's question id.",
        "Write the same q_id into all records of a question.",
    ),
    listed(
        "across",
        "other_run",
        "line of another run",
        "The line names another run than the one whose file it stands in.",
        "Name the file under its own run in the manifest, or take the line out.",
    ),
    listed(
        "across",
        "metrics_pack_missing",
        "no metrics pack",
        "The run has no metrics pack, so its numbers were not committed with it.",
        "Write one with `proofspan metrics --pack` and name it under the run's metrics.",
        warns=True,
    ),
)


# The codes of the contract: what each means and what to do next.
#
# The rules are those of docs/requirements.md: the traceability contract, the data contracts and the chunk
# id schema. A code is a stable snake_case name. Some are families: `missing_rev` is the code of
# `missing_` and the field `rev`.

#: Families: prefix → (group, title, meaning, next step), each with the field's name put in for `{}`.
_FAMILIES: Mapping[str, tuple[Group, str, str, str]] = {
    "missing_": (
        "citation",
        "{} missing",
        "The record has no {}, which the contract asks for.",
        "Carry {} on in the adapter that writes the record.",
    ),
    "empty_": (
        "citation",
        "{} empty",
        "The record's {} holds nothing, as an adapter's default does.",
        "Let the adapter fail where it has no {}, instead of writing an empty one.",
    ),
    "wrong_type_": (
        "citation",
        "{} of the wrong type",
        "The record's {} is not of the type that its schema says.",
        "Write {} as the schema in data/schemas says.",
    ),
    "bad_": (
        "citation",
        "{} not allowed",
        "The record's {} is a value that its schema does not allow.",
        "Write {} as the schema in data/schemas says.",
    ),
}
#: Members of families that are only recommended.
_RECOMMENDED = frozenset({"missing_text_normalized"})
_ENVELOPE = frozenset({"schema_version", "event", "ts", "trace_id", "agent_id", "mem_rev", "mem_hash"})

#: Every code but those of families.
RULES: Mapping[str, Rule] = {each.code: each for each in (*OF_FORM, *OF_CONTENT)}
_PLACES: Mapping[str, int] = {code: place for place, code in enumerate(RULES)}


def is_of_family(code: str) -> bool:
    """Whether a code says of a field that it is missing, empty, of the wrong type or not allowed."""
    return code not in RULES and code.startswith(tuple(_FAMILIES))


@lru_cache(maxsize=1 << 10)
def rule_of(code: str) -> Rule:
    """The rule of a code; of one that nobody here knows, a rule that says so."""
    if (rule := RULES.get(code)) is not None:
        return rule
    for prefix, (group, title, meaning, next_step) in _FAMILIES.items():
        field = code.removeprefix(prefix)
        if field and field != code:
            where: Group = "envelope" if field in _ENVELOPE else group
            filled = (words.replace("{}", field) for words in (title, meaning, next_step))
            return listed(where, code, *filled, warns=code in _RECOMMENDED)
    return listed("across", code, code.replace("_", " "), f"{code} is not one of this program's codes.", "")


def is_known(code: str) -> bool:
    """Whether a code is one of this program's, listed or of a family."""
    return code in RULES or any(code.startswith(prefix) and len(code) > len(prefix) for prefix in _FAMILIES)


def in_order(codes: Iterable[str]) -> list[str]:
    """The codes, each once: errors before warnings, then by group, the listed ones first, then by name."""
    return list(_in_order(frozenset(codes)))


@lru_cache(maxsize=1 << 12)
def _in_order(codes: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(codes, key=_order))


def _order(code: str) -> tuple[bool, int, int, str]:
    rule = rule_of(code)
    place = _PLACES.get(code, len(_PLACES))
    return rule.severity == "warning", GROUPS.index(rule.group), place, code
