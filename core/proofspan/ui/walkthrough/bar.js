// The way through a walkthrough: real buttons, and keys wherever the focus is. What is wanted is always sent whole
// and absolute (slide, citation, presenting) with a running number: of presses that arrive while the page is
// still at work the last one holds, so that none is lost and none counts twice.
const views = new WeakMap();
// Where keys belong to what has the focus.
const FIELDS = "input, textarea, select, [contenteditable], [role=listbox], [role=combobox], [role=radiogroup], [role=menu]";
const OPEN_FIELDS = "[data-testid=stPopoverBody], [role=dialog]";
// Keys that a slider uses itself.
const SLIDES = /^(Arrow|Page|Home|End)/;
const STEPS = { ArrowLeft: -1, ArrowRight: 1 };
const CHOICES = { ArrowUp: -1, ArrowDown: 1 };

export default function ({ data, parentElement, setTriggerValue }) {
  if (!data || !data.length) return;
  const view = views.get(parentElement) ?? opened(parentElement);
  view.send = setTriggerValue;
  show(view, JSON.parse(new TextDecoder().decode(data)));
  return () => closed(parentElement, view);
}

function opened(root) {
  const find = (name) => root.querySelector(`.${name}`);
  const view = {
    document: find("document"), place: find("place"), spoken: find("spoken"), previous: find("previous"), next: find("next"), present: find("present"),
    dots: find("dots"), slider: find("slider"), count: find("count"), notes: find("notes"),
    shown: null, wanted: null, presses: 0, channel: new BroadcastChannel(`proofspan-notes-${presentation()}`),
  };
  view.channel.onmessage = ({ data }) => heard(view, data);
  view.slider.oninput = () => { view.count.textContent = counted(view, Number(view.slider.value)); };
  view.slider.onchange = () => goTo(view, Number(view.slider.value));
  view.onkey = (event) => pressed(view, event);
  view.onfull = () => leftFullscreen(view);
  view.previous.onclick = () => step(view, -1);
  view.next.onclick = () => step(view, 1);
  view.present.onclick = () => togglePresenting(view);
  document.addEventListener("keydown", view.onkey);
  document.addEventListener("fullscreenchange", view.onfull);
  views.set(root, view);
  return view;
}

function closed(root, view) {
  views.delete(root);
  clearTimeout(view.again);
  view.channel.close();
  document.removeEventListener("keydown", view.onkey);
  document.removeEventListener("fullscreenchange", view.onfull);
}

// A page that answers an earlier press than the last one changes nothing of what is wanted. Presses belong to their list:
// those that another one has not answered are forgotten.
function show(view, data) {
  if (!view.shown || listOf(data) !== listOf(view.shown)) {
    clearTimeout(view.again);
    view.presses = data.presses;
  }
  view.shown = data;
  if (data.presses >= view.presses) view.wanted = { to: data.slide, cite: data.cite, present: data.present };
  view.document.textContent = view.document.title = data.document;
  view.place.textContent = data.place;
  view.place.title = data.tip;
  view.spoken.textContent = data.spoken;
  view.present.querySelector(".word").textContent = data.present ? "Exit" : "Present";
  view.present.querySelector("kbd").textContent = data.present ? "Esc" : "F";
  view.present.title = data.present ? "Leave the presentation (Esc)" : "Present in full screen (P or F)";
  drawDots(view);
  mark(view);
  sendNotes(view);
}

const listOf = ({ total, titles }) => [total, ...titles].join("\n");

function mark(view) {
  const { to } = view.wanted;
  view.previous.setAttribute("aria-disabled", String(to <= 0));
  view.next.setAttribute("aria-disabled", String(to >= view.shown.total - 1));
  [...view.dots.children].forEach((dot, place) => dot.setAttribute("aria-current", String(place === to)));
  view.slider.value = to;
  view.slider.setAttribute("aria-valuetext", counted(view, to));
  view.count.textContent = counted(view, to);
  view.notes.href = notesAddress();
}

// Questions are counted, not slides: the title and the end are named.
function counted(view, slide) {
  const questions = view.shown.total - 2;
  if (slide < 0) return "";
  return slide === 0 ? "Title" : slide > questions ? "End" : `${slide.toLocaleString("en")} / ${questions.toLocaleString("en")}`;
}

function drawDots(view) {
  const { titles, total } = view.shown;
  view.slider.hidden = titles.length > 0;
  view.slider.max = total - 1;
  if (titles.join("\n") === view.titles) return;
  view.titles = titles.join("\n");
  view.dots.replaceChildren(...titles.map((title, place) => {
    const dot = Object.assign(document.createElement("button"), { type: "button", className: "dot", title });
    dot.setAttribute("aria-label", title);
    dot.onclick = () => goTo(view, place);
    return dot;
  }));
}

function act(view, change) {
  view.wanted = { ...view.wanted, ...change };
  view.presses += 1;
  mark(view);
  send(view);
}

// Sent again while it is not answered: a request that comes just when a run ends may get lost.
function send(view) {
  view.send("act", { ...view.wanted, presses: view.presses });
  clearTimeout(view.again);
  view.again = setTimeout(() => view.shown.presses < view.presses && send(view), AGAIN_MS);
}
const AGAIN_MS = 1500;

function goTo(view, place) {
  const to = Math.max(0, Math.min(place, view.shown.total - 1));
  if (view.shown.total && to !== view.wanted.to) act(view, { to, cite: null });
}

// From a question that is not in the list both ways lead into it.
function step(view, by) {
  goTo(view, view.wanted.to < 0 ? 0 : view.wanted.to + by);
}

// Only of the bundle that is there: while another one is on its way its citations are not known.
function choose(view, by) {
  const { cites, slide } = view.shown;
  if (!cites.length || view.wanted.to !== slide) return;
  const here = cites.indexOf(view.wanted.cite);
  const there = Math.max(0, Math.min(here + by, cites.length - 1));
  if (there !== here) act(view, { cite: cites[there] });
}

function chooseNumber(view, number) {
  if (view.wanted.to !== view.shown.slide || !view.shown.cites.includes(number)) return;
  if (number !== view.wanted.cite) act(view, { cite: number });
}

// The browser grants the full screen to the very press; where it refuses, the page alone is enlarged.
function togglePresenting(view) {
  const present = !view.wanted.present;
  if (present) document.documentElement.requestFullscreen?.().catch(() => {});
  else if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
  act(view, { present });
}

function leftFullscreen(view) {
  if (!document.fullscreenElement && view.wanted?.present) act(view, { present: false });
}

function pressed(view, event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const path = event.composedPath().filter((each) => each instanceof Element);
  const isSlider = path[0] === view.slider;
  if (isSlider ? SLIDES.test(event.key) : path.some((each) => each.matches(FIELDS) || each.matches(OPEN_FIELDS))) return;
  const run = meaning(view, event.key, path);
  if (!run) return;
  event.preventDefault();
  run();
}

function meaning(view, key, path) {
  if (key in STEPS) return () => step(view, STEPS[key]);
  if (key === "Home") return () => goTo(view, 0);
  if (key === "End") return () => goTo(view, view.shown.total - 1);
  if (key in CHOICES) return path.some(scrolls) ? null : () => choose(view, CHOICES[key]);
  if (/^[1-9]$/.test(key)) return () => chooseNumber(view, Number(key));
  if (["p", "f"].includes(key.toLowerCase())) return () => togglePresenting(view);
  if (key === "Escape" && view.wanted.present && !document.fullscreenElement) return () => togglePresenting(view);
  return null;
}

// Up and down belong to a frame that has the focus and more text than room.
function scrolls(element) {
  if (element === document.body || element === document.documentElement || element.scrollHeight <= element.clientHeight) {
    return false;
  }
  return element.tabIndex >= 0 && /auto|scroll/.test(getComputedStyle(element).overflowY);
}

// The window of the speaker's notes follows by messages within this browser. The id of the presentation is this
// tab's, so that two presentations do not mix, and outlives a reload.
const ID = "proofspan-presentation";

function presentation() {
  if (!sessionStorage[ID]) sessionStorage[ID] = Array.from(crypto.getRandomValues(new Uint32Array(3)), (each) => each.toString(36)).join("");
  return sessionStorage[ID];
}

function notesAddress() {
  const address = new URL(window.location.href);
  for (const name of ["q", "p", "s", "cite", "chunk", "page", "end", "present"]) address.searchParams.delete(name);
  address.searchParams.set("speaker", presentation());
  return address.href;
}

function sendNotes(view) {
  const { slide, total, speaker } = view.shown;
  view.channel.postMessage({ slide, total, count: counted(view, slide), ...speaker });
}

function heard(view, message) {
  if (!view.shown) return;
  if (message.asks) sendNotes(view);
  else if (message.step === 1 || message.step === -1) step(view, message.step);
}
