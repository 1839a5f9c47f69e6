// Draws a strip of cells: one bar of ground for all of them, and a button for each that is marked. The data is
// JSON in UTF-8 (see `packed`). Foreign text enters the document through textContent and aria-label alone.
const strips = new WeakMap();
// Pixels: a pointer this close to a marked cell means that one.
const NEAR = 12;
const KINDS = ["cited", "gold", "retrieved", "fails", "fine"];

export default function ({ data, parentElement, setTriggerValue }) {
  if (!data || !data.length) return;
  const strip = strips.get(parentElement) ?? opened(parentElement);
  strip.send = setTriggerValue;
  show(strip, new TextDecoder().decode(data));
}

function opened(root) {
  const find = (name) => root.querySelector(name);
  const strip = {
    root, group: find(".strip"), track: find(".track"), words: find(".words"), buttons: new Map(), json: "", data: null,
  };
  strips.set(root, strip);
  strip.track.addEventListener("pointermove", (event) => say(strip, under(strip, event)));
  strip.track.addEventListener("pointerleave", () => say(strip, focused(strip)));
  strip.track.addEventListener("click", (event) => choose(strip, event));
  strip.track.addEventListener("keydown", (event) => move(strip, event));
  strip.track.addEventListener("focusin", (event) => { hold(strip, event.target); say(strip, focused(strip)); });
  strip.track.addEventListener("focusout", () => say(strip, null));
  return strip;
}

function show(strip, json) {
  if (json === strip.json) return;
  strip.json = json;
  strip.data = JSON.parse(json);
  const { cells, marks, name } = strip.data;
  strip.group.setAttribute("aria-label", name);
  strip.track.style.setProperty("--cells", cells);
  const wanted = new Map(marks.map((mark) => [mark.at, mark]));
  for (const [at, button] of strip.buttons) {
    if (!wanted.has(at)) { button.remove(); strip.buttons.delete(at); }
  }
  let before = strip.track.firstElementChild;
  for (const mark of marks) {
    const button = strip.buttons.get(mark.at) ?? made(strip, mark.at);
    if (before.nextElementSibling !== button) before.after(button);
    draw(button, mark);
    before = button;
  }
  const shown = marks.find((mark) => mark.shown) ?? marks[0];
  hold(strip, focusedButton(strip) ?? strip.buttons.get(shown?.at));
  say(strip, focused(strip));
}

// A cell's button is kept for as long as the cell is marked, and the focus with it.
function made(strip, at) {
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.at = at;
  for (const kind of KINDS) {
    const bar = document.createElement("span");
    bar.className = kind;
    button.append(bar);
  }
  strip.buttons.set(at, button);
  return button;
}

function draw(button, mark) {
  button.style.setProperty("--at", mark.at);
  button.setAttribute("aria-label", mark.words);
  if (mark.shown) button.setAttribute("aria-current", "page");
  else button.removeAttribute("aria-current");
  KINDS.forEach((kind, place) => {
    const bar = button.children[place];
    bar.hidden = !mark[kind];
    if (mark[kind]) bar.style.setProperty("--height", mark[kind]);
  });
}

// The cell at the pointer, or a marked one beside it.
function under(strip, event) {
  const { cells, marks } = strip.data;
  const place = strip.track.getBoundingClientRect();
  const width = place.width / cells;
  const x = event.clientX - place.left;
  const at = Math.min(cells - 1, Math.max(0, Math.floor(x / width)));
  const away = (mark) => Math.max(mark.at * width - x, x - (mark.at + 1) * width, 0);
  const near = marks.filter((mark) => away(mark) <= NEAR).sort((a, b) => away(a) - away(b))[0];
  return near ? near.at : at;
}

function say(strip, at) {
  const { marks, firsts, rest } = strip.data;
  const mark = marks.find((one) => one.at === at);
  if (mark) strip.words.textContent = mark.words;
  else if (at === null || !firsts.length) strip.words.textContent = rest;
  else strip.words.textContent = pages(firsts[at] + 1, firsts[at + 1], strip.data.labels);
}

// `p. 41 (PDF 42)`, `pp. 41–44 (PDF 42–45)`, or without printed numbers `PDF page 42`.
function pages(first, last, labels) {
  const [from, to] = [first, last].map((page) => page.toLocaleString("en"));
  const inPdf = first === last ? from : `${from}–${to}`;
  const printed = [labels[first - 1], labels[last - 1]];
  if (!printed.every((each) => each?.trim())) return first === last ? `PDF page ${inPdf}` : `PDF pages ${inPdf}`;
  return first === last ? `p. ${printed[0]} (PDF ${inPdf})` : `pp. ${printed.join("–")} (PDF ${inPdf})`;
}

function choose(strip, event) {
  const button = event.detail === 0 ? event.target.closest("button") : null;
  const at = button ? Number(button.dataset.at) : under(strip, event);
  const mark = strip.data.marks.find((one) => one.at === at);
  if (mark) strip.send("go", mark.go);
  else if (strip.data.jumps) strip.send("go", strip.data.firsts[at]);
}

const focusedButton = (strip) => [...strip.buttons.values()].find((button) => button === strip.root.activeElement
  || button.matches(":focus"));
const focused = (strip) => (focusedButton(strip) ? Number(focusedButton(strip).dataset.at) : null);

// One button is reached by Tab, the others by the arrow keys.
function hold(strip, held) {
  for (const button of strip.buttons.values()) button.tabIndex = button === held ? 0 : -1;
}

function move(strip, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const all = [...strip.track.querySelectorAll("button")];
  const here = all.indexOf(event.target);
  const to = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: all.length - 1 }[event.key];
  if (here < 0 || to === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  all[Math.min(Math.max(to, 0), all.length - 1)].focus();
}
