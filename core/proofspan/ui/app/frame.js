// Focus the title of a page that was just opened, so that a screen reader reads it and Tab goes on from there, and
// lead past the filters: Streamlit's own link at the beginning of the page skips the sidebar alone.
const RESULTS = ".st-key-triage-table, .st-key-answer, .st-key-walk-answer, .st-key-gate, .st-key-verdict, .st-key-whatif-answer";
const APP = "[data-testid=stApp]";
let shown = null;
let watch = null;
let parts = null;
let theme = null;

export default function ({ data }) {
  const skip = document.querySelector("[data-testid=stSkipToContent]");
  if (skip) skip.textContent = "Skip to results";
  document.addEventListener("click", skipped, true);
  if (shown !== null && data.page !== shown) whenTitled(focusTitle);
  shown = data.page;
  followTheme();
  whenThere("[data-testid=stFileUploaderDropzone]", (zone) => zone.setAttribute("role", "group"));
  return () => document.removeEventListener("click", skipped, true);
}

// What opens over the page is outside of the app, which alone has the theme's scheme.
function followTheme() {
  theme?.disconnect();
  const app = document.querySelector(APP);
  const look = () => { document.body.style.colorScheme = getComputedStyle(app).colorScheme; };
  theme = new MutationObserver(look);
  theme.observe(app, { attributeFilter: ["class"] });
  look();
}

// Streamlit calls the place for files nothing, though it has a name.
function whenThere(selector, act) {
  parts?.disconnect();
  const look = () => document.querySelectorAll(`${selector}[role=presentation]`).forEach(act);
  parts = new MutationObserver(look);
  parts.observe(document.querySelector(APP), { childList: true, subtree: true });
  look();
}

// Until the page's own title is there: that of the page before may be, as long as it waits to be replaced.
function whenTitled(act) {
  watch?.disconnect();
  const at = document.activeElement;
  const look = () => {
    const title = document.querySelector("main h1");
    const isOver = document.querySelector(APP)?.dataset.testScriptState === "notRunning";
    if (!title || (title.closest("[data-stale=true]") && !isOver)) return;
    watch.disconnect();
    act(title, at);
  };
  watch = new MutationObserver(look);
  watch.observe(document.querySelector(APP), { childList: true, subtree: true, attributeFilter: ["data-stale", "data-test-script-state"] });
  look();
}

// Whoever has gone on to something else meanwhile stays there, and the tour keeps the focus on its way on.
function focusTitle(title, before) {
  const now = document.activeElement;
  if (new URLSearchParams(location.search).has("tour")) return;
  if (now === document.body || now === before) focus(title);
}

function skipped(event) {
  if (!event.target.closest?.("[data-testid=stSkipToContent]")) return;
  const to = document.querySelector(RESULTS) ?? document.querySelector("main h2") ?? document.querySelector("main h1");
  if (!to) return;
  event.preventDefault();
  event.stopPropagation();
  to.scrollIntoView({ block: "nearest" });
  focus(to);
}

function focus(element) {
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
}
