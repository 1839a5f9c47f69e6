// Draws a text with marks whose citations and claims can be chosen, and says which one was. The data is JSON in
// UTF-8 (see `packed`). Foreign text enters the document through textContent, title and aria-label alone; tags and classes
// come from closed tables on the server.
const DRAG_PIXELS = 4;
const views = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  if (!data || !data.length) return;
  const view = views.get(parentElement) ?? opened(parentElement);
  view.send = setTriggerValue;
  view.sendClaim = (number) => setTriggerValue("claim", number);
  show(view, JSON.parse(new TextDecoder().decode(data)));
  return () => leaveClaims(views, parentElement, view);
}

function opened(root) {
  const view = {
    text: root.querySelector(".text"), rest: root.querySelector(".rest"), lines: root.querySelector(".lines"),
    says: root.querySelector(".says"), json: "", isWhole: false, chosen: null, claims: [],
  };
  views.set(root, view);
  view.text.addEventListener("pointerdown", (event) => { view.pressed = [event.clientX, event.clientY]; });
  view.text.addEventListener("click", (event) => choose(view, event));
  view.rest.addEventListener("click", () => showWhole(view, !view.isWhole));
  view.text.addEventListener("focusin", (event) => reach(view, event.target));
  new ResizeObserver(() => fit(view)).observe(view.text);
  listenToClaims(view);
  view.unfollow = followClaims(view, showPointed);
  return view;
}

// The same text keeps its elements, and with them the focus: only what is chosen and the names change.
function show(view, data) {
  const json = JSON.stringify([data.pieces, data.claims]);
  Object.assign(view, { claims: data.claims, chosenClaim: data.claim });
  const isNew = json !== view.json;
  if (isNew) {
    view.json = json;
    view.text.replaceChildren(...inClaims(parts(data.pieces), data.claims));
    view.isWhole = false;
    view.lines.replaceChildren(view.says, ...[counts(data.claims), ...data.claims.map(lineOf)].map(unseen));
  }
  view.text.classList.remove("panel", "stage");
  view.text.classList.add(data.size);
  view.text.setAttribute("role", "group");
  view.text.setAttribute("aria-label", data.name);
  for (const button of view.text.querySelectorAll("[data-number]")) named(button, data);
  showPointed(view);
  for (const mark of view.text.querySelectorAll("[data-cite]")) {
    mark.classList.toggle("chosen", mark.dataset.cite === String(data.chosen));
  }
  fit(view);
  const chosen = `${data.chosen} ${data.claim}`;
  if (!isNew && chosen !== view.chosen) reach(view, view.text.querySelector(".chosen, .chosen-claim, [aria-pressed=true]"));
  view.chosen = chosen;
}

// The pieces, each with its claim, as elements. Brackets and stops stay with their number: no line ends inside "[1]".
function parts(pieces) {
  const rest = pieces.map((piece) => ({ ...piece }));
  return rest.map((piece, place) => {
    if (piece.number === null) return piece;
    const [before, after] = [rest[place - 1], rest[place + 1]];
    return { piece, opening: cutOff(before, /[(\[]+$/), closing: cutOff(after, /^[)\],.;:!?]+/) };
  }).flatMap((part) => {
    const { claim } = part.piece ?? part;
    return part.piece ? [[heldTogether(part), claim]] : part.text ? [[drawn(part), claim]] : [];
  });
}

// The elements of one claim in an element of its own, followed by its sign.
function inClaims(made, claims) {
  const byNumber = new Map(claims.map((claim) => [claim.number, claim]));
  const all = [];
  let holder = null;
  for (const [element, number] of made) {
    if (number === null) {
      holder = null;
      all.push(element);
    } else if (holder?.dataset.claim === String(number)) {
      signOf(holder).before(element);
    } else {
      holder = claimElement(byNumber.get(number));
      holder.prepend(element);
      all.push(holder);
    }
  }
  for (const each of all.filter((made) => made.dataset.claim)) keepSign(each);
  return all;
}

const signOf = (holder) => holder.querySelector(".sign");

// No line begins with the sign of a claim that ends with a citation's number.
function keepSign(holder) {
  const before = signOf(holder).previousElementSibling;
  if (before.className === "held") before.append(signOf(holder));
}

function claimElement({ number, status }) {
  const [made, sign] = [document.createElement("span"), document.createElement("button")];
  Object.assign(made, { className: `claim ${status}` });
  Object.assign(made.dataset, { claim: number, testid: "ps-claim" });
  Object.assign(sign, { type: "button", className: "sign", tabIndex: -1 });
  Object.assign(sign.dataset, { sign: SIGNS[status], testid: "ps-claim-sign" });
  made.append(sign);
  return made;
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
  const part = event.target.closest("[data-number], [data-cite], [data-claim]");
  if (!part) return;
  const [x, y] = view.pressed ?? [event.clientX, event.clientY];
  const isMoved = event.detail > 0 && Math.hypot(event.clientX - x, event.clientY - y) > DRAG_PIXELS;
  if (isMoved) return;
  clicked(view);
  const { number, cite, claim } = part.dataset;
  if (claim) view.sendClaim(Number(claim));
  else view.send("choose", Number(number ?? cite));
}

// A claim is pointed at by the mouse on its words, or by the focus on its sign.
function listenToClaims(view) {
  const numberAt = (event) => Number(event.target.closest("[data-claim]")?.dataset.claim) || null;
  view.text.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "touch") rest(view, numberAt(event));
  });
  view.text.addEventListener("pointerleave", () => rest(view, null));
  view.text.addEventListener("focusin", (event) => rest(view, numberAt(event)));
  view.text.addEventListener("focusout", () => rest(view, null));
  view.text.addEventListener("keydown", (event) => moveAmongSigns(view, event));
}

// One sign is reached by Tab, the others by the arrow keys.
function moveAmongSigns(view, event) {
  const signs = [...view.text.querySelectorAll(".sign")];
  const here = signs.indexOf(event.target);
  const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
  if (here < 0 || !by || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  event.preventDefault();
  const next = signs[here + by];
  if (!next) return;
  for (const sign of signs) sign.tabIndex = sign === next ? 0 : -1;
  next.focus();
}

// The claims that are pointed at, here or on the page, and the line of the first; without one that of the chosen
// claim, else how many claims there are of each status.
function showPointed(view) {
  const { claims, chosenClaim } = view;
  const lit = new Set(claimLinks.pointed);
  const byNumber = new Map(claims.map((claim) => [String(claim.number), claim]));
  const holders = [...view.text.querySelectorAll(".claim")];
  for (const holder of holders) {
    const claim = byNumber.get(holder.dataset.claim);
    const isChosen = claim.number === chosenClaim;
    holder.classList.toggle("lit", lit.has(claim.number));
    holder.classList.toggle("chosen-claim", isChosen);
    signOf(holder).setAttribute("aria-label", spokenClaim(claim));
    signOf(holder).setAttribute("aria-pressed", String(isChosen));
  }
  const signs = holders.map(signOf);
  if (signs.length && !signs.some((sign) => sign.tabIndex === 0)) signs[0].tabIndex = 0;
  view.lines.hidden = !claims.length;
  const shown = claims.find(({ number }) => lit.has(number)) ?? claims.find(({ number }) => number === chosenClaim);
  view.says.className = shown ? `says ${shown.status}` : "says";
  view.says.replaceChildren(...(shown ? lineOf(shown) : counts(claims)));
}

function lineOf(claim) {
  const isLost = placementOf(claim.number) === "lost";
  const rest = claim.line.length ? [] : [claim.status_words];
  const words = [...rest, claim.where, claim.note, isLost ? LOST : ""].filter(Boolean).join(" · ");
  return [signed(claim.status, ""), ...comparison(claim), plain(claim.line.length && words ? ` · ${words}` : words)];
}

// Takes the room of a line that is shown later.
function unseen(line) {
  const made = document.createElement("p");
  made.className = "says unseen";
  made.append(...line);
  return made;
}

function counts(claims) {
  return Object.keys(SIGNS).reverse().flatMap((status) => {
    const own = claims.filter((claim) => claim.status === status);
    return own.length ? [signed(status, `${own.length} ${own[0].status_words}`)] : [];
  });
}

function signed(status, words) {
  const made = plain(words);
  made.className = `of ${status}`;
  made.dataset.sign = SIGNS[status];
  return made;
}

function plain(words) {
  const made = document.createElement("span");
  made.textContent = words;
  return made;
}

// A text that is not much longer than its room is shown whole.
const WHOLE = 1.15;

function fit({ text, rest, isWhole }) {
  text.classList.add("cut");
  const isLong = text.scrollHeight > WHOLE * text.clientHeight;
  text.classList.toggle("cut", isLong && !isWhole);
  rest.hidden = !isLong;
  rest.textContent = isWhole ? "Show less of the answer" : "Show all of the answer";
  rest.setAttribute("aria-expanded", String(isWhole));
}

function showWhole(view, isWhole) {
  view.isWhole = isWhole;
  fit(view);
  if (!isWhole) view.text.scrollIntoView({ block: "nearest" });
}

// What is chosen elsewhere or has the focus is not left out.
function reach(view, part) {
  if (!part || !view.text.classList.contains("cut")) return;
  if (part.getBoundingClientRect().bottom > view.text.getBoundingClientRect().bottom) showWhole(view, true);
}
