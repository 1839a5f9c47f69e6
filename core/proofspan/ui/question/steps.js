// Steps to the next question, and what must not be seen meanwhile. Every part of the page carries the name of the
// place that it was drawn for (`data-of`: question, passage, page). A part with another one than the header's is
// behind: it is hidden (see question.css) until the right one is there, so that no page is ever seen below a question
// that it does not belong to. Panels that belong to the question alone are followed by marks with its name: what lies
// before such a mark is drawn, the rest may be of the question before.
//
// Where a step leads is sent whole, as a place in the list, with a running number: of presses that arrive while the
// page is still at work the last one holds, so that none is lost and none counts twice.
const KEYS = { j: 1, k: -1 };
const FIELDS = "input, textarea, select, [contenteditable], [role=listbox], [role=combobox], [role=menu], [role=dialog]";
// Which place a press on a part of the page leads to.
const WAYS = ".st-key-other-runs button, .st-key-citations button, .st-key-evidence-ways button, [data-testid=ps-row], "
  + "[data-testid=ps-marked] :is([data-number], [data-cite], [data-claim]), [data-testid=ps-claim-row]";
// The parts that are hidden while they are behind, with the marks that a whole one has. Those of pages are hidden from the
// press on.
const PARTS = {
  "page-side": 2, level: 1, answer: 0,
  "compare-pages": 4, "compare-says": 1, "compare-answers": 4, "compare-candidates": 2,
};
const PAGES = ["page-side", "level", "compare-pages"];
const [AGAIN_MS, AT_MOST_MS, DRAG_PIXELS] = [1500, 5000, 4];
// One for the page, however often the component is mounted.
const state = { data: null, wanted: null, presses: 0, leaving: null, pressed: [0, 0], send: null, asked: "", since: 0 };

export default function ({ data, setTriggerValue }) {
  if (!data || !data.length) return;
  state.data = JSON.parse(new TextDecoder().decode(data));
  state.send = setTriggerValue;
  if (state.presses <= state.data.presses || state.wanted === null) {
    Object.assign(state, { presses: state.data.presses, wanted: state.data.position });
  }
  const app = document.querySelector("[data-testid=stApp]");
  const watch = new MutationObserver(compare);
  watch.observe(app, {
    subtree: true, childList: true, attributes: true,
    attributeFilter: ["data-of", "data-run", "data-test-script-state"],
  });
  const listeners = [["keydown", keyed], ["pointerdown", pressed], ["click", clicked], ["popstate", leave]];
  for (const [name, act] of listeners) window.addEventListener(name, act, true);
  window.addEventListener("popstate", forget, true);
  compare();
  return () => {
    watch.disconnect();
    clearTimeout(state.again);
    for (const [name, act] of listeners) window.removeEventListener(name, act, true);
    window.removeEventListener("popstate", forget, true);
  };
}

const find = (css) => document.querySelector(css);

function compare() {
  const head = find("[data-part=question]");
  if (!head) return;
  const { of, run, presses } = head.dataset;
  if (state.leaving && (state.leaving.run !== run || state.leaving.until < Date.now())) state.leaving = null;
  const isStepping = Number(presses) < state.presses;
  const isDrawing = find("[data-testid=stApp]").dataset.testScriptState === "running";
  for (const [name, count] of Object.entries(PARTS)) {
    const part = find(`.st-key-${name}`);
    if (!part) continue;
    const marks = [...part.querySelectorAll("[data-of]")].filter((each) => name === "level" || !each.closest(".st-key-level"));
    const isOther = marks.some((each) => each.dataset.of !== of);
    const isPart = isDrawing && marks.filter((each) => each.dataset.part).length < count;
    const isLeft = PAGES.includes(name) && (isStepping || state.leaving);
    if (part.toggleAttribute("data-behind", Boolean(isOther || isPart || isLeft))) part.ariaBusy = "true";
    else part.removeAttribute("aria-busy");
  }
  const asked = find("[data-part=asked]");
  if (!asked) return;
  if (asked.dataset.of !== state.asked) Object.assign(state, { asked: asked.dataset.of, since: Number(asked.dataset.run) });
  for (const part of document.querySelectorAll(".st-key-judged, .st-key-reading")) hideUndrawn(part);
}

// Panels up to the last mark of this question are there, if all marks before it are this question's, none is of an
// earlier visit to it, and components, which draw their data later than the elements around them, have done so.
function hideUndrawn(part) {
  const panels = [...part.children];
  const isOther = (each) => each.dataset.of !== state.asked;
  let last = -1;
  for (const mark of part.querySelectorAll("[data-part=drawn]")) {
    if (isOther(mark) || Number(mark.dataset.run) < state.since) break;
    last = panels.findIndex((panel) => panel.contains(mark));
  }
  for (const [place, panel] of panels.entries()) {
    panel.toggleAttribute("data-behind", place > last || [...panel.querySelectorAll("[data-of]")].some(isOther));
  }
}

// A page that somebody turns away from is hidden at once.
function leave() {
  const run = find("[data-part=question]")?.dataset.run;
  state.leaving = { run, until: Date.now() + AT_MOST_MS };
  compare();
}

// Who goes elsewhere does not want the presses that are not answered any more.
function forget() {
  clearTimeout(state.again);
  Object.assign(state, { presses: state.data.presses, wanted: state.data.position });
}

function step(by) {
  const { total } = state.data;
  const to = Math.max(0, Math.min(state.wanted + by, total - 1));
  if (to === state.wanted) return;
  Object.assign(state, { wanted: to, presses: state.presses + 1 });
  compare();
  send();
}

// The page, with the keyboard's focus.
function seePage() {
  const side = find(".st-key-page-side");
  if (!side) return;
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  side.tabIndex = -1;
  side.focus({ preventScroll: true });
  side.scrollIntoView({ block: "start", behavior: isCalm ? "instant" : "smooth" });
}

// Sent again while it is not answered: a request that comes just when a run ends may get lost. The header is the first
// part of the answer to arrive.
function send() {
  state.send("step", { to: state.wanted, presses: state.presses });
  clearTimeout(state.again);
  const isAnswered = () => Number(find("[data-part=question]")?.dataset.presses ?? 0) >= state.presses;
  state.again = setTimeout(() => isAnswered() || send(), AGAIN_MS);
}

function take(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

function keyed(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const by = KEYS[event.key.toLowerCase()];
  const path = event.composedPath().filter((each) => each instanceof Element);
  if (!by || state.data.position === null || path.some((each) => each.matches(FIELDS))) return;
  take(event);
  step(by);
}

function pressed(event) {
  state.pressed = [event.clientX, event.clientY];
}

// A press that moved was meant to mark text.
function clicked(event) {
  if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const path = event.composedPath().filter((each) => each instanceof Element);
  for (const [key, by] of Object.entries(KEYS)) {
    if (state.data.position === null) break; // the button itself leads into the list
    if (!path.some((each) => each.matches(`.st-key-step-${key.toUpperCase()} button`))) continue;
    take(event);
    return step(by);
  }
  if (path.some((each) => each.matches(".st-key-see-page button"))) {
    take(event);
    return seePage();
  }
  const [x, y] = state.pressed;
  if (event.detail > 0 && Math.hypot(event.clientX - x, event.clientY - y) > DRAG_PIXELS) return;
  const way = path.find((each) => each.matches(WAYS));
  if (way && !isHere(way, path)) leave();
}

// Whether the passage is on the page that is shown: then only the choice changes.
function isHere(way, path) {
  if (way.dataset.key) return state.data.here.includes(way.dataset.key);
  const name = path.map((each) => each.className.match?.(/st-key-(cite|gold)-(\d+)/)).find(Boolean);
  const { number, cite, claim } = way.closest("[data-number], [data-cite], [data-claim]")?.dataset ?? {};
  const chosen = number ?? cite;
  const span = name ? `${name[1]}:${name[2]}` : chosen ? `cite:${chosen}` : claim ? `claim:${claim}` : "";
  return state.data.spans.includes(span);
}
