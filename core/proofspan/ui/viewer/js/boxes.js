// Spans as elements: a button with the areas of a span, a tint and an outline around them, a tag at its beginning.
// Its order is that of the legend; where spans overlap, a later layer's line lies further out (see the CSS).
const MEANING = { cited: "cited", gold: "gold", retrieved: "retrieved", claim: "claim" };
const UNVERIFIED = "unverified box";
const SVG = "http://www.w3.org/2000/svg";
// With more spans than this the page is drawn plainly: blending and masks cost more than they show.
const MANY = 300;

// What is unchanged stays: a rerun that says nothing new costs nothing and keeps hover and focus.
function drawSpans(view) {
  const { spans, cards } = view.header;
  const drawn = JSON.stringify([view.id, spans, cards]);
  if (drawn === view.drawn) return;
  view.drawn = drawn;
  view.page.classList.toggle("many", spans.length > MANY);
  const ranks = stacked(spans);
  // Spans that come after the others, those of claims, are added: what is there keeps its elements.
  const each = spans.map((span) => JSON.stringify([view.id, span, cards[span.id]]));
  const there = view.each?.every((one, place) => one === each[place]) ? view.each.length : 0;
  view.each = each;
  if (!there) for (const part of [view.outlines, view.layers]) part.replaceChildren();
  [...view.layers.children].forEach((made, place) => { made.style.zIndex = ranks[place]; });
  spans.slice(there).forEach((span, at) => {
    const place = there + at;
    view.outlines.append(...outlines(span, place, spans.length > MANY));
    view.layers.append(spanButton(span, cards[span.id], ranks[place]));
  });
  view.names.replaceChildren(...tagged(spans).flatMap((span) => tags(span, cards)));
  view.sized = false;
  holdTab(view, spanElement(view, chosenId(view)) ?? view.layers.firstElementChild);
  watchSpans(view);
}

// A smaller span lies above a larger one, so that each can be reached; of about the same size what is cited lies
// above gold and gold above the retrieved.
function stacked(spans) {
  const layers = Object.keys(MEANING);
  const size = ({ rects }) => Math.round(2 * Math.log2(rects.reduce((sum, [, , wide, high]) => sum + wide * high, 0)));
  const [sizes, ranks] = [spans.map(size), []];
  const order = spans.map((_, place) => place).sort((one, other) => sizes[other] - sizes[one]
    || layers.indexOf(spans[other].layer) - layers.indexOf(spans[one].layer) || one - other);
  order.forEach((place, rank) => { ranks[place] = rank; });
  return ranks;
}

function kindOf(span) {
  return span.verified ? span.layer : "unverified";
}

function named(made, span, part) {
  made.classList.add(part, MEANING[span.layer]);
  if (span.chosen) made.classList.add("chosen");
  if (span.bare) made.classList.add("bare");
  if (!span.verified) made.classList.add("unverified");
  Object.assign(made.dataset, { testid: `ps-${part}`, layer: span.layer, kind: kindOf(span), span: span.id });
  return made;
}

// The button has the size of the whole span, its areas take the pointer.
function spanButton(span, card, rank) {
  const button = named(document.createElement("button"), span, "span");
  const around = [
    Math.min(...span.rects.map(([left]) => left)), Math.min(...span.rects.map(([, top]) => top)),
    Math.max(...span.rects.map(([left, , width]) => left + width)),
    Math.max(...span.rects.map(([, top, , height]) => top + height)),
  ];
  const [left, top, width, height] = [around[0], around[1], around[2] - around[0], around[3] - around[1]];
  placed(button, [left, top, width, height]);
  button.type = "button";
  button.tabIndex = -1;
  button.style.zIndex = rank;
  button.setAttribute("aria-label", spokenName(span, card));
  if (span.chosen) button.setAttribute("aria-current", "true");
  const share = (part, whole) => (whole > 0 ? (100 * part) / whole : 0);
  button.append(...span.rects.map(([x, y, wide, high]) => placed(
    named(document.createElement("span"), span, "box"),
    [share(x - left, width), share(y - top, height), share(wide, width), share(high, height)],
  )));
  return button;
}

// With the first words of the passage, which say more than its place.
const WORDS_SPOKEN = 12;

function spokenName(span, card) {
  const words = card ? card.text.trim().split(/\s+/) : [];
  const quoted = words.slice(0, WORDS_SPOKEN).join(" ") + (words.length > WORDS_SPOKEN ? " …" : "");
  const parts = card ? [card.name, card.status, ...card.notes, quoted] : [MEANING[span.layer]];
  return parts.filter(Boolean).join(", ");
}

// The passage that a span is a part of has a thin outline.
function outlines(span, index, isPlain) {
  const own = outline(span, index, isPlain);
  if (!span.extent?.length) return [own];
  const around = outline({ ...span, rects: span.extent }, `${index}-extent`, isPlain);
  around.classList.add("extent");
  around.dataset.testid = "ps-extent";
  return [around, own];
}

// One line around the whole of a span: the edges of all its boxes, without those that lie in another of them. The tint
// reaches up to the line; it is that of the whole, so that boxes that overlap are not darker there.
function outline(span, index, isPlain) {
  const group = named(document.createElementNS(SVG, "g"), span, "outline");
  const rects = (name) => span.rects.map((rect) => placed(drawn("rect", { class: name }), rect));
  if (!isPlain) {
    const ground = drawn("g", { class: "ground" });
    ground.append(...rects("under"));
    group.append(ground);
  }
  const edges = rects("edge");
  if (isPlain || span.rects.length === 1) {
    group.append(...edges);
    return group;
  }
  const mask = drawn("mask", { id: `inside-${index}`, maskUnits: "userSpaceOnUse", x: 0, y: 0 });
  const all = drawn("rect", { fill: "#fff" });
  for (const made of [mask, all]) made.setAttribute("width", "100%"), made.setAttribute("height", "100%");
  mask.append(all, ...rects("hole"));
  const masked = drawn("g", { mask: `url(#inside-${index})` });
  masked.append(...edges);
  group.append(mask, masked);
  return group;
}

function drawn(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function placed(made, [left, top, width, height]) {
  for (const [side, value] of Object.entries({ left, top, width, height })) {
    made.style.setProperty(`--${side}`, `${value}%`);
  }
  return made;
}

function spanElement(view, id) {
  return id ? view.layers.querySelector(`.span[data-span="${CSS.escape(id)}"]`) : null;
}

function chosenId(view) {
  return view.wanted?.choose ?? view.header.chosen;
}

// One box is reached by Tab, the others by the keys for the next and the previous span.
function holdTab(view, held) {
  view.held?.setAttribute("tabindex", -1);
  view.held = held;
  held?.setAttribute("tabindex", 0);
}

// The choice is seen at once; the server follows.
function markChosen(view, id) {
  for (const made of view.root.querySelectorAll(".page .chosen")) made.classList.remove("chosen");
  view.layers.querySelector("[aria-current]")?.removeAttribute("aria-current");
  for (const made of view.root.querySelectorAll(`.page [data-span="${CSS.escape(id)}"]:not(.tag, .tags)`)) {
    made.classList.add("chosen");
  }
  const button = spanElement(view, id);
  button?.setAttribute("aria-current", "true");
  if (button) holdTab(view, button);
}

function choose(view, id) {
  markChosen(view, id);
  emit(view, "choose", id);
  showBar(view);
}

function listenToBoxes(view) {
  view.page.addEventListener("click", (event) => {
    const id = event.target.closest("[data-span]")?.dataset.span;
    if (id && !view.wasDragged) choose(view, id);
  });
  view.layers.addEventListener("focusin", (event) => holdTab(view, event.target.closest(".span")));
}
