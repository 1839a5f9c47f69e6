"""Only `proofspan.ui.widgets.markup` makes HTML, and foreign text enters Streamlit's Markdown escaped."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.places import CHECKOUT

SAFE = CHECKOUT / "core/proofspan/ui/widgets/markup.py"
SCRIPTS = sorted(
    [CHECKOUT / "app.py", *(CHECKOUT / "pages").glob("*.py"), *(CHECKOUT / "core/proofspan/ui").rglob("*.py")]
)

BANNED_CALLS = {"html", "iframe", "write", "write_stream", "echo", "logo", "exception"}
BANNED_OPTIONS = {"unsafe_allow_html", "unsafe_allow_javascript"}
#: Streamlit's elements whose first argument is Markdown.
MARKDOWN_CALLS = {
    *("markdown", "caption", "title", "header", "subheader", "info", "warning", "error", "success"),
    *("toast", "badge", "button", "link_button", "download_button", "checkbox", "toggle", "feedback"),
    *("radio", "selectbox", "multiselect", "segmented_control", "pills", "text_input", "expander"),
    *("popover", "tabs", "metric", "status", "spinner", "number_input", "dialog"),
}
#: Functions that escape (any whose name ends with "label") or that speak in our own words and numbers alone.
OUR_FUNCTIONS = {"counted", "share_of", "badge"}
#: Names that hold our own words by convention: a title or help text from a table in the code, escaped text.
OUR_NAMES = {"title", "help", "escaped", "summary", "mark"}


def problems(source: str) -> Iterator[str]:
    """Return what could turn foreign text into markup in a script, one sentence each."""
    tree = ast.parse(source)
    modules = _imported(tree) - {"st"}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if _base(node.func) in modules:
            continue
        name = node.func.attr
        if name in BANNED_CALLS:
            yield f"line {node.lineno}: calls {name}"
        for option in node.keywords:
            if option.arg in BANNED_OPTIONS:
                yield f"line {node.lineno}: passes {option.arg}"
            if option.arg in ("help", "label") and not _is_ours(option.value):
                yield f"line {node.lineno}: {option.arg}= takes text that is not a literal or label(…)"
        if name in MARKDOWN_CALLS and node.args and not _is_ours(node.args[0]):
            yield f"line {node.lineno}: {name} takes text that is not a literal or label(…)"


def _imported(tree: ast.Module) -> set[str]:
    """The names that the script's imports bind."""
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    return {(alias.asname or alias.name).split(".")[0] for node in imports for alias in node.names}


def _base(function: ast.Attribute) -> str:
    """The name that an attribute chain begins with; "" where it begins with a call or the like."""
    base: ast.expr = function
    while isinstance(base, ast.Attribute):
        base = base.value
    return base.id if isinstance(base, ast.Name) else ""


def _is_ours(node: ast.expr) -> bool:
    """Whether the expression is made of our own words, numbers and `label(…)` alone.

    A name in capitals is a constant of ours; a value with a number's format (`{n:,}`, `{n:d}`, `{x:.2f}`)
    cannot be text.
    """
    match node:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return name.isupper() or name in OUR_NAMES
        case ast.Attribute(attr=name):
            return name.isupper() or name in OUR_NAMES
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
            return name.endswith("label") or name in OUR_FUNCTIONS
        case ast.IfExp(body=body, orelse=orelse):
            return _is_ours(body) and _is_ours(orelse)
        case ast.BoolOp(values=values) | ast.List(elts=values) | ast.Tuple(elts=values):
            return all(_is_ours(value) for value in values)
        case ast.ListComp(elt=element):
            return _is_ours(element)
        case ast.Subscript(value=value):
            return _is_ours(value)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _is_ours(left) and _is_ours(right)
        case ast.JoinedStr(values=values):
            return all(_is_ours(value) for value in values)
        case ast.FormattedValue(value=value, format_spec=ast.JoinedStr(values=[ast.Constant(value=spec)])):
            return _is_ours(value) or (isinstance(spec, str) and spec[-1:] in ",dfg%")
        case ast.FormattedValue(value=value):
            return _is_ours(value)
        case _:
            return False


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.relative_to(CHECKOUT).as_posix())
def test_no_foreign_text_becomes_markup(script: Path) -> None:
    if script == SAFE or not script.is_file():
        return
    assert list(problems(script.read_text(encoding="utf-8"))) == []


def test_markup_is_made_in_one_module_only() -> None:
    makers = [path for path in SCRIPTS if path.is_file() and "Markup(" in path.read_text(encoding="utf-8")]
    assert makers == [SAFE]


@pytest.mark.parametrize(
    "source",
    [
        "st.html(x)",
        "st.write(x)",
        "st.markdown('a', unsafe_allow_html=True)",
        "st.markdown(x)",
        "st.sidebar.caption(f'{name} is open')",
        "column.button(name)",
        "st.error(str(fault))",
        "st.button('a', help=text)",
        "st.tabs([name for name in names])",
    ],
)
def test_the_rule_sees_what_it_forbids(source: str) -> None:
    assert list(problems(source))


@pytest.mark.parametrize(
    "source",
    [
        "st.caption('our words')",
        "st.caption(f'{n:,} of {total:d} questions')",
        "st.button(safe.label(name))",
        "st.button(f':red-badge[{safe.label(name)}]')",
        "st.tabs([label(name) for name in names])",
        "st.button('Next →' if more else 'End')",
        "st.text(foreign)",
        "from proofspan.ui import safe, panels\nsafe.show(safe.text(pieces))\npanels.header(view)",
    ],
)
def test_the_rule_lets_safe_forms_pass(source: str) -> None:
    assert list(problems(source)) == []
