// The toolbar, and events sent to the server.
const PATIENCE_MS = 1500;
const TRIES = 4;
const ACTIONS = {
  "page-before": (view) => turnPage(view, -1),
  "page-after": (view) => turnPage(view, 1),
  "span-before": (view) => nextSpan(view, -1),
  "span-after": (view) => nextSpan(view, 1),
  "zoom-out": (view) => zoomBy(view, -1),
  "zoom-in": (view) => zoomBy(view, 1),
  fit: (view) => zoomTo(view, 1),
  "to-span": (view) => zoomToSpan(view),
  jump,
};

// One request at a time, the latest wins: a key that is held down does not make the server start over again
// and again. A request that comes just as a run ends may get lost on its way: it is sent again, a few times, while
// nothing else is shown than before.
function emit(view, event, value) {
  view.wanted = { [event]: value };
  view.tries = 0;
  view.isBehind = view.isAwaiting;
  if (!view.isAwaiting) send(view);
}

function send(view) {
  const [[event, value]] = Object.entries(view.wanted);
  Object.assign(view, { isAwaiting: true, isBehind: false, before: view.header.focus });
  clearTimeout(view.patience);
  view.patience = setTimeout(() => unanswered(view), PATIENCE_MS);
  view.trigger(event, value);
}

// What is shown now: the answer, unless it is what was shown before.
function answered(view) {
  if (!view.isAwaiting || (view.header.focus === view.before && !isThere(view))) return;
  clearTimeout(view.patience);
  view.isAwaiting = false;
  if (view.isBehind) send(view);
  else view.wanted = null;
}

function unanswered(view) {
  view.isAwaiting = false;
  view.tries += 1;
  if (view.isBehind || (view.tries < TRIES && !isThere(view))) return send(view);
  view.wanted = null;
  showBar(view);
}

function isThere(view) {
  const { turn, choose } = view.wanted;
  return turn === undefined ? choose === view.header.chosen : turn === view.header.page_idx;
}

function turnPage(view, by) {
  goToPage(view, pageIdx(view) + by);
}

function goToPage(view, to) {
  const count = view.header.page_count ?? 0;
  if (to < 0 || to >= count || to === pageIdx(view)) return;
  emit(view, "turn", to);
  showBar(view);
}

const pageIdx = (view) => view.wanted?.turn ?? view.header.page_idx;

function spanPlace(view) {
  const { near, near_at } = view.header;
  return view.wanted?.choose ? near.indexOf(view.wanted.choose) : near_at;
}

function nextSpan(view, by) {
  const { near } = view.header;
  const here = spanPlace(view);
  const id = near[here < 0 ? (by > 0 ? 0 : -1) : here + by];
  if (id === undefined) return;
  view.follows = true;
  choose(view, id);
  const there = spanElement(view, id);
  if (!there) return;
  reveal(view, { isSmooth: true, id });
  if (view.layers.contains(view.root.getRootNode().activeElement)) there.focus({ preventScroll: true });
}

function showBar(view) {
  const { page_count, span_count, span_at, near, near_at } = view.header;
  const [page, place] = [pageIdx(view), spanPlace(view)];
  if (!view.isTyping) view.field.value = page + 1;
  view.field.size = Math.max(2, String(page_count ?? 1).length);
  view.bar.querySelector(".of").textContent = page_count ? `of ${page_count.toLocaleString("en")}` : "";
  const at = place < 0 ? null : span_at - near_at + place + 1;
  view.bar.querySelector(".at").textContent = `span ${at ?? "–"} of ${span_count.toLocaleString("en")}`;
  view.bar.querySelector(".spans").hidden = span_count < 2;
  view.bar.querySelector(".pages").hidden = page_count === null; // one page alone
  const ends = {
    "page-before": page <= 0, "page-after": page + 1 >= (page_count ?? 0),
    "span-before": place === 0 || !near.length, "span-after": place + 1 >= near.length,
    "zoom-out": view.zoom <= LEAST_ZOOM, "zoom-in": view.zoom >= MOST_ZOOM,
    "to-span": !spanElement(view, chosenId(view)),
  };
  for (const [name, isEnd] of Object.entries(ends)) {
    view.bar.querySelector(`[data-do="${name}"]`).setAttribute("aria-disabled", String(isEnd));
  }
  view.bar.querySelector(".percent").textContent = `${Math.round(100 * view.zoom)} %`;
  holdInBar(view, view.bar.querySelector("[tabindex='0']") ?? controls(view)[0]);
}

const controls = (view) => [...view.bar.querySelectorAll("button, input")].filter(
  (each) => each.offsetParent && !each.classList.contains("idle"),
);

// One control is reached by Tab, the others by the arrow keys.
function holdInBar(view, held) {
  for (const each of controls(view)) each.tabIndex = each === held ? 0 : -1;
}

function listenToBar(view) {
  view.bar.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button && button.getAttribute("aria-disabled") !== "true") ACTIONS[button.dataset.do](view);
  });
  view.bar.addEventListener("focusin", (event) => holdInBar(view, event.target));
  view.bar.addEventListener("keydown", (event) => moveInBar(view, event));
  view.field.addEventListener("focus", () => view.field.select());
  view.field.addEventListener("input", () => { view.isTyping = true; });
  view.field.addEventListener("blur", () => { view.isTyping = false; showBar(view); });
  view.field.addEventListener("keydown", (event) => typed(view, event));
}

function typed(view, event) {
  if (event.key === "Escape") {
    view.isTyping = false;
    view.field.value = pageIdx(view) + 1;
    view.field.select();
  }
  if (event.key !== "Enter") return;
  const number = /^\s*\d{1,7}\s*$/.test(view.field.value) ? Number(view.field.value) : NaN;
  const count = view.header.page_count ?? 0;
  view.isTyping = false;
  say(view, "");
  if (number >= 1 && number <= count) goToPage(view, number - 1);
  else say(view, `There is no such page: type 1 to ${count.toLocaleString("en")}`);
  view.field.value = pageIdx(view) + 1;
  view.field.select();
}

// In the page field the arrow keys move the caret until it is at an end.
function moveInBar(view, event) {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const { selectionStart, selectionEnd, value } = view.field;
  const isWhole = selectionStart === 0 && selectionEnd === value.length;
  const isAtEnd = selectionStart === selectionEnd && selectionStart === (by < 0 ? 0 : value.length);
  if (event.target === view.field && !isWhole && !isAtEnd) return;
  const all = controls(view);
  event.preventDefault();
  all[all.indexOf(event.target) + by]?.focus();
}
