// The palette: pages, runs, documents and actions are here, questions are found by the server (search.js).
const WAIT_MS = 120;
const AGAIN_MS = 1500;
const MOST = 20;
const MOST_TERMS = 5;

function openedPalette(view) {
  view.palette = view.find(".palette");
  view.field = view.find(".palette .field");
  view.hits = view.find(".hits");
  view.wire = (window[Symbol.for("proofspan.palette")] ??= {});
  view.wire.take = (answer) => answered(view, answer);
  prepare(view.palette, view);
  view.palette.addEventListener("close", () => settle(view));
  view.field.oninput = () => typed(view);
  view.field.onkeydown = (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) { event.preventDefault(); step(view, by); }
    if (event.key === "Enter" && !event.isComposing) { event.preventDefault(); enter(view); }
  };
}

function togglePalette(view) {
  if (view.palette.open) return view.palette.close();
  if (view.drawer.open) view.drawer.close();
  open(view.palette);
  view.field.value = "";
  typed(view);
  view.field.focus();
}

function typed(view) {
  settle(view);
  Object.assign(view, { questions: [], active: null, isEntered: false });
  const words = view.field.value.trim();
  if (words) {
    view.pending = true;
    view.timer = setTimeout(() => ask(view, { words }), WAIT_MS);
  }
  drawHits(view);
}

// Sent again while it is not answered: a request from a page that was just left gets lost.
function ask(view, request) {
  view.number += 1;
  const send = () => {
    view.wire.ask?.({ number: view.number, ...request });
    view.timer = setTimeout(send, AGAIN_MS);
  };
  send();
}

function settle(view) {
  clearTimeout(view.timer);
  view.number += 1;
  view.pending = false;
}

function answered(view, answer) {
  if (answer.number !== view.number || !view.palette.open) return;
  settle(view);
  if (answer.go) return goTo(view, answer.go);
  view.questions = answer.questions.map(({ name, note, address }) =>
    ({ group: "Questions", name, note, act: () => goTo(view, address) }));
  drawHits(view, answer.note);
  if (view.isEntered && view.shown.length) choose(view, view.shown[0]);
}

function items(view) {
  const { pages, runs, documents, entries } = view.data;
  const here = window.location.pathname.split("/").pop();
  const to = (group, name, note, address) => ({ group, name, note, act: () => goTo(view, address) });
  const current = new URL(window.location.href).searchParams;
  const place = here === "question" ? Object.fromEntries(["q", "p", "s"].map((name) => [name, current.get(name)])) : {};
  const words = view.field.value.trim();
  return [
    ...pages.map(([path, title]) => to("Pages", title, "", addressOf(view, path))),
    ...runs.map(([run, title]) => to("Runs", run, title, addressOf(view, here, { ...place, run }))),
    ...documents.map(([doc, title]) => to("Documents", title, "answers that cite it", addressOf(view, "", { doc }))),
    ...actions(view),
    ...(words.length > 1 ? entries : []).map((entry) => ({ group: "Glossary", name: entry.name, note: entry.group,
      also: entry.code, act: () => openDrawer(view, { term: entry.term }) })),
  ];
}

function actions(view) {
  const does = (name, act, note = "") => ({ group: "Actions", name, note, act });
  const [now, other] = isDark() ? ["Dark", "Light"] : ["Light", "Dark"];
  return [
    does("Next failing question", () => ask(view, { failure: true })),
    does("Copy link to this page", () => copyAddress(view)),
    does("Search questions and answers", () => { view.palette.close(); toSearch(view); }, view.data.keys.search),
    does("Open help", () => openDrawer(view), view.data.keys.help),
    does("Show keys", () => openDrawer(view, { tab: "tab-keys" })),
    does(`Use the ${other.toLowerCase()} theme`, () => useTheme(view, other), `now ${now.toLowerCase()}; loads the page again`),
    ...(view.data.tour.length ? [does("Start the 60-second tour", () => goTo(view, view.data.tour[0].address))] : []),
  ];
}

// Words of the beginning of a name come first, then any; a group keeps its order.
function found(view) {
  const words = view.field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const all = items(view);
  if (!words.length) return all.filter((item) => item.group !== "Documents");
  const matching = all.filter((item) => {
    const text = `${item.name} ${item.group === "Glossary" ? item.also : item.note}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const places = matching.filter((item) => item.group !== "Glossary").slice(0, MOST);
  return [...places, ...view.questions, ...matching.filter((item) => item.group === "Glossary").slice(0, MOST_TERMS)];
}

function drawHits(view, note = "") {
  view.shown = found(view);
  const groups = Map.groupBy(view.shown, (item) => item.group);
  let number = 0;
  view.hits.replaceChildren(...[...groups].map(([group, some]) => {
    const title = element("div", group, { class: "group", id: `group-${group}`, role: "presentation" });
    const options = some.map((item) => {
      item.drawn = element("div", [element("span", item.name, { class: "name" }), element("span", item.note, { class: "note" })],
        { role: "option", id: `hit-${number++}` });
      item.drawn.onclick = () => choose(view, item);
      item.drawn.onpointermove = () => mark(view, item);
      return item.drawn;
    });
    return element("div", [title, ...options], { role: "group", "aria-labelledby": title.id });
  }));
  view.hits.hidden = !view.shown.length;
  view.field.setAttribute("aria-expanded", String(Boolean(view.shown.length)));
  mark(view, view.shown.find((item) => item.name === view.active) ?? view.shown[0]);
  const questions = view.pending ? "Looking for questions …" : note;
  view.find(".palette .status").textContent = questions || (view.shown.length ? "" : "Nothing has these words.");
}

function mark(view, item) {
  for (const each of view.shown) each.drawn.setAttribute("aria-selected", String(each === item));
  view.marked = item;
  if (item) view.field.setAttribute("aria-activedescendant", item.drawn.id);
  else view.field.removeAttribute("aria-activedescendant");
}

function step(view, by) {
  if (!view.shown.length) return;
  const { length } = view.shown;
  mark(view, view.shown[(view.shown.indexOf(view.marked) + by + length) % length]);
  view.active = view.marked.name;
  view.marked.drawn.scrollIntoView({ block: "nearest" });
}

// A question that is still being looked for is opened once it is found.
function enter(view) {
  if (view.marked) choose(view, view.marked);
  else view.isEntered = view.pending;
}

function choose(view, item) {
  settle(view);
  item.act();
}

function goTo(view, address) {
  view.palette.close();
  follow(address);
}

async function copyAddress(view) {
  const status = view.find(".palette .status");
  try {
    await navigator.clipboard.writeText(window.location.href);
    status.textContent = "Link copied";
  } catch {
    status.textContent = "The browser refused to copy";
  }
}

const isDark = () => getComputedStyle(document.querySelector(".stApp")).colorScheme.includes("dark");

// As Streamlit keeps the choice of its own menu, which it makes for each path.
function useTheme(view, name) {
  for (const [path] of view.data.pages) {
    const { pathname } = new URL(`./${path}`, document.baseURI);
    window.localStorage.setItem(`stActiveTheme-${pathname}-v2`, JSON.stringify(name));
  }
  window.location.reload();
}
