// The playlists that this browser keeps for a workspace: names with the questions in their order. What is stored may be
// anything: only texts of a bounded length are read, they enter the document through textContent, and the address that
// opens a list is made by URLSearchParams.
const PLACE = "proofspan:playlists:";
const views = new WeakMap();

export default function ({ data, parentElement }) {
  if (!data) return;
  const find = (css) => parentElement.querySelector(css);
  const view = views.get(parentElement) ?? { root: parentElement, list: find(".kept"), words: find(".words"), naming: null, before: null };
  views.set(parentElement, view);
  view.data = data;
  const changed = (event) => (event.key === null || event.key === placeOf(view)) && draw(view);
  window.addEventListener("storage", changed);
  draw(view);
  return () => window.removeEventListener("storage", changed);
}

const placeOf = ({ data }) => PLACE + data.workspace;
const isText = (value, most) => typeof value === "string" && value.length > 0 && value.length <= most;

function isList(each, data) {
  const { name, ids } = each ?? {};
  return isText(name, data.mostChars) && Array.isArray(ids) && ids.length > 0 && ids.length <= data.mostIds
    && ids.every((id) => isText(id, data.mostIdChars));
}

function read(view) {
  try {
    const found = JSON.parse(window.localStorage.getItem(placeOf(view)));
    return Array.isArray(found) ? found.filter((each) => isList(each, view.data)).slice(0, view.data.most) : [];
  } catch {
    return [];
  }
}

// `words` say what was done; with `canUndo` they can be taken back.
function write(view, lists, words, { canUndo = false } = {}) {
  const before = read(view);
  try {
    window.localStorage.setItem(placeOf(view), JSON.stringify(lists));
  } catch {
    say(view, "This browser keeps nothing for this address.");
    return;
  }
  view.naming = null;
  draw(view);
  say(view, words, canUndo ? before : null);
}

function say(view, words, before = null) {
  view.words.replaceChildren(words);
  if (!before) return;
  const undo = button("Undo", "", () => {
    write(view, before, "Undone.");
    view.list.querySelector("a, button")?.focus();
  });
  view.words.append(" ", undo);
}

function draw(view) {
  const lists = read(view);
  const held = view.root.getRootNode().activeElement?.dataset?.place;
  const rows = lists.map((each, place) => (view.naming === place ? naming(view, each.name, (name) => rename(view, place, name)) : row(view, each, place)));
  if (!lists.length) rows.push(element("p", "none", "No playlist is saved yet. Saved ones stay in this browser; Copy link shares the one that is shown."));
  rows.push(saving(view, lists));
  view.list.replaceChildren(...rows.filter(Boolean));
  if (held) [...view.list.querySelectorAll("[data-place]")].find((each) => each.dataset.place === held)?.focus();
}

function row(view, { name, ids }, place) {
  const made = element("div", "row");
  const link = element("a", "name", name);
  link.href = addressOf(view, name, ids);
  link.title = name;
  link.onclick = (event) => opened(event, link);
  if (isShown(view, ids)) link.setAttribute("aria-current", "true");
  const count = element("span", "count", `${ids.length} question${ids.length === 1 ? "" : "s"}`);
  const rename = button("Rename", `Rename: ${name}`, () => begin(view, place));
  const remove = button("×", `Remove: ${name}`, () => {
    write(view, read(view).filter((_, at) => at !== place), `Removed "${name}".`, { canUndo: true });
    view.words.querySelector("button")?.focus();
  });
  for (const [act, each] of [["open", link], ["rename", rename], ["remove", remove]]) each.dataset.place = `${act}:${place}`;
  made.append(link, count, rename, remove);
  return made;
}

function opened(event, link) {
  if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  follow(link.getAttribute("href"));
}

const isShown = (view, ids) => JSON.stringify(ids) === JSON.stringify(view.data.ids);

function addressOf(view, name, ids) {
  const [path, asked] = view.data.address.split("?");
  const params = new URLSearchParams(asked);
  for (const id of ids) params.append("ids", id);
  params.set("name", name);
  return `${path}?${params}`;
}

// The list that is shown is saved under its name, or under one that is asked for.
function saving(view, lists) {
  const { name, ids, most } = view.data;
  if (!ids.length || lists.some((each) => isShown(view, each.ids) && (!name || each.name === name))) return null;
  if (view.naming === "new") return naming(view, "", (given) => save(view, given));
  if (lists.length >= most) return element("p", "none", `${most} playlists are saved; remove one to save another.`);
  const made = button("Save this playlist", "", () => (name ? save(view, name) : begin(view, "new")));
  made.dataset.place = "save";
  return made;
}

function begin(view, place) {
  view.naming = place;
  draw(view);
  view.list.querySelector("input")?.select();
}

function naming(view, value, done) {
  const made = element("form", "row");
  const field = Object.assign(element("input"), { value, maxLength: view.data.mostChars, required: true, placeholder: "Name of this playlist …" });
  field.setAttribute("aria-label", "Name of the playlist");
  const end = () => { view.naming = null; draw(view); view.list.querySelector("a, button")?.focus(); };
  made.onsubmit = (event) => {
    event.preventDefault();
    if (field.value.trim()) done(field.value.trim());
  };
  made.onkeydown = (event) => {
    event.stopPropagation();
    if (event.key === "Escape") end();
  };
  made.append(field, Object.assign(button("Save", ""), { type: "submit" }), button("Cancel", "", end));
  return made;
}

function save(view, name) {
  const lists = read(view);
  const others = lists.filter((each) => each.name !== name);
  const isReplaced = others.length < lists.length;
  write(view, [...others, { name, ids: view.data.ids }], `${isReplaced ? "Replaced" : "Saved"} "${name}".`, { canUndo: isReplaced });
  [...view.list.querySelectorAll("a")].at(-1)?.focus();
}

function rename(view, place, name) {
  const lists = read(view);
  if (lists.some((each, at) => at !== place && each.name === name)) {
    say(view, `There is a playlist "${name}" already.`);
    return;
  }
  write(view, lists.map((each, at) => (at === place ? { ...each, name } : each)), `Renamed to "${name}".`);
  view.list.querySelectorAll("a")[place]?.focus();
}

function button(words, spoken, act = null) {
  const made = Object.assign(element("button", "", words), { type: "button", onclick: act });
  if (spoken) made.setAttribute("aria-label", spoken);
  if (spoken) made.title = spoken;
  return made;
}

function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}
