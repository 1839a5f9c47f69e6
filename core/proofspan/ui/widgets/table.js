// Draws a table of links and follows the one that was clicked. The data is JSON in UTF-8 (see `packed`). Foreign text
// enters the document through textContent, title and aria-label, addresses are ours and come encoded.
const views = new WeakMap();
const DRAG_PIXELS = 4;
// A longer text is a sentence, which may wrap.
const LONG = 30;
const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

export default function ({ data, parentElement }) {
  if (!data || !data.length) return;
  const view = views.get(parentElement) ?? opened(parentElement);
  show(view, new TextDecoder().decode(data));
}

function opened(root) {
  const find = (name) => root.querySelector(name);
  const view = { root, frame: find(".frame"), table: find("table"), head: find("thead tr"), body: find("tbody"), json: "" };
  views.set(root, view);
  view.table.addEventListener("pointerdown", (event) => { view.pressed = [event.clientX, event.clientY]; });
  view.table.addEventListener("click", (event) => open(view, event));
  view.table.addEventListener("keydown", (event) => move(view, event));
  view.table.addEventListener("focusin", (event) => hold(view, event.target));
  new ResizeObserver(() => reach(view)).observe(view.frame);
  return view;
}

// The same cells keep their elements, and with them the focus; of others the one at the same address has it.
function show(view, json) {
  if (json === view.json) return;
  const isFirst = !view.json;
  view.json = json;
  const data = JSON.parse(json);
  const had = view.table.contains(view.root.activeElement) ? view.root.activeElement : null;
  const [address, place] = [had?.getAttribute("href"), had && placeOf(view, had)];
  view.table.setAttribute("aria-label", data.grid);
  view.frame.classList.toggle("wide", data.wide);
  view.frame.style.maxHeight = data.height === null ? "" : `${data.height}px`;
  view.head.replaceChildren(corner(data.corner), ...data.columns.map((column) => header(column, "col", column.align)));
  view.body.replaceChildren(...data.rows.map((row) => drawn(row, data.columns)));
  const all = links(view);
  const next = had && (all.find((one) => one.getAttribute("href") === address) ?? at(view, ...place) ?? all[0]);
  hold(view, next ?? all[0]);
  next?.focus({ preventScroll: true });
  if (isFirst && data.fromEnd) view.frame.scrollLeft = view.frame.scrollWidth;
  reach(view);
}

// A frame that scrolls can be scrolled by keys, also where it holds no link.
function reach({ frame, table }) {
  const scrolls = frame.scrollWidth > frame.clientWidth + 1 || frame.scrollHeight > frame.clientHeight + 1;
  if (scrolls && !table.querySelector("a")) frame.tabIndex = 0;
  else frame.removeAttribute("tabindex");
}

function drawn(row, columns) {
  const made = element("tr");
  made.append(header(row.head, "row", "start"));
  row.cells.forEach((cell, place) => made.append(filled(element("td", columns[place].align), cell)));
  return made;
}

function corner(text) {
  const made = element("th", "start corner");
  made.scope = "col";
  made.textContent = text;
  return made;
}

function header(cell, scope, align) {
  const made = filled(element("th", align), cell);
  made.scope = scope;
  return made;
}

function filled(box, { text = "", note, tip, look, tone, href, spoken }) {
  const words = element(href === undefined ? "span" : "a", "words");
  words.textContent = text;
  if (href !== undefined) {
    words.href = href;
    words.draggable = false;
    if (spoken) words.setAttribute("aria-label", spoken);
  }
  if (text.length > LONG) box.classList.add("long");
  if (tip) box.title = tip;
  if (look) box.classList.add(look);
  if (tone !== undefined) {
    box.classList.add("tinted");
    box.style.setProperty("--tone", tone);
  }
  box.append(words);
  if (note) {
    const small = element("small");
    small.textContent = note;
    box.append(small);
  }
  return box;
}

function element(tag, className = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  return made;
}

// A plain click goes there in place. With a modifier key the browser does what it does with a link, and a press
// that moved was meant to mark text.
function open(view, event) {
  const link = event.target.closest("td, th")?.querySelector("a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const [x, y] = view.pressed ?? [event.clientX, event.clientY];
  if (event.detail > 0 && Math.hypot(event.clientX - x, event.clientY - y) > DRAG_PIXELS) return;
  follow(link.getAttribute("href"));
}

const links = (view) => [...view.table.querySelectorAll("a")];
const lines = (view) => [view.head, ...view.body.children];
const at = (view, row, column) => lines(view)[row]?.children[column]?.querySelector("a");

function placeOf(view, link) {
  const cell = link.closest("td, th");
  return [lines(view).indexOf(cell.parentElement), cell.cellIndex];
}

// One of them is reached by Tab, the others by the arrow keys.
function hold(view, held) {
  if (held?.tagName === "A") for (const one of links(view)) one.tabIndex = one === held ? 0 : -1;
}

function move(view, event) {
  const link = event.target.closest("a");
  if (!link || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const next = wanted(view, link, event.key);
  if (next === undefined) return;
  event.preventDefault();
  next?.focus({ preventScroll: true });
  if (next) intoFrame(view, next.closest("td, th"));
}

// The next link that way, over cells that are none; null where there is none, undefined for another key.
function wanted(view, link, key) {
  let [row, column] = placeOf(view, link);
  const inRow = [...lines(view)[row].querySelectorAll("a")];
  if (key === "Home") return inRow[0];
  if (key === "End") return inRow.at(-1);
  if (!Object.hasOwn(STEPS, key)) return undefined;
  const [down, right] = STEPS[key];
  const [rows, columns] = [lines(view).length, view.head.children.length];
  for (;;) {
    [row, column] = [row + down, column + right];
    if (row < 0 || row >= rows || column < 0 || column >= columns) return null;
    const found = at(view, row, column);
    if (found) return found;
  }
}

// Below the header and beside the first column, which stay in sight.
function intoFrame({ frame, head }, cell) {
  const left = cell.cellIndex ? cell.parentElement.firstElementChild.offsetWidth : 0;
  const top = cell.parentElement === head ? 0 : head.offsetHeight;
  if (left && frame.scrollLeft > cell.offsetLeft - left) frame.scrollLeft = cell.offsetLeft - left;
  frame.scrollLeft = Math.max(frame.scrollLeft, cell.offsetLeft + cell.offsetWidth - frame.clientWidth);
  if (top && frame.scrollTop > cell.offsetTop - top) frame.scrollTop = cell.offsetTop - top;
  frame.scrollTop = Math.max(frame.scrollTop, cell.offsetTop + cell.offsetHeight - frame.clientHeight);
  const place = cell.getBoundingClientRect();
  if (place.top < 0 || place.bottom > window.innerHeight) cell.scrollIntoView({ block: "nearest", inline: "nearest" });
}
