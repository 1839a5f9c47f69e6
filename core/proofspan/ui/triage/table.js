// Draws the Triage table, opens the row that was clicked and says by what to sort. The data is JSON in UTF-8 (see `packed`). Foreign
// text enters the document through textContent, title and an address whose parts come encoded.
const views = new WeakMap();
// What a narrow table shows below the label and below the question instead of in columns of its own.
const BELOW = { label: ["why"], question: ["stands_out", "section", "gold_rank", "cited", "numbers", "rules"] };
const TITLED = ["section", "gold_rank", "cited", "numbers", "rules"];
const NOTHING = "–";
const DRAG_PIXELS = 4;
// Pixels: a table up to the first stands there whole; of a longer one about the second is in sight.
const WHOLE = 546;
const IN_SIGHT = 495;
// So much of the last row is seen at least, and so much hidden.
const SEEN = 0.3;

export default function ({ data, parentElement, setTriggerValue }) {
  if (!data || !data.length) return;
  const view = views.get(parentElement) ?? opened(parentElement);
  view.send = setTriggerValue;
  show(view, new TextDecoder().decode(data));
}

function opened(root) {
  const find = (name) => root.querySelector(name);
  const view = {
    root, frame: find(".frame"), table: find("table"), head: find("thead tr"), body: find("tbody"), list: null, json: "",
  };
  views.set(root, view);
  new ResizeObserver(() => fit(view)).observe(view.table);
  view.head.addEventListener("click", (event) => sortBy(view, event));
  view.head.addEventListener("keydown", (event) => moveInHead(view, event));
  view.body.addEventListener("pointerdown", (event) => { view.pressed = [event.clientX, event.clientY]; });
  view.body.addEventListener("click", (event) => open(view, event));
  view.body.addEventListener("keydown", (event) => moveInRows(view, event));
  view.body.addEventListener("focusin", (event) => hold(links(view), event.target));
  return view;
}

function show(view, json) {
  if (json === view.json) return;
  view.json = json;
  const data = JSON.parse(json);
  const hadFocus = view.body.contains(view.root.activeElement);
  const held = links(view).find((one) => one.tabIndex === 0)?.getAttribute("href");
  showHead(view, data.columns);
  view.table.classList.toggle("unranked", !data.ranked);
  view.table.classList.toggle("unbroken", !data.broken);
  view.body.replaceChildren(...data.rows.map((row) => drawn(row, data)));
  if (data.list !== view.list) view.frame.scrollTop = 0;
  view.list = data.list;
  // What is found out meanwhile fills cells of the same list: the row that somebody is at stays theirs.
  const here = links(view).find((one) => one.getAttribute("href") === held) ?? links(view)[0];
  hold(links(view), here);
  if (hadFocus) here?.focus({ preventScroll: true });
}

// Ends the frame inside a row and never near its edge: a row that is cut says that there are more.
function fit(view) {
  const border = view.frame.offsetHeight - view.frame.clientHeight;
  const top = view.table.getBoundingClientRect().top - border;
  const isWhole = view.table.offsetHeight + border <= WHOLE;
  const ends = [...view.body.children].flatMap((row) => {
    const place = row.getBoundingClientRect();
    const at = (share) => place.top - top + share * place.height;
    return at(SEEN) <= IN_SIGHT ? [Math.min(IN_SIGHT, at(1 - SEEN))] : [];
  });
  view.frame.style.maxHeight = isWhole ? "" : `${Math.round(ends.at(-1) ?? IN_SIGHT)}px`;
}

// The header's cells are made once: a button keeps its focus when a click on it sorts.
function showHead(view, columns) {
  if (!view.head.children.length) {
    view.head.append(...columns.map(headerCell));
    hold(buttons(view), buttons(view)[0]);
  }
  columns.forEach((column, place) => {
    const cell = view.head.children[place];
    if (column.sorted) cell.setAttribute("aria-sort", column.sorted);
    else cell.removeAttribute("aria-sort");
    cell.querySelector(".arrow").textContent = column.arrow;
  });
}

function headerCell(column) {
  const cell = element("th", column.name);
  cell.scope = "col";
  const button = element("button");
  button.type = "button";
  button.dataset.column = column.name;
  if (column.help) button.title = column.help;
  const arrow = element("span", "arrow");
  arrow.ariaHidden = "true";
  button.append(column.title, arrow);
  cell.append(button);
  return cell;
}

function drawn(row, data) {
  const texts = Object.fromEntries(data.columns.map(({ name }, place) => [name, row[place]]));
  const made = element("tr");
  made.dataset.testid = "ps-row";
  for (const { name } of data.columns) {
    const cell = element("td", texts[name] === NOTHING ? `${name} nothing` : name);
    if (name === "label") cell.append(chip(texts.label, texts.why, data.colours), was(row.at(-2)));
    else if (name === "question") cell.append(link(texts.question, `${data.page}${row.at(-1)}&${data.list}`));
    else if (name === "stands_out") cell.append(clamped(texts[name]));
    else if (name === "rules") cell.append(texts[name], ...told(row.at(-3)));
    else cell.textContent = cell.title = texts[name];
    if (name === "rules") cell.title = row.at(-3);
    if (name in BELOW) cell.append(below(texts, data.columns, BELOW[name]));
    made.append(cell);
  }
  return made;
}

function clamped(text) {
  const made = element("span");
  made.textContent = made.title = text;
  return made;
}

function chip(label, why, colours) {
  const made = element("span", Object.hasOwn(colours, label) ? `chip ${colours[label]}` : "chip none");
  made.textContent = label;
  made.title = why;
  return made;
}

// What the eye gets from the title of a cell is read aloud with it.
function told(text) {
  if (!text) return [];
  const made = element("span", "aloud");
  made.textContent = `: ${text}`;
  return [made];
}

function was(text) {
  const made = element("div", "was");
  made.textContent = made.title = text;
  return made;
}

function link(question, address) {
  const made = element("a");
  made.href = address;
  made.draggable = false;
  made.textContent = made.title = question;
  return made;
}

function below(texts, columns, names) {
  const made = element("div", "below");
  for (const { name, title } of columns) {
    if (!names.includes(name) || !texts[name] || texts[name] === NOTHING) continue;
    const part = element("span", `in-${name}`);
    part.textContent = TITLED.includes(name) ? `${title} ${texts[name]}` : texts[name];
    made.append(part);
  }
  return made;
}

function element(tag, className = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  return made;
}

function sortBy(view, event) {
  const button = event.target.closest("button");
  if (button) view.send("sort", button.dataset.column);
}

// A plain click opens the question in place. With a modifier key the browser does what it does with a link,
// and a press that moved was meant to mark text.
function open(view, event) {
  const row = event.target.closest("tr");
  if (!row || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const [x, y] = view.pressed ?? [event.clientX, event.clientY];
  const isByKey = event.detail === 0;
  if (!isByKey && Math.hypot(event.clientX - x, event.clientY - y) > DRAG_PIXELS) return;
  follow(row.querySelector("a").getAttribute("href"));
}

const links = (view) => [...view.body.querySelectorAll("a")];
const buttons = (view) => [...view.head.querySelectorAll("button")];

// One of them is reached by Tab, the others by the arrow keys.
function hold(all, held) {
  for (const one of all) one.tabIndex = one === held ? 0 : -1;
}

function moveInHead(view, event) {
  const all = buttons(view);
  const here = all.indexOf(event.target.closest("button"));
  const shown = all.filter((button) => button.offsetParent);
  const to = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (here < 0 || !to) return;
  const next = shown[shown.indexOf(all[here]) + to];
  event.preventDefault();
  if (!next) return;
  hold(all, next);
  next.focus();
}

function moveInRows(view, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const all = links(view);
  const here = all.indexOf(event.target.closest("a"));
  const row = all[here]?.closest("tr");
  if (!row) return;
  const frame = view.frame.getBoundingClientRect();
  const isSeen = (one) => one.top >= frame.top && one.bottom <= frame.bottom;
  const inSight = Math.max(1, all.filter((one) => isSeen(one.closest("tr").getBoundingClientRect())).length);
  const to = {
    ArrowDown: here + 1, ArrowUp: here - 1, PageDown: here + inSight, PageUp: here - inSight,
    Home: 0, End: all.length - 1,
  }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const next = all[Math.min(Math.max(to, 0), all.length - 1)];
  next.focus({ preventScroll: true });
  next.closest("tr").scrollIntoView({ block: "nearest" });
}
