"""Text that was decoded as a code page instead of UTF-8 is repaired, and correct text is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.mojibake import Change, Encoding, first_change, repaired

#: Words of correct text, with what typography puts around them; an underscore is a no-break space.
CORRECT = """
    été né là voilà déjà façon cœur Œuvre naïf où Noël l’été d’être qu’à « » œil élève fatigué_» né…” été”,
    Größe Straße Maß Spaß über schön ÜBER ÄRGER Öl „Haus“ ‚so‘ Fuß“ groß“ ÖSTERREICH Ö… 20_°C
    λόγος ΔS λ Σ μ Ωmega “ΔS” ποσό Θ żółć łódź ćma Łódź są ręką źdźbło ŚWIAT
    ≥ ≤ ≠ ± × ÷ √2 √(π) 2π √π πr² ∑x ∫f ∂x ∞ –∞ ≈π ≈3 ¬p ∆x 3×½ m² 10⁻³ µm Å² Ø½ N° §4 … – —
    CAFÉ” QUALITÉ_» É… “É” MAÇÃO AMANHÃ… IRMÃ” Привет мир 你好 東京 こんにちは 한국 שלום مرحبا
    🧪 ⚠️ ✅ naïve café® Proofspan™ 5€ £5 ¥5 “quoted” ‘it’s’ üçü
"""
words = st.sampled_from(CORRECT.split()).map(lambda word: word.replace("_", "\xa0"))
texts = st.lists(words, min_size=1, max_size=8).map(" ".join)
pages = st.sampled_from(["windows", "mac_roman"])


def damaged(text: str, page: str) -> str:
    """Return the text as a program shows it that decodes its UTF-8 with the wrong code page."""
    data = text.encode()
    if page == "mac_roman":
        return data.decode("mac_roman")
    return "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in data)


@given(texts)
def test_correct_text_stays(text: str) -> None:
    assert repaired(text) == (text, None)
    assert first_change(text) is None


@given(texts, pages)
def test_damaged_text_is_repaired_exactly(text: str, page: str) -> None:
    sure = f"{text} ≥ é"
    wrong = damaged(sure, page)
    assert repaired(wrong) == (sure, "cp1252" if page == "windows" else page)


@given(texts, pages)
def test_text_damaged_twice_is_repaired(text: str, page: str) -> None:
    sure = f"{text} ≥ é"
    assert repaired(damaged(damaged(sure, page), page)).text == sure


@given(st.text(), pages)
def test_any_text_is_left_or_comes_back(text: str, page: str) -> None:
    wrong = damaged(text, page)
    if repaired(text).encoding is None and "\ufeff" not in text:
        assert repaired(repaired(wrong).text).encoding is None  # nothing is left half done
    assert repaired(text).text.isascii() == text.isascii()


@pytest.mark.parametrize(
    ("found", "meant", "encoding"),
    [
        ("Î”S", "ΔS", "cp1252"),
        ("Î»", "λ", "cp1252"),
        ("Î”S_q_ctx", "ΔS_q_ctx", "cp1252"),
        ("â€”", "—", "cp1252"),
        ("â‰¥", "≥", "cp1252"),
        ("Â·", "·", "cp1252"),
        ("â\x80\x94", "—", "cp1252"),
        ("N\xc2\xb05", "N°5", "cp1252"),
        ("KÃ–LN", "KÖLN", "cp1252"),
        ("Å’uvre", "Œuvre", "cp1252"),
        ("classiï¬\x81ed", "classiﬁed", "cp1252"),
        ("ğŸ§ª Spec", "🧪 Spec", "cp1254"),
        ("ŒîS", "ΔS", "mac_roman"),
        ("Œª", "λ", "mac_roman"),
        ("Œª_observe", "λ_observe", "mac_roman"),
        ("ŒîS_q_ctx", "ΔS_q_ctx", "mac_roman"),
        ("‚â•", "≥", "mac_roman"),
        ("‚Äî", "—", "mac_roman"),
        ("sch√∂n", "schön", "mac_roman"),
        ("m√∫sica", "música", "mac_roman"),
        ("\uf8ffüìë", "📑", "mac_roman"),
    ],
)
def test_single_words_are_recognized(found: str, meant: str, encoding: Encoding) -> None:
    assert repaired(found) == (meant, encoding)
    assert first_change(f"so: ({found})") == Change(found.split()[0], meant.split()[0], encoding)


def test_bytes_that_were_dropped_are_restored_where_they_are_known() -> None:
    assert repaired("a â€œquoteâ€ here").text == "a “quote” here"
    assert repaired("a lone â€ here").encoding is None
    assert repaired("âš\xa0ï¸ Watch-out").text == "⚠️ Watch-out"
    assert repaired("â³ Pending â†’ D3").text == "⏳ Pending → D3"
    assert repaired("â³").encoding is None  # an estimate, cubed
    assert repaired("üìë Contracts").text == "📑 Contracts"
    assert repaired("üçü, üçünde").encoding is None  # Turkish


def test_a_run_that_could_be_correct_is_repaired_only_beside_certain_ones() -> None:
    assert repaired("fatigué\xa0»").encoding is None
    assert repaired("頻 ≥ 3".encode().decode("cp1252")).text == "頻 ≥ 3"
    assert repaired("“fatigué\xa0»” â‰¥ 3").text == "“fatigué\xa0»” ≥ 3"


def test_only_the_damaged_part_of_a_text_is_changed() -> None:
    assert repaired("naïve Ã©t").text == "naïve ét"
    assert first_change('naïve {"x": "dÃ©jÃ\xa0"}') == Change("dÃ©jÃ\xa0", "déjà", "cp1252")
