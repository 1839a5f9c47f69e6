// Draws the claims of an answer as a list, the weakest first. The data is JSON in UTF-8 (see `show_claims`).
// Foreign text enters the document through textContent and aria-label alone.
const views = new WeakMap();
// Claims shown at first, and the chosen one; a list with only few more is shown whole.
const [FEW, MORE] = [6, 2];

export default function ({ data, parentElement, setTriggerValue }) {
  if (!data || !data.length) return;
  const view = views.get(parentElement) ?? opened(parentElement);
  view.sendClaim = (number) => setTriggerValue("claim", number);
  show(view, JSON.parse(new TextDecoder().decode(data)));
  return () => leaveClaims(views, parentElement, view);
}

function opened(root) {
  const view = {
    list: root.querySelector(".claims"), rest: root.querySelector(".rest"), more: root.querySelector(".more"), json: "",
    claims: [], isWhole: false,
  };
  views.set(root, view);
  const numberAt = (event) => Number(event.target.closest("[data-claim]")?.dataset.claim) || null;
  view.list.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "touch") rest(view, numberAt(event));
  });
  view.list.addEventListener("pointerleave", () => rest(view, null));
  view.list.addEventListener("focusin", (event) => {
    hold(view, event.target);
    if (event.target.matches(":focus-visible")) rest(view, numberAt(event));
  });
  view.list.addEventListener("focusout", () => rest(view, null));
  view.list.addEventListener("click", (event) => {
    const number = numberAt(event);
    clicked(view);
    if (number) view.sendClaim(number);
  });
  view.list.addEventListener("keydown", (event) => moved(view, event));
  view.rest.addEventListener("click", () => {
    view.isWhole = !view.isWhole;
    showFew(view);
  });
  view.unfollow = followClaims(view, showPointed);
  return view;
}

// The same claims keep their elements, and with them focus and scroll position.
function show(view, data) {
  const json = JSON.stringify(data.claims);
  Object.assign(view, { claims: data.claims, chosenClaim: data.chosen });
  view.list.setAttribute("aria-label", data.name);
  if (json !== view.json) {
    view.json = json;
    view.list.replaceChildren(...data.claims.map(item));
    view.isWhole = false;
  }
  view.left = data.more;
  view.more.textContent = `and ${data.more.toLocaleString("en")} more claims, with more support than these`;
  showPointed(view);
  const buttons = [...view.list.querySelectorAll("button")];
  if (!buttons.some((each) => each.tabIndex === 0)) hold(view, chosenButton(view) ?? buttons[0]);
  if (data.of) view.list.getRootNode().host.dataset.of = data.of;
  showFew(view);
}

function showFew({ list, rest, more, claims, chosenClaim, isWhole, left }) {
  const isLong = claims.length > FEW + MORE;
  [...list.children].forEach((each, place) => {
    each.hidden = isLong && !isWhole && place >= FEW && claims[place].number !== chosenClaim;
  });
  rest.hidden = !isLong;
  rest.textContent = isWhole ? "Show fewer" : `Show all ${claims.length.toLocaleString("en")}`;
  rest.setAttribute("aria-expanded", String(isWhole));
  more.hidden = !left || (isLong && !isWhole);
}

function item(claim) {
  const [made, button] = [document.createElement("li"), document.createElement("button")];
  Object.assign(button, { type: "button", className: `claim ${claim.status}`, tabIndex: -1 });
  Object.assign(button.dataset, { claim: claim.number, testid: "ps-claim-row", term: claim.terms.join("|") });
  const line = words("line", "");
  line.append(...comparison(claim));
  line.hidden = !claim.line.length;
  button.append(
    words("sign", SIGNS[claim.status]), words("text", claim.text), words("support", claim.support.toFixed(2)),
    line, words("where", ""),
  );
  made.append(button);
  return made;
}

function words(name, text) {
  const made = document.createElement("span");
  made.className = name;
  made.textContent = text;
  return made;
}

function showPointed(view) {
  const byNumber = new Map(view.claims.map((claim) => [String(claim.number), claim]));
  for (const button of view.list.querySelectorAll("button")) {
    const claim = byNumber.get(button.dataset.claim);
    const isChosen = claim.number === view.chosenClaim;
    const lost = placementOf(claim.number) === "lost" ? LOST : "";
    button.classList.toggle("lit", claimLinks.pointed.includes(claim.number));
    button.classList.toggle("chosen", isChosen);
    button.setAttribute("aria-pressed", String(isChosen));
    button.setAttribute("aria-label", `${claim.text}: ${spokenClaim(claim)}, support ${claim.support.toFixed(2)}`);
    const state = claim.has_evidence ? claim.where : "no evidence found";
    button.querySelector(".where").textContent = [claim.status_words, state, claim.note, lost]
      .filter(Boolean).join(" · ");
  }
}

const chosenButton = (view) => view.list.querySelector("button.chosen");

// One claim is reached by Tab, the others by the arrow keys.
function hold(view, held) {
  for (const button of view.list.querySelectorAll("button")) button.tabIndex = button === held ? 0 : -1;
}

function moved(view, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const buttons = [...view.list.querySelectorAll("button")];
  const here = buttons.indexOf(event.target);
  const to = { ArrowUp: here - 1, ArrowDown: here + 1, Home: 0, End: buttons.length - 1 }[event.key];
  if (here < 0 || to === undefined) return;
  event.preventDefault();
  if (buttons[to]?.parentElement.hidden) {
    view.isWhole = true;
    showFew(view);
  }
  buttons[to]?.focus();
}
