// Draws a text with marks whose citations can be chosen, and says which one was. The data is JSON in UTF-8 (see
// `packed`). Foreign text enters the document through textContent, title and aria-label alone; tags and classes
// come from closed tables on the server.
const DRAG_PIXELS = 4;
const views = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  if (!data || !data.length) return;
  const view = views.get(parentElement) ?? opened(parentElement);
  view.send = setTriggerValue;
  show(view, JSON.parse(new TextDecoder().decode(data)));
}

function opened(root) {
  const view = { text: root.querySelector(".text"), json: "", chosen: null };
  views.set(root, view);
  view.text.addEventListener("pointerdown", (event) => { view.pressed = [event.clientX, event.clientY]; });
  view.text.addEventListener("click", (event) => choose(view, event));
  new ResizeObserver(() => letScroll(view)).observe(view.text);
  return view;
}

// The same text keeps its elements, and with them the focus: only what is chosen and the names change.
function show(view, data) {
  const json = JSON.stringify(data.pieces);
  const isNew = json !== view.json;
  if (isNew) {
    view.json = json;
    view.text.replaceChildren(...parts(data.pieces));
    view.text.scrollTop = 0;
  }
  view.text.className = `text ${data.size}`;
  view.text.setAttribute("aria-label", data.name);
  for (const button of view.text.querySelectorAll("button")) named(button, data);
  for (const mark of view.text.querySelectorAll("[data-cite]")) {
    mark.classList.toggle("chosen", mark.dataset.cite === String(data.chosen));
  }
  letScroll(view);
  if (isNew || data.chosen !== view.chosen) bringIntoSight(view);
  view.chosen = data.chosen;
}

// The pieces as elements. Brackets and stops stay with their number: no line ends inside "[1]".
function parts(pieces) {
  const rest = pieces.map((piece) => ({ ...piece }));
  return rest.map((piece, place) => {
    if (piece.number === null) return piece;
    const [before, after] = [rest[place - 1], rest[place + 1]];
    return { piece, opening: cutOff(before, /[(\[]+$/), closing: cutOff(after, /^[)\],.;:!?]+/) };
  }).flatMap((part) => (part.piece ? [heldTogether(part)] : part.text ? [drawn(part)] : []));
}

// Takes what is found off a piece of text that is no number, and returns it as a piece of its own.
function cutOff(piece, pattern) {
  const found = piece && piece.number === null ? piece.text.match(pattern)?.[0] : null;
  if (!found) return null;
  piece.text = piece.text.replace(pattern, "");
  return { ...piece, text: found };
}

function heldTogether({ piece, opening, closing }) {
  const held = document.createElement("span");
  held.className = "held";
  held.append(...[opening, piece, closing].filter(Boolean).map(drawn));
  return held;
}

function drawn({ tag, kind, text, tip, cite, number }) {
  const made = document.createElement(number === null ? tag : "button");
  made.textContent = text;
  if (kind !== "plain") made.className = `ps-${kind}`;
  if (tip) made.title = made.dataset.tip = tip;
  if (cite !== null) made.dataset.cite = cite;
  if (number !== null) {
    made.type = "button";
    made.dataset.number = number;
  }
  return made;
}

function named(button, { numbers, chosen }) {
  const { number } = button.dataset;
  const isChosen = number === String(chosen);
  button.setAttribute("aria-label", numbers[number]);
  button.title = button.dataset.tip ?? numbers[number];
  button.setAttribute("aria-pressed", String(isChosen));
  button.className = isChosen ? "ps-number-chosen" : "ps-number";
}

// A press on a number, by mouse or key, or with the mouse on the words that belong to one. A press that moved
// was meant to mark text.
function choose(view, event) {
  const part = event.target.closest("[data-number], [data-cite]");
  if (!part) return;
  const [x, y] = view.pressed ?? [event.clientX, event.clientY];
  const isMoved = event.detail > 0 && Math.hypot(event.clientX - x, event.clientY - y) > DRAG_PIXELS;
  if (!isMoved) view.send("choose", Number(part.dataset.number ?? part.dataset.cite));
}

// A text that scrolls is reached by Tab, so that the arrow keys can scroll it.
function letScroll({ text }) {
  const scrolls = text.scrollHeight > text.clientHeight + 1;
  text.toggleAttribute("tabindex", scrolls);
  if (scrolls) text.tabIndex = 0;
  if (scrolls) text.setAttribute("role", "group");
  else text.removeAttribute("role");
}

// Inside the text only: scrollIntoView would move the whole page as well.
function bringIntoSight({ text }) {
  const mark = text.querySelector(".chosen, [aria-pressed=true]");
  if (!mark) return;
  const frame = text.getBoundingClientRect();
  const place = mark.getBoundingClientRect();
  if (place.top >= frame.top && place.bottom <= frame.bottom) return;
  text.scrollTop += place.top - frame.top - text.clientHeight / 3;
}
