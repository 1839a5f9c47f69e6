// The drawer: the glossary, which can be searched, and the keys.
function openedDrawer(view) {
  view.drawer = view.find(".drawer");
  view.search = view.find(".drawer .field");
  view.entries = view.find(".entries");
  prepare(view.drawer, view);
  view.find(".close").onclick = () => view.drawer.close();
  view.drawer.addEventListener("close", () => { setParameter("help", null); view.term = null; });
  view.search.oninput = () => filterEntries(view);
  view.find("#terms").onkeydown = (event) => moveInTerms(view, event);
  for (const tab of tabs(view)) tab.onclick = () => chooseTab(view, tab.id);
  view.find("[role=tablist]").onkeydown = (event) => {
    if (!["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) return;
    const other = tabs(view).find((each) => each !== event.target);
    chooseTab(view, other.id);
    other.focus();
  };
}

const tabs = (view) => [...view.root.querySelectorAll("[role=tab]")];

function openDrawer(view, { term = "", tab = "tab-terms" } = {}) {
  if (!view.isDrawn) drawHelp(view);
  if (view.palette.open) view.palette.close();
  if (!view.drawer.open) {
    drawHere(view);
    open(view.drawer);
  }
  chooseTab(view, tab);
  if (term && term !== view.data.all) showTerm(view, term);
  else if (tab === "tab-terms") view.search.focus();
  else view.find(`#${tab}`).focus();
}

function chooseTab(view, chosen) {
  for (const tab of tabs(view)) {
    const isChosen = tab.id === chosen;
    tab.setAttribute("aria-selected", String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
    view.find(`#${tab.getAttribute("aria-controls")}`).hidden = !isChosen;
  }
}

function drawHelp(view) {
  view.isDrawn = true;
  const groups = Map.groupBy(view.data.entries, (entry) => entry.group);
  view.entries.replaceChildren(...[...groups].map(([group, entries]) =>
    element("section", [element("h3", group), element("dl", entries.map(drawnEntry))])));
  view.find("#keys").replaceChildren(...view.data.sheet.map(([place, keys]) =>
    element("section", [element("h3", place), element("dl", keys.map(drawnKeys))])));
  filterEntries(view);
}

// What the page uses is first: in figures, buttons and rows that open something else a term cannot be a link.
function drawHere(view) {
  const byTerm = new Map(view.data.entries.map((entry) => [entry.term, entry]));
  const here = [...termsOnPage()].map((term) => byTerm.get(term) ?? familyOf(view, term)).filter(Boolean);
  const unique = [...new Set(here)];
  const isAlone = (entry) => unique.every((other) => other === entry || other.name.toLowerCase() !== entry.name.toLowerCase());
  const links = unique.map((entry) => {
    const link = element("a", isAlone(entry) ? entry.name : `${entry.name} (${entry.group})`, { href: `./?help=${encodeURIComponent(entry.term)}`, title: entry.group });
    link.onclick = (event) => { stop(event); showTerm(view, entry.term); };
    return element("li", link);
  });
  view.entries.querySelector(".here")?.remove();
  if (links.length) view.entries.prepend(element("section", [element("h3", "On this page"), element("ul", links)], { class: "here" }));
}

const familyOf = (view, term) => view.data.entries.find((entry) => entry.term.endsWith("_") && term.startsWith(entry.term));

function drawnEntry(entry) {
  const link = element("a", "#", { class: "anchor", tabindex: "-1", href: `?help=${encodeURIComponent(entry.term)}`,
    "aria-label": `Link to ${entry.name}, ${entry.group}` });
  link.onclick = (event) => { stop(event); setParameter("help", entry.term); markTerm(link.closest(".entry")); };
  const code = entry.code ? [" ", element("code", entry.code)] : [];
  const drawn = element("div", [element("dt", [element("strong", entry.name), ...code, " ", link]),
    element("dd", entry.meaning)], { class: "entry", tabindex: "-1" });
  drawn.entry = entry;
  drawn.words = `${entry.name} ${entry.code} ${entry.group} ${entry.meaning}`.toLowerCase();
  return drawn;
}

// From the field into the list, and in it; Enter puts the link of an entry into the address.
function moveInTerms(view, event) {
  const shown = drawnEntries(view).filter((drawn) => !drawn.hidden);
  const here = shown.indexOf(event.target);
  if (event.key === "Enter" && here >= 0) return shown[here].querySelector(".anchor").click();
  const to = { ArrowDown: here + 1, ArrowUp: here - 1 }[event.key];
  if (to === undefined || (here < 0 && event.key === "ArrowUp")) return;
  event.preventDefault();
  (to < 0 ? view.search : shown[Math.min(to, shown.length - 1)])?.focus();
}

const drawnKeys = ([keys, does]) => element("div", [
  element("dt", keys.split(" ").flatMap((key) => [element("kbd", key), " "])), element("dd", does)], { class: "key" });

const drawnEntries = (view) => [...view.entries.querySelectorAll(".entry")];

function filterEntries(view) {
  const words = view.search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const drawn of drawnEntries(view)) {
    drawn.hidden = !words.every((word) => drawn.words.includes(word));
    count += !drawn.hidden;
  }
  for (const section of view.entries.children) {
    section.hidden = section.matches(".here") ? words.length > 0 : !section.querySelector(".entry:not([hidden])");
  }
  view.entries.scrollTop = 0;
  view.find(".drawer .status").textContent = count ? `${count} ${count === 1 ? "term" : "terms"}` : "No term has these words.";
}

// A term by its key, a member of a family of rules by its family, anything else by its words.
function showTerm(view, term) {
  const all = drawnEntries(view);
  const found = all.find(({ entry }) => entry.term === term)
    ?? all.find(({ entry }) => entry.term.endsWith("_") && term.startsWith(entry.term))
    ?? all.find(({ entry }) => entry.code === term || entry.name.toLowerCase() === term.toLowerCase());
  view.search.value = found ? "" : term;
  filterEntries(view);
  if (!found) return view.search.focus();
  markTerm(found);
  found.scrollIntoView({ block: "start" });
  found.focus({ preventScroll: true });
}

function markTerm(chosen) {
  for (const drawn of chosen.closest(".entries").querySelectorAll(".entry.chosen")) drawn.classList.remove("chosen");
  chosen.classList.add("chosen");
}
