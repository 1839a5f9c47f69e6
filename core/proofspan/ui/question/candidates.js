// Draws the candidates of a stage and says which one was chosen. The data is JSON in UTF-8 (see `packed`).
// Foreign text enters the document through textContent and title alone.
const DRAG_PIXELS = 4;
const STEPS = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };
const views = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  if (!data || !data.length) return;
  const view = views.get(parentElement) ?? opened(parentElement);
  view.send = setTriggerValue;
  show(view, JSON.parse(new TextDecoder().decode(data)));
}

function opened(root) {
  const find = (name) => root.querySelector(name);
  const view = { root, frame: find(".frame"), head: find("thead tr"), body: find("table"), more: find(".more"), json: "" };
  views.set(root, view);
  view.body.addEventListener("pointerdown", (event) => { view.pressed = [event.clientX, event.clientY]; });
  view.body.addEventListener("click", (event) => choose(view, event));
  view.body.addEventListener("keydown", (event) => move(view, event));
  view.body.addEventListener("focusin", (event) => hold(view, event.target));
  view.more.addEventListener("click", () => showScores(view, !view.frame.classList.contains("all")));
  return view;
}

// The same rows keep their elements, and with them the focus: only what is chosen changes.
function show(view, { columns, rows, chosen, nothing }) {
  const json = JSON.stringify([columns, rows]);
  const isNew = json !== view.json;
  if (isNew) {
    view.json = json;
    const hadFocus = hasFocus(view);
    view.head.replaceChildren(...columns.map(headerCell));
    view.body.replaceChildren(view.head.parentElement, ...rows.map((row) => drawn(row, columns, nothing)));
    view.more.hidden = !rows.some((row) => row.besides);
    view.frame.scrollTop = 0;
    if (hadFocus) buttons(view)[0]?.focus();
  }
  for (const row of view.body.tBodies) {
    const isChosen = row.dataset.name === chosen;
    row.classList.toggle("chosen", isChosen);
    const button = row.querySelector("button");
    if (isChosen) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
  const held = view.body.querySelector(".chosen button") ?? buttons(view)[0];
  if (!hasFocus(view)) hold(view, held);
  if (isNew || chosen !== view.chosen) intoFrame(view, view.body.querySelector(".chosen"));
  view.chosen = chosen;
}

function headerCell({ name, title, help }) {
  const cell = element("th", name);
  cell.scope = "col";
  cell.textContent = title;
  if (help) cell.title = help;
  return cell;
}

// A group of rows: the cells, and below them the small print over their whole width.
function drawn(row, columns, nothing) {
  const [made, line] = [element("tbody"), element("tr")];
  Object.assign(made.dataset, { testid: "ps-candidate", name: row.name });
  line.append(...columns.map(({ name }) => cell(name, row, nothing)));
  made.append(line);
  if (row.besides) made.append(small(row.besides, columns.length));
  return made;
}

function cell(name, row, nothing) {
  const made = element("td", name);
  if (name === "chunk") made.append(text(row));
  else if (name === "marks") made.append(...row.marks.map(mark));
  else made.textContent = row[name] || nothing;
  if (name !== "marks" && !row[name]) made.classList.add("nothing");
  return made;
}

function text({ chunk, tip }) {
  const made = element("button");
  made.type = "button";
  made.textContent = chunk;
  made.title = tip;
  return made;
}

function small(words, columns) {
  const [made, all] = [element("tr", "besides"), element("td")];
  all.colSpan = columns;
  all.textContent = words;
  made.append(all);
  return made;
}

function mark([kind, words]) {
  const made = element("span", `${kind}-mark`);
  made.textContent = words;
  return made;
}

function element(tag, className = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  return made;
}

function showScores(view, isAll) {
  view.frame.classList.toggle("all", isAll);
  view.more.setAttribute("aria-pressed", String(isAll));
}

// A press that moved was meant to mark text.
function choose(view, event) {
  const row = event.target.closest("tbody");
  const [x, y] = view.pressed ?? [event.clientX, event.clientY];
  const isMoved = event.detail > 0 && Math.hypot(event.clientX - x, event.clientY - y) > DRAG_PIXELS;
  if (row && !isMoved) view.send("choose", row.dataset.name);
}

const hasFocus = (view) => view.body.contains(view.root.activeElement);
const buttons = (view) => [...view.body.querySelectorAll("button")];

// One of them is reached by Tab, the others by the arrow keys.
function hold(view, held) {
  for (const each of buttons(view)) each.tabIndex = each === held ? 0 : -1;
}

function move(view, event) {
  const step = STEPS[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const all = buttons(view);
  const here = all.indexOf(event.target);
  if (here < 0) return;
  event.preventDefault();
  const next = all[Math.min(Math.max(here + step, 0), all.length - 1)];
  next.focus({ preventScroll: true });
  intoFrame(view, next.closest("tbody"));
}

// Inside the frame only: scrollIntoView would move the whole page as well.
function intoFrame({ frame, head }, row) {
  if (!row) return;
  const top = row.offsetTop - head.offsetHeight;
  const bottom = row.offsetTop + row.offsetHeight - frame.clientHeight;
  if (frame.scrollTop > top) frame.scrollTop = top;
  else if (frame.scrollTop < bottom) frame.scrollTop = bottom;
}
