"""A question joined with its chunks, gold and places; pages drawn without a real document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from proofspan.contracts.records.records import Chunk, SourceLine
from proofspan.diagnosis.types import Profile
from proofspan.evidence.types import FoundSpan, PageImage, SpanQuery
from proofspan.manifest.types import Artifact, Document, Manifest
from proofspan.services.documents.document_cache import Placer
from proofspan.services.page.target import Target, choose, chunk_target, targets_of
from proofspan.services.page.text_view import TextRun
from proofspan.services.page.view import PageView, locate_view, place_of
from proofspan.services.question.view import load_question
from tests.made_traces import made_trace
from tests.unit.question.question_room import CHUNKS, GOLD, LINE, Source, question


def test_a_quote_is_the_payloads_own_else_the_chunks_text() -> None:
    first, second, unknown = question().citations
    assert (first.quote_from, first.citation.quote) == ("chunk", CHUNKS["c1"].text)
    assert (second.quote_from, second.citation.quote) == ("payload", "Strip 1/16 inch")
    assert (unknown.quote_from, unknown.chunk, unknown.is_retrieved) == (None, None, False)
    assert (first.is_retrieved, second.is_retrieved) == (True, False)
    assert second.citation.page_idx == 1


def test_a_citation_of_a_page_counts_as_retrieved_where_a_candidate_is_on_it() -> None:
    pages = [{"doc_id": "d", "page_idx": page} for page in (0, 1, 2)]
    elsewhere = {"doc_id": "other", "page_idx": 0}
    views = question(
        citations=[*pages, elsewhere, {"chunk_id": "c9", "doc_id": "d", "page_idx": 0}]
    ).citations
    assert [view.is_retrieved for view in views] == [True, True, False, False, False]
    # The first page has a candidate in the prompt, the second one that was only retrieved.
    assert [view.page_rank for view in views] == [1, 3, None, None, None]


def test_the_label_of_an_answer_does_not_depend_on_the_pages_that_it_cites() -> None:
    cited = question(citations=[{"doc_id": "d", "page_idx": 0}]).row
    other = question(citations=[{"doc_id": "d", "page_idx": 2}]).row
    assert cited is not None and cited == other


def test_a_candidate_knows_its_rank_before_who_cites_it_and_why_it_is_gold() -> None:
    stages = {stage.name: stage.candidates for stage in question().stages}
    c1, c3 = stages["chunks"]
    assert (c1.was_rank, c1.cited_by, c1.gold) == (2, (1,), "chunk")
    assert (c3.was_rank, c3.cited_by, c3.gold) == (1, (), None)
    assert stages["retrieved"][2].gold == "page"
    assert (c1.candidate.section_id, c1.candidate.page_idx) == ("2.26", 0)


def test_a_candidate_of_a_document_without_pages_has_none_and_is_not_gold_by_its_page() -> None:
    trace = made_trace(LINE, source=SourceLine("t.jsonl", 3, 120, 400))
    view = load_question(
        trace, chunks=CHUNKS, gold=GOLD, corpus=None, profile=Profile(), unpaged=frozenset({"d"})
    )
    stages = {stage.name: stage.candidates for stage in view.stages}
    assert [each.candidate.page_idx for each in stages["retrieved"]] == [4, None, None]
    assert [each.gold for each in stages["retrieved"]] == [None, "chunk", None]


def test_where_nothing_is_cited_the_gold_passage_is_shown_before_what_was_retrieved() -> None:
    targets = targets_of(question(citations=[], answer="not in context"))
    chosen = choose(targets)
    assert chosen is not None and chosen.id == "gold:1"
    assert (choose(targets, chunk="c3") or chosen).id == "chunk:c3"
    without = [target for target in targets if target.kind != "gold"]
    assert (choose(without) or chosen).kind == "retrieved"


def test_the_label_is_the_reports_own() -> None:
    view = question()
    assert view.row.label == "generation_drift"
    assert view.row.signals.numbers_unsupported == ("1/16",)


@pytest.fixture
def manifest(tmp_path: Path) -> Manifest:
    (tmp_path / "d.pdf").write_bytes(b"%PDF-1.7")
    (tmp_path / "notes.md").write_text("notes")
    documents = (
        Document("d", Artifact("documents[d]", "d.pdf")),
        Document("notes", Artifact("documents[notes]", "notes.md"), paged=False),
        Document("gone", Artifact("documents[gone]", "gone.pdf")),
    )
    return Manifest("m", tmp_path, documents=documents)


def placed(manifest: Manifest, source: Source, *, page: int | None = None, **choice: object) -> PageView:
    targets = targets_of(question())
    chosen = choose(targets, **choice)  # type: ignore[arg-type]
    assert chosen is not None
    return locate_view(chosen, targets, manifest=manifest, placer=Placer(source), page=page)


def test_the_first_citation_is_shown_when_nothing_is_chosen(manifest: Manifest) -> None:
    view = placed(manifest, Source())
    assert (view.target.id, view.page_idx, view.printed, view.page_count) == ("cite:1", 0, "i", 3)
    assert [span.id for span in view.spans if span.chosen] == ["cite:1"]
    assert view.spans[-1].chosen


def test_a_citation_a_candidate_and_a_gold_span_can_be_chosen(manifest: Manifest) -> None:
    assert placed(manifest, Source(), cite=2).page_idx == 1
    assert placed(manifest, Source(), chunk="c2").target.id == "chunk:c2"
    assert placed(manifest, Source(), chunk="gold:1").target.kind == "gold"


def test_only_the_chosen_documents_spans_are_looked_for(manifest: Manifest) -> None:
    source = Source()
    placed(manifest, source)
    assert CHUNKS["c3"].text not in {query.quote for query in source.asked}


def test_other_layers_are_those_of_the_shown_page(manifest: Manifest) -> None:
    layers = {span.layer for span in placed(manifest, Source(), cite=2).spans}
    assert layers == {"cited", "gold", "retrieved"}
    assert "gold" not in {span.layer for span in placed(manifest, Source(), cite=1).spans}


def test_what_the_answerer_neither_saw_nor_cites_is_drawn_only_when_chosen(manifest: Manifest) -> None:
    far = {"id": "far", "doc_id": "d", "page_idx": 0, "text": "a passage that came late"}
    stages = {"retrieved": [*LINE["stages"]["retrieved"], far]}
    targets = targets_of(question(stages=stages))
    shown = {}
    for chunk in ("c1", "far"):
        chosen = choose(targets, chunk=chunk)
        assert chosen is not None
        view = locate_view(chosen, targets, manifest=manifest, placer=Placer(Source()))
        shown[chunk] = {span.id for span in view.spans}
    assert shown["c1"] == {"cite:1", "chunk:c1"}
    assert shown["far"] == {"cite:1", "chunk:c1", "chunk:far"}


def test_spans_that_begin_together_share_the_topmost_tag(manifest: Manifest) -> None:
    tags = [span.tags for span in placed(manifest, Source(), cite=2).spans]
    assert [each for each in tags if each] == [tags[-1]]
    assert set(tags[-1]) == {("cited", "cited 2"), ("gold", "gold 1"), ("retrieved", "rank 3")}


class Scan(Source):
    """The same document without a text layer: nothing is found, and a producer's box stays unverified."""

    def locate_many(self, path: Path, queries: Sequence[SpanQuery]) -> list[FoundSpan]:
        self.asked += queries
        boxes = [(query.box,) if query.box else () for query in queries]
        return [FoundSpan("not_found", None, False, 0.0, unverified=box) for box in boxes]


def test_a_box_that_no_text_confirms_is_drawn_as_unverified_on_the_cited_page_alone(
    manifest: Manifest,
) -> None:
    box = (10.0, 10.0, 90.0, 20.0)
    target = Target("cited", 1, "d", SpanQuery("", 1, box=box, box_space="points"))
    (span,) = locate_view(target, (), manifest=manifest, placer=Placer(Scan())).spans
    assert (span.is_verified, span.tags) == (False, (("cited", "cited 1, unverified"),))
    assert span.rects == ((10.0, 5.0, 80.0, 5.0),)
    turned = locate_view(target, (), manifest=manifest, placer=Placer(Scan()), page=2)
    assert turned.spans == ()


def test_gold_has_its_place_also_while_another_page_is_shown(manifest: Manifest) -> None:
    assert placed(manifest, Source(), cite=1).found["gold:1"].page_idx == 1


def test_what_belongs_to_a_passage_is_asked_for_by_its_found_page_else_the_cited_one(
    manifest: Manifest,
) -> None:
    found = place_of(placed(manifest, Source(), cite=2))
    assert (found.doc_id, found.section_id, found.page_idx, len(found.rects)) == ("d", "2.25", 1, 2)
    nowhere = place_of(placed(manifest, Scan(), cite=2))
    assert (nowhere.page_idx, nowhere.rects) == (1, ())
    text = Target("retrieved", None, "notes", SpanQuery("notes", 0), chunk_id="n", section_id="B2")
    unpaged = place_of(locate_view(text, (), manifest=manifest, placer=Placer(Source())))
    assert (unpaged.section_id, unpaged.page_idx) == ("B2", None)


def test_another_page_of_the_document_keeps_what_was_found(manifest: Manifest) -> None:
    view = placed(manifest, Source(), page=2)
    assert (view.page_idx, view.printed, view.spans) == (2, "1", ())
    assert view.chosen is not None
    assert view.chosen.page_idx == 0


@pytest.mark.parametrize(
    ("doc_id", "page", "code"),
    [(None, None, "no_document"), ("else", None, "document_not_listed"), ("gone", None, "missing")],
)
def test_a_document_that_cannot_be_shown_is_a_problem_with_a_remedy(
    manifest: Manifest, doc_id: str | None, page: int | None, code: str
) -> None:
    target = chunk_target(Chunk("x", "text", doc_id=doc_id, page_idx=0))
    view = locate_view(target, (), manifest=manifest, placer=Placer(Source()), page=page)
    assert view.problem is not None
    assert (view.problem.code, view.image) == (code, None)
    assert view.problem.fix
    assert view.target.query.quote == "text"


def test_a_page_beyond_the_end_says_how_many_there_are(manifest: Manifest) -> None:
    view = placed(manifest, Source(), page=7)
    assert view.problem is not None
    assert view.problem.code == "page_out_of_range"
    assert "3 pages" in view.problem.message
    assert view.page_count == 3


def test_a_document_without_pages_shows_its_lines_with_every_layer(manifest: Manifest) -> None:
    (manifest.folder / "notes.md").write_text("# Notes\n\nCheck the oil when it is cold.\nAnd the water.\n")
    chosen = Target("cited", 1, "notes", SpanQuery("Check the oil when it is cold.", 3))
    gold = Target("gold", 1, "notes", SpanQuery("oil when it is cold. And the water"))
    unseen = Target("retrieved", 9, "notes", SpanQuery("Notes"), chunk_id="u", is_context=False)
    view = locate_view(chosen, (chosen, gold, unseen), manifest=manifest, placer=Placer(Source()))
    assert (view.problem, view.page_idx, view.image, view.spans) == (None, None, None, ())
    assert view.text is not None
    assert {name: found.status for name, found in view.found.items()} == {
        "cite:1": "exact",
        "gold:1": "exact",
    }
    assert [(run.text, run.layers, run.chosen, run.tags) for run in view.text.lines[2].runs] == [
        ("Check the ", ("cited",), "cited", (("cited", "cited 1"),)),
        ("oil when it is cold.", ("cited", "gold"), "cited", (("gold", "gold 1"),)),
    ]
    assert [(run.text, run.layers) for run in view.text.lines[3].runs] == [
        ("And the water", ("gold",)),
        (".", ()),
    ]


def test_a_passage_that_is_nowhere_leaves_the_text_unmarked(manifest: Manifest) -> None:
    target = chunk_target(Chunk("x", "a passage of some other text", doc_id="notes"))
    view = locate_view(target, (), manifest=manifest, placer=Placer(Source()))
    assert view.chosen is not None and view.text is not None
    assert (view.chosen.status, view.text.layers, view.problem) == ("not_found", (), None)
    assert view.text.lines[0].runs == (TextRun("notes"),)


@pytest.mark.parametrize(
    ("data", "code"), [(None, "missing"), (b"", "no_text"), (b"\xff", "not_utf8"), (b"a\0b", "not_text")]
)
def test_a_text_that_cannot_be_read_is_a_problem_with_a_remedy(
    manifest: Manifest, data: bytes | None, code: str
) -> None:
    (manifest.folder / "notes.md").unlink()
    if data is not None:
        (manifest.folder / "notes.md").write_bytes(data)
    target = chunk_target(Chunk("x", "a passage", doc_id="notes"))
    view = locate_view(target, (), manifest=manifest, placer=Placer(Source()))
    assert view.problem is not None
    assert (view.problem.code, view.text, bool(view.problem.fix)) == (code, None, True)


def test_what_was_placed_before_is_not_looked_for_again(manifest: Manifest) -> None:
    source, targets = Source(), targets_of(question())
    chosen = choose(targets)
    assert chosen is not None
    known = {chosen.id: FoundSpan("exact", 1, True, 1.0, ((5.0, 5.0, 20.0, 15.0),))}
    view = locate_view(chosen, targets, manifest=manifest, placer=Placer(source), known=known)
    assert view.page_idx == 1
    assert view.chosen == known[chosen.id]
    assert chosen.query not in source.asked


def test_a_view_names_its_file_and_the_words_under_its_spans(manifest: Manifest) -> None:
    class Worded(Source):
        def show(self, path: Path, page_idx: int, *, with_words: bool) -> PageImage:
            words = (((12.0, 11.0, 40.0, 19.0), "Change"), ((12.0, 50.0, 40.0, 60.0), "elsewhere"))
            return replace(super().show(path, page_idx, with_words=with_words), words=words)

    view = placed(manifest, Worded())
    assert view.path == manifest.folder / "d.pdf"
    assert view.texts[view.target.id] == "Change"


def test_a_question_and_its_page_are_one_request(manifest: Manifest) -> None:
    looks: list[int] = []

    class Watched(Source):
        def look(
            self, path: Path, queries: Sequence[SpanQuery], page_idx: int, *, with_words: bool
        ) -> tuple[list[FoundSpan], PageImage | None]:
            looks.append(page_idx)
            return super().look(path, queries, page_idx, with_words=with_words)

    source = Watched()
    placed(manifest, source)
    assert (looks, source.rendered) == ([0], [0])
