"""The words of a page that the glossary has an entry for, and the entries that Help offers for the page."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect

from proofspan.ui.help.glossary import entries

#: Kinds of entries whose names mean nothing else where a page shows them alone.
KINDS = ("label", "grounded", "correct", "cause", "release", "bucket", "issue", "evidence", "metric", "rule")
#: What a verdict in short calls values that have another name of their own.
IN_SHORT = {"incomplete": "correct.partly", "correct refusal": "correct.declined_rightly"}
#: The texts of a page, also within its components other than Help.
WORDS = """() => {
  const found = new Set();
  const look = (root) => {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let at = texts.nextNode(); at; at = texts.nextNode()) {
      if (at.shadowRoot && !at.matches(".st-key-help *")) look(at.shadowRoot);
      else if (at.nodeType === Node.TEXT_NODE) found.add(at.data.replace(/^[^\\p{L}]+/u, "").trim());
    }
  };
  look(document.querySelector("main"));
  return [...found];
}"""


def offered(page: Page) -> set[str]:
    """The terms that Help lists for the page that is shown."""
    page.evaluate("document.activeElement?.blur()")
    page.keyboard.press("?")
    expect(page.locator("dialog.drawer")).to_be_visible()
    links = page.locator(".here a").evaluate_all("all => all.map((each) => each.getAttribute('href'))")
    page.keyboard.press("Escape")
    expect(page.locator("dialog.drawer")).to_be_hidden()
    return {parse_qs(urlsplit(link).query)["help"][0] for link in links}


def unexplained(page: Page) -> list[str]:
    """Labels, causes, codes and metrics that the page shows and has no way to their entry for."""
    named = {name: {term} for name, term in IN_SHORT.items()}
    for each in entries():
        if each.term.partition(".")[0] in KINDS:
            named.setdefault(each.name.lower(), set()).add(each.term)
    shown = {word.lower() for word in page.evaluate(WORDS)} & named.keys()
    terms = offered(page) if shown else set[str]()
    return sorted(f"not explained: {name}" for name in shown if not named[name] & terms)
