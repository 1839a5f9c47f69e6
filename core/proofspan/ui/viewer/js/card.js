// What a box is: a card beside it while a pointer rests on it or it has the focus.
const [OPEN_MS, CLOSE_MS, ANNOUNCED_MS] = [160, 200, 5000];
const SHOWN_CHARS = 600;
const CARD_GAP = 10;

function listenToCard(view) {
  view.page.addEventListener("pointerover", (event) => {
    const id = event.target.closest("[data-span]")?.dataset.span;
    if (event.pointerType === "touch" || view.press) return;
    if (id) soon(view, OPEN_MS, () => openCard(view, id));
    else closeSoon(view);
  });
  view.page.addEventListener("pointerleave", () => closeSoon(view));
  view.card.addEventListener("pointerenter", () => clearTimeout(view.cardTimer));
  view.card.addEventListener("pointerleave", () => closeSoon(view));
  view.layers.addEventListener("focusin", (event) => {
    if (event.target.matches(":focus-visible")) openCard(view, event.target.dataset.span);
  });
  view.root.addEventListener("focusout", () => closeSoon(view));
  view.card.querySelector(".copy").onclick = () => copyText(view, view.cardOf);
}

function soon(view, wait, then) {
  clearTimeout(view.cardTimer);
  view.cardTimer = setTimeout(then, wait);
}

function closeSoon(view) {
  soon(view, CLOSE_MS, () => {
    const active = view.root.getRootNode().activeElement;
    if (view.card.contains(active)) return;
    if (active?.matches?.(":focus-visible") && view.layers.contains(active)) openCard(view, active.dataset.span);
    else closeCard(view);
  });
}

function openCard(view, id) {
  clearTimeout(view.cardTimer);
  const [card, span] = [view.header.cards[id], spanElement(view, id)];
  if (!card || !span?.offsetParent) return;
  const find = (name) => view.card.querySelector(name);
  view.card.setAttribute("aria-label", `About ${card.name}`);
  view.card.className = `card ${span.dataset.kind}`;
  find(".name").textContent = card.name;
  find(".status").textContent = card.status;
  find(".notes").replaceChildren(...card.notes.map((note) => {
    const line = document.createElement("li");
    line.textContent = note;
    return line;
  }));
  const isLong = card.text.length > SHOWN_CHARS || card.cut > 0;
  find(".text").textContent = card.text.slice(0, SHOWN_CHARS) + (isLong ? " …" : "");
  find(".copy").hidden = !card.text;
  view.cardOf = id;
  view.card.hidden = false;
  span.setAttribute("aria-describedby", "card-text");
  placeCard(view, span);
}

// Below the box where there is room, else above it, else at the bottom of the frame; never on its first line.
function placeCard(view, span) {
  const around = view.window.getBoundingClientRect();
  const box = span.getBoundingClientRect();
  const { offsetWidth: wide, offsetHeight: high } = view.card;
  const below = box.bottom - around.top + CARD_GAP;
  const above = box.top - around.top - CARD_GAP - high;
  const top = below + high <= around.height ? below : above >= 0 ? above : around.height - high - 4;
  const left = Math.min(Math.max(4, box.left - around.left), Math.max(4, around.width - wide - 4));
  Object.assign(view.card.style, { top: `${Math.max(4, top)}px`, left: `${left}px` });
}

function closeCard(view) {
  clearTimeout(view.cardTimer);
  if (view.card.hidden) return;
  view.card.hidden = true;
  spanElement(view, view.cardOf)?.removeAttribute("aria-describedby");
}

async function copyText(view, id) {
  const card = view.header.cards[id];
  if (!card?.text) return;
  const isCopied = await copied(card.text);
  const counted = `${card.text.length.toLocaleString("en")} characters`;
  const done = card.cut ? `Copied the first ${counted} of ${card.name}` : `Copied the text of ${card.name}`;
  say(view, isCopied ? done : "The browser refused to copy: mark the text in the card");
}

// By the clipboard, else as an old browser does it.
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const put = (event) => {
      event.preventDefault();
      event.clipboardData.setData("text/plain", text);
    };
    document.addEventListener("copy", put, { once: true, capture: true });
    const isDone = document.execCommand("copy");
    document.removeEventListener("copy", put, { capture: true });
    return isDone;
  }
}

function say(view, words) {
  view.announced.textContent = words;
  clearTimeout(view.announcing);
  view.announcing = setTimeout(() => { view.announced.textContent = ""; }, ANNOUNCED_MS);
}
