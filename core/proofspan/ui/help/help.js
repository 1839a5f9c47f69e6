// Help on every page: keys wherever the focus is, the drawer (drawer.js), the palette (palette.js) and the tour of the
// demo (tour.js). All three lie in the browser's top layer, so that nothing of the page moves.
const views = new WeakMap();
const FIELDS = "input, textarea, select, [contenteditable]";
const TERM = "a[href^='./?help=']";
// What Help explains: links to terms, and what names its terms where it is something else (see `Cell.terms`).
const NAMED = `${TERM}, [data-term]`;
const POPUPS = "[data-testid=stPopoverBody], [role=dialog], [role=menu]";

export default function ({ data, parentElement }) {
  const view = views.get(parentElement) ?? opened(parentElement);
  const json = new TextDecoder().decode(data);
  if (json !== view.json) Object.assign(view, { json, data: JSON.parse(json), isDrawn: false });
  arrived(view);
  return () => closed(parentElement, view);
}

function opened(root) {
  const view = { root, find: (css) => root.querySelector(css), listening: new AbortController(), number: 0 };
  const options = { signal: view.listening.signal };
  openedDrawer(view);
  openedPalette(view);
  openedTour(view);
  document.addEventListener("keydown", (event) => pressed(view, event), { ...options, capture: true });
  document.addEventListener("click", (event) => clicked(view, event), { ...options, capture: true });
  window.addEventListener("popstate", () => arrived(view), options);
  views.set(root, view);
  return view;
}

function closed(root, view) {
  view.listening.abort();
  leftTour(view);
  view.outline.remove();
  views.delete(root);
}

// At an address: what it names is shown.
function arrived(view) {
  const { searchParams } = new URL(window.location.href);
  const term = searchParams.get("help");
  if (term !== null && term !== view.term && !view.drawer.open) openDrawer(view, { term });
  view.term = term;
  showTour(view, Number(searchParams.get("tour")));
}

// Change a parameter of the address that the browser alone reads, without an entry in the history.
function setParameter(name, value) {
  const address = new URL(window.location.href);
  if (value === null) address.searchParams.delete(name);
  else address.searchParams.set(name, value);
  const { replaceState } = History.prototype;
  if (address.href !== window.location.href) replaceState.call(window.history, window.history.state, "", address.href);
}

// The address of a page in the same workspace and run, with changed parameters.
function addressOf(view, page, changes = {}) {
  const here = new URL(window.location.href).searchParams;
  const query = new URLSearchParams();
  for (const name of view.data.kept) {
    if (!(name in changes)) here.getAll(name).forEach((value) => query.append(name, value));
  }
  for (const [name, value] of Object.entries(changes)) if (value !== null) query.set(name, value);
  return `./${page}${query.size ? `?${query}` : ""}`;
}

function pressed(view, event) {
  if (event.isComposing || event.altKey || !view.data) return;
  const { keys } = view.data;
  if ((event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === keys.palette) {
    stop(event);
    togglePalette(view);
    return;
  }
  if (event.ctrlKey || event.metaKey || isOpen(view)) return;
  if (event.key === "Escape" && view.step && !document.querySelector(POPUPS)) {
    stop(event);
    leaveTour(view);
    return;
  }
  if (event.composedPath()[0].matches?.(FIELDS)) return;
  if (event.key === keys.help) openDrawer(view, { term: termsOf(event.composedPath())[0] });
  else if (event.key === keys.search) toSearch(view);
  else return;
  stop(event);
}

const termsIn = (named) => named.dataset.term?.split("|") ?? [new URL(named.href).searchParams.get("help")];

// The terms of what has the focus: its own, those beside it in its row, or those of a mark for it (see `markup.bar`).
function termsOf(path) {
  for (const each of path) {
    if (!(each instanceof Element) || each.matches("main, .stMain")) return [];
    if (each.matches(NAMED)) return termsIn(each);
    const of = [...each.classList].find((name) => name.startsWith("st-key-"));
    const mark = of && document.querySelector(`[data-of="${CSS.escape(of.slice(7))}"]`);
    if (mark) return termsIn(mark);
    const within = each.matches("tr, li, button") ? each.querySelector(NAMED) : null;
    if (within) return termsIn(within);
  }
  return [];
}

// The terms that a page has, in their order, also within its components other than this one.
function termsOnPage(root = document.querySelector("main"), found = new Set()) {
  for (const each of root?.querySelectorAll("*") ?? []) {
    if (each.matches(NAMED)) for (const term of termsIn(each)) found.add(term);
    if (each.shadowRoot && !each.matches(".st-key-help *")) termsOnPage(each.shadowRoot, found);
  }
  return found;
}

function stop(event) {
  event.preventDefault();
  event.stopPropagation();
}

// Explained terms and the links of the sidebar. With a modifier key the browser treats a term as any link.
function clicked(view, event) {
  if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const path = event.composedPath().filter((each) => each instanceof Element);
  if (path.some((each) => each.matches(".st-key-welcome-dismiss button"))) {
    document.cookie = `${view.data.welcome}; path=/; max-age=31536000; SameSite=Strict`;
    return;
  }
  // A click beside the link of a table's cell counts too.
  const cell = path.some((each) => each.matches("a, button")) ? null : path.find((each) => each.matches("td, th"));
  const link = path.find((each) => each.matches(TERM)) ?? cell?.querySelector(TERM);
  if (!link || !document.getSelection().isCollapsed) return;
  stop(event);
  const term = new URL(link.href).searchParams.get("help");
  if (term === view.data.goTo) togglePalette(view);
  else openDrawer(view, { term });
}

const isOpen = (view) => view.drawer.open || view.palette.open;

// A dialog takes the focus and gives it back; the page under it hears no key.
function prepare(dialog, view) {
  const options = { signal: view.listening.signal };
  dialog.addEventListener("keydown", (event) => event.stopPropagation(), options);
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close(), options);
}

function open(dialog) {
  let before = document.activeElement;
  while (before?.shadowRoot?.activeElement) before = before.shadowRoot.activeElement;
  dialog.addEventListener("close", () => before?.isConnected && before.focus({ preventScroll: true }), { once: true });
  dialog.showModal();
}

// To the search of the page, else to that of Triage.
function toSearch(view) {
  if (!document.querySelector(view.data.search)) follow(addressOf(view, ""));
  whenThere(view, view.data.search, (field) => { field.focus(); field.select(); });
}

// Once an element is on the page; the last wish of a kind holds.
function whenThere(view, css, act) {
  view.watching?.disconnect();
  const look = () => {
    const found = document.querySelector(css);
    if (found) { view.watching?.disconnect(); act(found); }
    return Boolean(found);
  };
  if (look()) return;
  view.watching = new MutationObserver(look);
  view.watching.observe(document.body, { childList: true, subtree: true });
}

function element(tag, content = "", attributes = {}) {
  const made = document.createElement(tag);
  made.append(...[content].flat());
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
