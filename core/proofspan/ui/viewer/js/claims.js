// The evidence of the answer's claims, a layer whose boxes come after the page is shown. Pointing at a claim
// lights its box and marks the words that differ; pointing at a box lights the claims that rest on it.
const EDGE = 88;

function spotsHere(view) {
  const [{ places }, { key, id, answer }] = [claimLinks, view.header];
  const isOfThisPage = places && answer && places.viewer === key && places.id === id && places.of === answer;
  return isOfThisPage ? places.spots.filter(({ placement }) => placement === "here") : [];
}

// The server's spans, and the boxes of claims that are not among them.
function withSpots(view) {
  const { header } = view;
  view.places = claimLinks.places;
  header.own ??= { spans: header.spans, cards: header.cards };
  const known = new Set(header.own.spans.map(({ id }) => id));
  const spots = spotsHere(view).filter(({ id }) => !known.has(id));
  header.spans = [...header.own.spans, ...spots.map(({ id, rects }) => (
    { id, layer: "claim", tags: [], rects, chosen: false, verified: true }
  ))];
  header.cards = { ...header.own.cards, ...Object.fromEntries(spots.map(({ id, card }) => [id, card])) };
}

function listenToClaims(view) {
  view.marks = view.root.querySelector(".marks");
  view.says = view.root.querySelector(".says");
  const over = (id) => {
    view.isPointing = true;
    pointAt(id ? claimsOn(view, id) : []);
    view.isPointing = false;
  };
  view.page.addEventListener("pointerover", (event) => {
    if (!view.press && event.pointerType !== "touch") over(event.target.closest("[data-span]")?.dataset.span);
  });
  view.page.addEventListener("pointerleave", () => over(null));
  view.layers.addEventListener("focusin", (event) => {
    if (event.target.matches(":focus-visible")) over(event.target.dataset.span);
  });
  view.layers.addEventListener("focusout", () => over(null));
  view.unfollow = followClaims(view, claimsChanged);
}

function claimsChanged(view) {
  if (!view.header) return;
  if (view.places !== claimLinks.places) {
    const focused = focusedPart(view);
    withSpots(view);
    drawSpans(view);
    showLegend(view);
    settle(view);
    // `refocus` would take a step to the next span for done, whose page is still on its way.
    const active = view.root.getRootNode().activeElement;
    if (focused && !active) spanElement(view, focused.span)?.focus({ preventScroll: true });
  }
  lightClaims(view);
}

// The claims whose evidence begins inside a span.
function claimsOn(view, id) {
  const rects = view.header.spans.find((span) => span.id === id)?.rects ?? [];
  return spotsHere(view).filter((spot) => {
    const [left, top, width, height] = spot.rects[0];
    const [x, y] = [left + width / 2, top + height / 2];
    return spot.id === id || rects.some(([l, t, w, h]) => x >= l && x <= l + w && y >= t && y <= t + h);
  }).map(({ number }) => number);
}

function lightClaims(view) {
  const spots = spotsHere(view);
  const byId = new Map(spots.map((spot) => [spot.id, spot]));
  const pointed = spots.filter(({ number }) => claimLinks.pointed.includes(number));
  for (const made of view.page.querySelectorAll("[data-layer=claim]:not(.tag)")) {
    const spot = byId.get(made.dataset.span);
    if (spot) made.dataset.status = spot.status;
    made.classList.toggle("lit", pointed.includes(spot));
  }
  const shown = pointed.length ? pointed : spots.filter(({ id }) => id === chosenId(view));
  view.marks.replaceChildren(...shown.flatMap(({ marks }) => marks).map((rect) => {
    const made = placed(document.createElement("div"), rect);
    made.className = "mark";
    made.dataset.testid = "ps-mark";
    return made;
  }));
  showComparison(view, view.isPointing ? null : pointed.find(({ line }) => line.length));
  if (pointed.length && !view.isPointing) revealEvidence(view, pointed[0]);
}

// Scrolls inside the frame, and only if evidence or comparison are out of sight.
function revealEvidence(view, { id }) {
  const parts = [spanElement(view, id), view.says].filter((each) => each?.offsetParent);
  if (!parts.length) return;
  const [boxes, frame] = [parts.map((each) => each.getBoundingClientRect()), view.frame.getBoundingClientRect()];
  const [top, bottom] = [Math.min(...boxes.map((box) => box.top)), Math.max(...boxes.map((box) => box.bottom))];
  const room = view.frame.clientHeight - (bottom - top);
  const isInSight = top >= frame.top && bottom <= frame.top + view.frame.clientHeight
    && boxes[0].left >= frame.left && boxes[0].right <= frame.left + view.frame.clientWidth;
  if (isInSight) return;
  view.frame.scrollTo({
    top: view.frame.scrollTop + top - frame.top - Math.max(0, Math.min(room / 2, view.frame.clientHeight / 3)),
    left: view.frame.scrollLeft + boxes[0].left - frame.left - Math.max(0, (view.frame.clientWidth - boxes[0].width) / 2),
    behavior: isCalm.matches ? "instant" : "smooth",
  });
}

// Below the evidence, or above it at the end of the page: never on it.
function showComparison(view, spot) {
  view.says.hidden = !spot || view.off.has("claim");
  if (!spot) return;
  view.says.replaceChildren(...comparison(spot));
  const [left, top] = spot.rects[0];
  const bottom = Math.max(...spot.rects.map(([, y, , high]) => y + high));
  const isBelow = bottom < EDGE;
  view.says.classList.toggle("above", !isBelow);
  view.says.style.setProperty("--at", `${isBelow ? bottom : Math.min(top, ...spot.rects.map(([, y]) => y))}%`);
  view.says.style.setProperty("--from", `${Math.min(left, 50)}%`);
}
