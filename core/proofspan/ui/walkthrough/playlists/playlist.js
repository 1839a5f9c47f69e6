// The questions of a playlist in their order. A move is drawn at once and sent as the names in their new order, with a
// running number: an answer to an earlier move than the last one draws nothing. On a row's buttons Alt and an arrow move it too, and Delete removes it. Foreign text enters through textContent alone.
const views = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  if (!data || !data.length) return;
  const view = views.get(parentElement) ?? { root: parentElement, list: parentElement.querySelector(".order"), moves: 0 };
  views.set(parentElement, view);
  view.send = setTriggerValue;
  show(view, data);
  return () => {
    views.delete(parentElement);
    clearTimeout(view.again);
  };
}

function show(view, bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  const { items, moves } = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  if (moves < view.moves) return;
  view.moves = view.answered = moves;
  const active = view.root.getRootNode().activeElement;
  const [name, act] = [active?.closest?.("li")?.dataset.name, active?.dataset?.act];
  let at = 4 + length;
  view.list.replaceChildren(...items.map((item) => drawn(view, item, bytes.subarray(at, (at += item.bytes)))));
  renumber(view);
  if (name && act) focusOn(view, name, act);
}

function drawn(view, item, picture) {
  const row = element("li");
  row.dataset.name = item.name;
  const page = item.bytes ? Object.assign(document.createElement("img"), { alt: "", src: `data:${item.mime};base64,${inBase64(picture)}` }) : element("span");
  page.className = "picture";
  const q = Object.assign(element("span", "q", item.q), { title: item.q });
  const moves = element("span", "moves");
  for (const [act, sign, words] of [["up", "↑", "Move up"], ["down", "↓", "Move down"], ["remove", "×", "Remove"]]) {
    const button = Object.assign(element("button", "", sign), { type: "button", title: words, onclick: () => move(view, row, act) });
    button.dataset.act = act;
    button.setAttribute("aria-label", `${words}: ${item.q.slice(0, 80)}`);
    moves.append(button);
  }
  row.onkeydown = (event) => pressed(view, row, event);
  row.append(element("span", "number"), page, q, moves);
  return row;
}

function pressed(view, row, event) {
  const act = event.altKey ? { ArrowUp: "up", ArrowDown: "down" }[event.key] : event.key === "Delete" ? "remove" : null;
  if (!act) return;
  event.preventDefault();
  event.stopPropagation();
  move(view, row, act);
}

function move(view, row, act) {
  const focused = view.root.getRootNode().activeElement?.dataset?.act;
  if (act === "up" && row.previousElementSibling) row.previousElementSibling.before(row);
  else if (act === "down" && row.nextElementSibling) row.nextElementSibling.after(row);
  else if (act === "remove" && view.list.childElementCount > 1) {
    const next = row.nextElementSibling ?? row.previousElementSibling;
    row.remove();
    focusOn(view, next.dataset.name, "remove");
  } else return;
  if (focused && act !== "remove") focusOn(view, row.dataset.name, focused);
  renumber(view);
  const names = [...view.list.children].map((each) => each.dataset.name);
  view.root.querySelector(".spoken").textContent = act === "remove" ? "Removed" : `Now ${names.indexOf(row.dataset.name) + 1} of ${names.length}`;
  view.moves += 1;
  send(view, names);
}

// Sent again while it is not answered: a request that comes just when a run ends may get lost.
function send(view, names) {
  view.send("order", { names, moves: view.moves });
  clearTimeout(view.again);
  view.again = setTimeout(() => view.answered < view.moves && send(view, names), AGAIN_MS);
}
const AGAIN_MS = 1500;

function renumber(view) {
  const rows = [...view.list.children];
  rows.forEach((row, place) => {
    row.querySelector(".number").textContent = place + 1;
    const off = { up: place === 0, down: place === rows.length - 1, remove: rows.length === 1 };
    for (const button of row.querySelectorAll("button")) button.setAttribute("aria-disabled", String(off[button.dataset.act]));
  });
}

function focusOn(view, name, act) {
  const row = [...view.list.children].find((each) => each.dataset.name === name);
  row?.querySelector(`[data-act="${act}"]`)?.focus();
}

function inBase64(bytes) {
  const parts = [];
  for (let at = 0; at < bytes.length; at += 32768) {
    parts.push(String.fromCharCode(...bytes.subarray(at, at + 32768)));
  }
  return btoa(parts.join(""));
}

function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}
