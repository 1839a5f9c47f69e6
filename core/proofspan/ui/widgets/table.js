// Draws a table whose cells or rows are links or can be chosen, and whose headers may sort. The data is JSON in UTF-8
// (see `packed`). Foreign text enters the document through textContent, title and aria-label; addresses are ours and
// come encoded.
const views = new WeakMap();
// How each cell was drawn, without what narrow windows show below it.
const looks = new WeakMap();
const DRAG_PIXELS = 4;
// A longer text is a sentence or a hash, which may wrap; a short one never does.
const [LONG, SHORT] = [24, 12];
const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
// A table that is only a little higher than its room, or has no more rows than this, is shown whole.
const WHOLE = 1.1;
const FEW = 6;
// The row or cell that led to another page is marked when the reader comes back.
const VISITED = "proofspan:visited";
// The rows that are chosen by their boxes, on all pages of a list (see `Ticks`).
const TICKED = "proofspan:ticked";

export default function ({ data, parentElement, setTriggerValue }) {
  if (!data || !data.length) return;
  const view = views.get(parentElement) ?? opened(parentElement);
  view.send = setTriggerValue;
  show(view, JSON.parse(new TextDecoder().decode(data)));
}

function opened(root) {
  const find = (name) => root.querySelector(name);
  const view = {
    root, frame: find(".frame"), table: find("table"), head: find("thead tr"), more: find(".more"), rest: find(".rest"),
    picked: find(".picked"), json: "", rows: "", isWhole: false,
  };
  views.set(root, view);
  view.table.addEventListener("pointerdown", (event) => { view.pressed = [event.clientX, event.clientY]; });
  view.table.addEventListener("click", (event) => clicked(view, event));
  view.table.addEventListener("mousedown", (event) => { if (event.shiftKey && event.target.closest(".tick")) event.preventDefault(); });
  view.table.addEventListener("keydown", (event) => move(view, event));
  view.table.addEventListener("focusin", (event) => hold(view, event.target));
  view.more.addEventListener("click", () => showDetails(view, !view.frame.classList.contains("all")));
  view.rest.addEventListener("click", () => showRest(view, !view.isWhole));
  find(".act").addEventListener("click", () => view.send("ticked", { keys: [...ticked(view)], acts: true }));
  find(".none").addEventListener("click", () => {
    keep(view, new Set());
    boxes(view).find((one) => one.tabIndex === 0)?.focus({ preventScroll: true });
  });
  new ResizeObserver(() => fit(view)).observe(view.table);
  new ResizeObserver(() => fit(view)).observe(view.frame);
  return view;
}

// The same cells keep their elements, and with them the focus; of others the same link, button or place has it.
function show(view, { chosen, of, ticks, ...data }) {
  view.ticks = ticks;
  data.withTicks = Boolean(ticks);
  const json = JSON.stringify(data);
  const isNew = json !== view.json;
  if (isNew) {
    const isFirst = !view.json;
    Object.assign(view, { json, data });
    draw(view, data);
    if (isFirst && data.fromEnd) view.frame.scrollLeft = view.frame.scrollWidth;
  }
  for (const row of view.table.tBodies) {
    const isChosen = chosen !== null && row.dataset.key === chosen;
    row.classList.toggle("chosen", isChosen);
    const button = row.querySelector("button");
    if (isChosen) button?.setAttribute("aria-current", "true");
    else button?.removeAttribute("aria-current");
    const visited = [...row.querySelectorAll("a")].find((link) => link.getAttribute("href") === sessionStorage.getItem(VISITED));
    row.classList.toggle("visited", Boolean(visited));
    if (visited && isNew && !view.table.contains(view.root.activeElement)) hold(view, visited);
  }
  showTicks(view);
  fit(view);
  const row = view.table.querySelector("tbody.chosen");
  if (row && !view.table.contains(view.root.activeElement)) hold(view, row.querySelector("button"));
  if (row && (isNew || chosen !== view.chosen)) intoFrame(view, row.querySelector("td, th"));
  view.chosen = chosen;
  if (of) view.root.host.dataset.of = of;
  const keys = ticks?.asks ? [...ticked(view)].sort() : [];
  if (ticks?.asks && String(keys) !== String([...ticks.known].sort()) && String(keys) !== view.sent) {
    view.sent = String(keys);  // once: the page may know better
    view.send("ticked", { keys, acts: false });
  }
}

function draw(view, data) {
  const active = view.table.contains(view.root.activeElement) ? view.root.activeElement : null;
  const held = active ?? targets(view).find((one) => one.tabIndex === 0);
  const [name, place] = [held && nameOf(held), held && placeOf(view, held)];
  const rows = JSON.stringify(data.rows.map((row) => row.key || Object.values(row.cells).find((cell) => cell.href)?.href));
  view.table.setAttribute("aria-label", data.table);
  view.frame.className = `frame ${data.layout}${data.tall ? " tall" : ""}${data.withTicks ? " ticks" : ""}`;
  view.frame.dataset.testid = data.layout === "list" ? "ps-rows" : "ps-grid";
  view.root.querySelector("style.columns")?.remove();
  if (data.layout === "list") view.root.append(columnStyles(data.columns));
  const all = data.withTicks ? [tickCell("th", "Choose all rows that are shown", "")] : [];
  view.head.replaceChildren(...all, ...data.columns.map((column) => header(column, data)));
  const bodies = data.rows.map((row) => drawn(row, data));
  if (rows === view.rows) bodies.forEach((body, place) => update(view.table.tBodies[place], body));
  else view.table.replaceChildren(view.head.parentElement, ...bodies);
  view.more.hidden = !data.rows.some((row) => row.details);
  view.more.textContent = data.more;
  if (rows !== view.rows) view.isWhole = false;
  view.rows = rows;
  const places = [...sorters(view), ...targets(view), ...boxes(view)];
  const next = held && (places.find((one) => nameOf(one) === name) ?? at(view, ...place));
  hold(view, sorters(view)[0]);
  hold(view, targets(view).find((one) => one.closest("tbody")) ?? targets(view)[0]);
  if (next) hold(view, next);
  if (active) (next ?? targets(view)[0])?.focus({ preventScroll: true });
}

const nameOf = (target) => target.getAttribute("href") ?? target.dataset.name;

// Shows the rows that have room, those that are chosen, visited or focused, and a button that shows the rest: only the page
// scrolls down. A frame that scrolls sideways can be scrolled by keys, also without a link. Details span the columns that
// are shown: a wider span would make columns of its own.
function fit(view) {
  const { frame, table, data, rest, root } = view;
  if (!data) return;
  const shown = [...view.head.children].filter((one) => one.offsetParent).length;
  for (const cell of table.querySelectorAll(".details td")) cell.colSpan = shown || view.head.children.length;
  const rows = [...table.tBodies];
  for (const row of rows) row.hidden = false;
  const isHigh = Boolean(data.height) && rows.length > FEW && table.offsetHeight > WHOLE * data.height;
  if (isHigh && !view.isWhole) {
    const end = table.getBoundingClientRect().top + data.height;
    const fits = Math.max(FEW, rows.findLastIndex((row) => row.getBoundingClientRect().bottom <= end) + 1);
    for (const row of rows.slice(fits)) row.hidden = !row.matches(".chosen, .visited, :focus-within");
  }
  rest.hidden = !isHigh;
  rest.textContent = view.isWhole ? "Show fewer" : `Show all ${rows.length.toLocaleString("en")}`;
  rest.setAttribute("aria-expanded", String(view.isWhole));
  // The height that the page reserved is one for the rows that have room.
  const place = root.host?.closest(".stElementContainer");
  if (place && data.height) Object.assign(place.style, { height: "auto", overflow: "visible" });
  if (frame.scrollWidth > frame.clientWidth + 1 && !targets(view).length) frame.tabIndex = 0;
  else frame.removeAttribute("tabindex");
}

function showRest(view, isWhole) {
  view.isWhole = isWhole;
  fit(view);
  if (!isWhole) view.rest.scrollIntoView({ block: "nearest" });
}

// Widths of a list's columns, and from which width on a column's text moves below that of another one.
function columnStyles(columns) {
  const made = element("style", "columns");
  const rules = columns.flatMap(({ name, width, narrow, folds, lines }) => [
    lines ? `.${name} { --lines: ${lines}; }` : "",
    width ? `.${name} { width: ${width}rem; }` : "",
    narrow ? `@container (max-width: 46rem) { .${name} { width: ${narrow}rem; } }` : "",
    folds ? `@container (max-width: ${folds.below}rem) { .${name} { display: none; } }
      @container (max-width: ${folds.shown ?? folds.below}rem) {
        .below { display: block; } .below > .in-${name} { display: ${lines ? "-webkit-box" : "inline-block"}; } }` : "",
  ]);
  made.textContent = rules.join("\n");
  return made;
}

function header(column, data) {
  const cell = element("th", `${column.align} ${column.name}`);
  cell.scope = "col";
  if (!column.sorts) return filled(cell, column.head, "span", { isFree: data.layout !== "list" });
  if (column.sorted) cell.setAttribute("aria-sort", column.sorted);
  filled(cell, column.head, "button");
  cell.querySelector("button").dataset.name = column.name;
  const arrow = element("span", "arrow", column.arrow ?? "");
  arrow.ariaHidden = "true";
  cell.querySelector("button").append(arrow);
  return cell;
}

// A group of rows: the cells, and below them the details over their whole width.
function drawn(row, data) {
  const [made, line] = [element("tbody"), element("tr")];
  if (row.key) made.dataset.key = row.key;
  if (data.layout === "list") made.dataset.testid = "ps-row";
  if (data.withTicks) line.append(tickCell("td", `Choose: ${Object.values(row.cells).find((cell) => cell.href)?.text ?? row.key}`, row.key));
  for (const [place, column] of data.columns.entries()) {
    const isHeader = data.layout !== "list" && place === 0;
    const box = element(isHeader ? "th" : "td", `${column.align} ${column.name}${column.lines ? " lines" : ""}`);
    if (isHeader) box.scope = "row";
    filled(box, row.cells[column.name], data.choose === column.name ? "button" : "span", { isFree: data.layout !== "list" });
    if (data.layout === "list" && !box.title) box.title = row.cells[column.name].text ?? "";
    looks.set(box, box.outerHTML);
    const folded = data.columns.filter(({ folds }) => folds?.into === column.name);
    if (folded.length) box.append(below(row, folded));
    line.append(box);
  }
  made.append(line);
  if (row.details) made.append(details(row));
  return made;
}

// A box that chooses a row, or in the header all that are shown.
function tickCell(tag, name, key) {
  const [cell, label, box] = [element(tag, "tick"), element("label"), element("input")];
  Object.assign(box, { type: "checkbox", ariaLabel: name, tabIndex: tag === "th" ? 0 : -1 });
  box.dataset.name = `tick:${key}`;
  label.append(box);
  cell.append(label);
  looks.set(cell, `tick ${key} ${name}`);
  return cell;
}

// Of the same rows, cells that did not change stay: words that are being marked in them stay marked.
function update(body, made) {
  const [line, left] = [body.rows[0], [...body.rows[0].cells]];
  for (const cell of [...made.rows[0].cells]) {
    const place = left.findIndex((one) => looks.get(one) === looks.get(cell));
    if (place < 0) line.insertBefore(cell, left[0] ?? null);
    else {
      const gone = left.splice(0, place + 1);
      const same = gone.pop();
      gone.forEach((one) => one.remove());
      same.querySelector(":scope > .below")?.remove();
      same.append(...cell.querySelectorAll(":scope > .below"));
    }
  }
  for (const one of [...left, ...[...body.rows].slice(1)]) one.remove();
  body.append(...[...made.rows].slice(1));
}

function details({ details: words, detailsTip }) {
  const [made, cell] = [element("tr", "details"), element("td", "", words)];
  if (detailsTip) cell.title = detailsTip;
  made.append(cell);
  return made;
}

function below(row, columns) {
  const made = element("div", "below");
  for (const { name, head, folds } of columns) {
    const { look, note, marks, chips = [], text = chips.map((chip) => chip.text).join(" ") } = row.cells[name];
    if (!text || look === "none") continue;
    const words = element("span", `in-${name} ${look ?? ""}`);
    if (folds.titled) words.append(element("span", "titled", head.text), "\u00a0");
    words.append(...marked(text, marks), note ? `, ${note}` : "");
    made.append(words);
  }
  return made;
}

// `spoken` is the name of a link; of other cells it is what is read aloud after the text. If true, it is the tip.
// Terms are links to the glossary in a cell that is free of others; elsewhere they are named for Help (see help.js).
function filled(box, { text = "", note, tip, look, tone, href, spoken, chips = [], marks, terms = [] }, tag, { isFree = false } = {}) {
  if (spoken === true) spoken = tip;
  const words = element(href === undefined ? tag : "a", "words");
  isFree &&= href === undefined;
  words.append(...(isFree && terms.length ? explained(text, terms) : marked(text, marks)));
  const named = isFree ? [] : [...terms.map(([, , term]) => term), ...chips.map(({ term }) => term)].filter(Boolean);
  if (named.length) box.dataset.term = named.join("|");
  if (tag === "button") words.type = "button";
  if (href !== undefined) {
    words.href = href;
    words.draggable = false;
    if (spoken) words.setAttribute("aria-label", spoken);
  } else if (spoken) words.append(element("span", "aloud", `: ${spoken}`));
  box.classList.toggle("long", text.length > LONG);
  box.classList.toggle("short", text.length <= SHORT);
  if (tip) box.title = tip;
  if (look) box.classList.add(look);
  if (tone !== undefined) {
    box.classList.add("tinted");
    box.style.setProperty("--tone", tone);
  }
  if (text || !chips.length) box.append(words);
  for (const chip of chips) {
    const made = isFree && chip.term ? explanation(chip.text, chip.term) : element("span", "", chip.text);
    made.className = `chip ${chip.look}`;
    if (chip.tip) made.title = chip.tip;
    box.append(made);
  }
  if (note) box.append(element("small", "", note));
  return box;
}

// Pieces of a text: ranges that differ from the evidence are marked.
function marked(text, marks = []) {
  const pieces = [];
  let at = 0;
  for (const [start, end] of marks) {
    pieces.push(text.slice(at, start), element("mark", "", text.slice(start, end)));
    at = end;
  }
  return [...pieces, text.slice(at)];
}

// Pieces of a text: words that are explained are links.
function explained(text, terms) {
  const pieces = [];
  let at = 0;
  for (const [start, end, term] of terms.filter(([start, end]) => start < end)) {
    pieces.push(text.slice(at, start), explanation(text.slice(start, end), term));
    at = end;
  }
  return [...pieces, text.slice(at)];
}

function explanation(words, term) {
  const link = element("a", "term", words);
  link.href = `./?help=${encodeURIComponent(term)}`;
  return link;
}

function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

function showDetails(view, isAll) {
  view.frame.classList.toggle("all", isAll);
  view.more.setAttribute("aria-pressed", String(isAll));
}

// A plain click opens a link in place; in a list the whole row is its link or its button. With a modifier key the
// browser does what it does with a link, and a press that moved was meant to mark text.
function clicked(view, event) {
  if (event.target.closest(".tick")) {
    ticking(view, event);
    return;
  }
  const sorter = event.target.closest("thead button");
  if (sorter) view.send("sort", sorter.dataset.name);
  const box = event.target.closest(view.data.layout === "list" ? "tbody" : "td, th");
  const target = box?.querySelector("a, tbody button");
  if (!target || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const [x, y] = view.pressed ?? [event.clientX, event.clientY];
  if (event.detail > 0 && Math.hypot(event.clientX - x, event.clientY - y) > DRAG_PIXELS) return;
  if (target.tagName === "A") {
    sessionStorage.setItem(VISITED, target.getAttribute("href"));
    follow(target.getAttribute("href"));
  } else view.send("choose", box.dataset.key);
}

// A press beside a box in its cell comes again as one of the box, without its modifier keys in some browsers.
function ticking(view, event) {
  if (event.target.tagName !== "INPUT") view.isRange = event.shiftKey;
  else {
    tick(view, event.target, event.target.checked, event.shiftKey || view.isRange);
    view.isRange = false;
  }
}

// Chooses a row or gives it up, with Shift all from the last one on; the header's box does so with all that are shown.
function tick(view, box, isTicked, isRange) {
  const all = boxes(view);
  const [last, place] = [all.indexOf(view.lastBox), all.indexOf(box)];
  const isOne = place >= 0 && !(isRange && last >= 0);
  const changed = place < 0 ? all : isOne ? [box] : all.slice(Math.min(last, place), Math.max(last, place) + 1);
  if (place >= 0) view.lastBox = box;
  const keys = ticked(view);
  for (const one of changed) keys[isTicked ? "add" : "delete"](keyOf(one));
  keep(view, keys);
}

const boxes = (view) => [...view.table.querySelectorAll("tbody .tick input")];
const keyOf = (box) => box.closest("tbody").dataset.key;

function ticked({ ticks }) {
  const kept = JSON.parse(sessionStorage.getItem(TICKED) ?? "{}");
  const isSame = kept.of === ticks.of && (!ticks.cleared || kept.cleared === ticks.cleared);
  return new Set(isSame ? kept.keys : []);
}

function keep(view, keys) {
  const { of, cleared } = view.ticks;
  sessionStorage.setItem(TICKED, JSON.stringify({ of, cleared, keys: [...keys] }));
  showTicks(view);
}

function showTicks({ head, picked, table, ticks }) {
  picked.hidden = !ticks;
  if (!ticks) return;
  const keys = ticked({ ticks });
  const all = boxes({ table });
  for (const box of all) {
    box.checked = keys.has(keyOf(box));
    box.closest("tbody").classList.toggle("ticked", box.checked);
  }
  const here = all.filter((box) => box.checked).length;
  const [whole, some] = [head.querySelector(".tick input"), picked.querySelector(".act")];
  Object.assign(whole, { checked: here > 0 && here === all.length, indeterminate: here > 0 && here < all.length });
  const elsewhere = keys.size - here;
  const words = `${keys.size.toLocaleString("en")} chosen${elsewhere ? `, ${elsewhere.toLocaleString("en")} not shown` : ""}`;
  picked.classList.toggle("some", keys.size > 0);
  picked.querySelector("span").textContent = keys.size ? words : ticks.hint;
  some.textContent = `${ticks.act} ${keys.size.toLocaleString("en")} …`;
  some.hidden = picked.querySelector(".none").hidden = !keys.size;
}

const sorters = (view) => [...view.head.querySelectorAll("button")];
const targets = (view) => [...view.table.querySelectorAll("a, tbody button")];
const lines = (view) => [view.head, ...[...view.table.tBodies].map((body) => body.rows[0])];
const at = (view, row, column) => lines(view)[row]?.children[column]?.querySelector("a, tbody button");

function placeOf(view, target) {
  const cell = target.closest("td, th");
  return [lines(view).indexOf(cell.parentElement), cell.cellIndex];
}

// One of the headers that sort, and one of the links or rows, is reached by Tab, the others by the arrow keys.
function hold(view, held) {
  const row = held?.closest("tbody");
  if (row && view.ticks) for (const box of boxes(view)) box.tabIndex = box.closest("tbody") === row ? 0 : -1;
  if (held?.type === "checkbox") held = row?.querySelector("a, tbody button");
  for (const group of [sorters(view), targets(view)]) {
    if (group.includes(held)) for (const one of group) one.tabIndex = one === held ? 0 : -1;
  }
}

function move(view, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const own = view.ticks && event.target.closest("tbody")?.querySelector(".tick input");
  if (event.key === " " && event.target === own) view.isRange = event.shiftKey;  // the browser presses it
  else if (own && event.key === " ") {
    event.preventDefault();
    tick(view, own, !own.checked, event.shiftKey);
    return;
  }
  if (event.shiftKey) return;
  if (own && Object.hasOwn(STEPS, event.key) && (event.target === own || event.key === "ArrowLeft")) {
    event.preventDefault();
    const [down, right] = STEPS[event.key];
    const next = right < 0 ? own : right ? own.closest("tbody").querySelector("a, tbody button") : boxes(view)[boxes(view).indexOf(own) + down];
    next?.focus({ preventScroll: true });
    if (next) intoFrame(view, next.closest("td"));
    return;
  }
  const target = event.target.closest("a, button");
  if (!target) return;
  const isSorter = sorters(view).includes(target);
  const next = isSorter ? nextSorter(view, target, event.key) : nextTarget(view, target, event.key);
  if (next === undefined) return;
  event.preventDefault();
  if (next?.closest("tbody")?.hidden) showRest(view, true);
  next?.focus({ preventScroll: true });
  if (next && !isSorter) intoFrame(view, next.closest("td, th"));
}

function nextSorter(view, sorter, key) {
  const shown = sorters(view).filter((one) => one.offsetParent);
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  return step && (shown[shown.indexOf(sorter) + step] ?? null);
}

// The next link that way, over cells without one; null without one, undefined for another key.
function nextTarget(view, target, key) {
  let [row, column] = placeOf(view, target);
  const inRow = [...lines(view)[row].querySelectorAll("a, button")];
  if (inRow.length > 1 && key === "Home") return inRow[0];
  if (inRow.length > 1 && key === "End") return inRow.at(-1);
  if (inRow.length === 1 || key.startsWith("Page")) {
    const inColumn = lines(view).map((_, line) => at(view, line, column)).filter(Boolean);
    const page = Math.max(1, inColumn.filter((one) => isInSight(one)).length);
    const step = { PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[key];
    if (step) return inColumn[Math.min(Math.max(inColumn.indexOf(target) + step, 0), inColumn.length - 1)];
  }
  if (!Object.hasOwn(STEPS, key)) return undefined;
  const [down, right] = STEPS[key];
  const inCell = [...target.closest("td, th").querySelectorAll("a, button")];
  const beside = right && inCell[inCell.indexOf(target) + right];
  if (beside) return beside;
  const [rows, columns] = [lines(view).length, view.head.children.length];
  for (;;) {
    [row, column] = [row + down, column + right];
    if (row < 0 || row >= rows || column < 0 || column >= columns) return null;
    const next = at(view, row, column);
    if (next) return next;
  }
}

function isInSight(target) {
  const { top, bottom } = target.closest("tr").getBoundingClientRect();
  return bottom > top && top >= 0 && bottom <= window.innerHeight;
}

// Beside a first column that stays in sight, and in the window.
function intoFrame({ frame, data }, cell) {
  if (!cell) return;
  const row = cell.parentElement;
  const left = cell.cellIndex && data.layout !== "list" ? row.firstElementChild.offsetWidth : 0;
  if (left && frame.scrollLeft > cell.offsetLeft - left) frame.scrollLeft = cell.offsetLeft - left;
  frame.scrollLeft = Math.max(frame.scrollLeft, cell.offsetLeft + cell.offsetWidth - frame.clientWidth);
  const place = cell.getBoundingClientRect();
  const isFocused = row.contains(cell.getRootNode().activeElement);
  if (isFocused && (place.top < 0 || place.bottom > window.innerHeight)) cell.scrollIntoView({ block: "nearest", inline: "nearest" });
}
