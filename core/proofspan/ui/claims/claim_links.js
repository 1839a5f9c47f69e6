// The claims of an answer. Answer, list and page are components with scripts of their own, and they find each
// other here: which claims are pointed at, and where the evidence of each is (see `claim_places.py`).
const claimLinks = (window[Symbol.for("proofspan.claims")] ??= Object.assign(new EventTarget(), {
  pointed: [], places: null,
}));
// Who points that long at a claim whose evidence is on another page means to see that page.
const LINGER_MS = 450;
const SIGNS = { supported: "✓", derived: "=", differs: "✕", unsupported: "?", other_language: "↔" };

function pointAt(numbers) {
  if (String(numbers) === String(claimLinks.pointed)) return;
  claimLinks.pointed = numbers;
  claimLinks.dispatchEvent(new Event("change"));
}

function placesFound(places) {
  claimLinks.places = places;
  claimLinks.dispatchEvent(new Event("change"));
}

// Calls `act` now and whenever something changes, until the component closes.
function followClaims(view, act) {
  view.onClaims = () => act(view);
  claimLinks.addEventListener("change", view.onClaims);
  return () => claimLinks.removeEventListener("change", view.onClaims);
}

// For a component that is closed: `views` are those of its kind by their root.
function leaveClaims(views, root, view) {
  views.delete(root);
  view.unfollow();
  rest(view, null);
}

const placementOf = (number) => claimLinks.places?.spots.find((spot) => spot.number === number)?.placement;

// Points at a claim, and chooses it if its evidence is elsewhere and the pointer stays. Who has clicked meanwhile
// has chosen: the claim below the pointer does not, until the pointer has left it.
function rest(view, number) {
  if (number === view.restsOn) return;
  view.restsOn = number;
  clearTimeout(view.lingering);
  pointAt(number === null ? [] : [number]);
  if (number === null) return;
  view.lingering = setTimeout(() => {
    if (number !== view.chosenClaim && placementOf(number) === "elsewhere") view.sendClaim(number);
  }, LINGER_MS);
}

const clicked = (view) => clearTimeout(view.lingering);

function comparison(claim) {
  return claim.line.map(({ text, look }) => {
    const made = document.createElement(look === "claimed" || look === "found" ? "strong" : "span");
    made.className = look;
    made.textContent = text;
    return made;
  });
}

function spokenClaim(claim) {
  const line = claim.line.map(({ text }) => text).join("");
  const lost = placementOf(claim.number) === "lost" ? LOST : "";
  return [`claim ${claim.number}, ${claim.status_words}`, line, claim.where, claim.note, lost].filter(Boolean).join(", ");
}
const LOST = "its text was not found on the page";
