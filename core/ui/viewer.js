// Draws one page picture with boxes over it. The data is one byte string: the length of a JSON header as four
// bytes (big endian), the header, the PNG. Foreign text enters the document through textContent and alt alone.
// Its order is that of the legend; where spans overlap, a later layer's line lies further out (see the CSS).
const MEANING = { cited: "cited", gold: "gold", retrieved: "retrieved" };
const UNVERIFIED = "unverified box";
const SVG = "http://www.w3.org/2000/svg";
// Pixels between a box and its tag: the outermost line lies between them.
const GAP = 6;
// Where luminance (0-255) changes by so much from a pixel to the next there is ink: the edge of a letter or a
// line, and not a band of colour. A free place holds at most such a share of it.
const INK = 40;
const MOST_INK = 0.004;
const INK_WIDTH = 700;
const views = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  if (!data || !data.length) return;
  const view = views.get(parentElement) ?? opened(parentElement);
  view.send = setTriggerValue;
  show(view, ...unpacked(data));
  return () => closed(parentElement, view);
}

function opened(root) {
  const find = (name) => root.querySelector(name);
  const view = {
    frame: find(".frame"), page: find(".page"), picture: find("img"), layers: find(".layers"),
    outlines: find(".outlines"), legend: find(".legend"), url: null, id: null, focus: null, turn: 0,
  };
  views.set(root, view);
  view.frame.onkeydown = (event) => turnPage(view, event);
  view.resized = new ResizeObserver(() => settle(view));
  view.resized.observe(view.layers);
  return view;
}

// Left and right go to the page before and after; up and down scroll, as the browser has it.
function turnPage(view, event) {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  event.preventDefault();
  view.send("turn", view.pageIdx + by);
}

function closed(root, view) {
  views.delete(root);
  view.turn += 1;
  view.resized.disconnect();
  if (view.url) URL.revokeObjectURL(view.url);
}

function unpacked(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  return [header, bytes.subarray(4 + length)];
}

// A new picture is decoded before it replaces the old one together with its boxes, so that nothing flickers
// and no box ever lies on another page's picture. A later call makes an unfinished one give up.
async function show(view, header, png) {
  const turn = ++view.turn;
  if (header.id !== view.id) {
    const url = URL.createObjectURL(new Blob([png], { type: header.mime }));
    const next = new Image();
    next.src = url;
    await next.decode().catch(() => {});
    if (turn !== view.turn) return URL.revokeObjectURL(url);
    if (view.url) URL.revokeObjectURL(view.url);
    Object.assign(view, { id: header.id, url, ink: inkOf(next) });
    view.picture.src = url;
    view.page.style.aspectRatio = `${header.width} / ${header.height}`;
    view.frame.scrollTop = 0;
    bringIntoSight(view);
  }
  view.pageIdx = header.page_idx;
  view.picture.alt = header.alt;
  view.frame.setAttribute("aria-label", header.alt);
  view.outlines.replaceChildren(...header.spans.map(outline));
  view.layers.replaceChildren(...header.spans.flatMap(boxes), ...header.spans.flatMap(tags));
  settle(view);
  view.legend.replaceChildren(...legend(header.spans));
  view.page.dataset.id = header.id;
  if (header.focus !== view.focus) {
    view.focus = header.focus;
    reveal(view);
  }
}

// In a narrow window the page stands above the reasons: who asks for another page there sees it come.
function bringIntoSight(view) {
  if (!document.activeElement?.closest(".st-key-reading")) return;
  const { top, bottom } = view.frame.getBoundingClientRect();
  if (bottom > 0 && top < window.innerHeight) return;
  const host = view.frame.getRootNode().host ?? view.frame;
  (host.closest(".st-key-page-side") ?? host).scrollIntoView({ block: "start" });
}

function look(span) {
  return [MEANING[span.layer], span.chosen && "chosen", !span.verified && "unverified"].filter(Boolean);
}

function named(made, span, part) {
  made.classList.add(part, ...look(span));
  Object.assign(made.dataset, { testid: `ps-${part}`, layer: span.layer, span: span.id });
  return made;
}

// The tinted areas of a span.
function boxes(span) {
  return span.rects.map((rect) => placed(named(document.createElement("div"), span, "box"), rect));
}

// One line around the whole of a span: the edges of all its boxes, without those that lie in another of them.
function outline(span, index) {
  const group = named(document.createElementNS(SVG, "g"), span, "outline");
  const mask = drawn("mask", { id: `inside-${index}`, maskUnits: "userSpaceOnUse", x: 0, y: 0 });
  const all = drawn("rect", { fill: "#fff" });
  for (const made of [mask, all]) made.setAttribute("width", "100%"), made.setAttribute("height", "100%");
  mask.append(all, ...span.rects.map((rect) => placed(drawn("rect", { class: "hole" }), rect)));
  const edges = drawn("g", { mask: `url(#inside-${index})` });
  edges.append(...span.rects.map((rect) => placed(drawn("rect", { class: "edge" }), rect)));
  group.append(mask, edges);
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

// The tags of the spans that begin at one place, side by side.
function tags(span) {
  if (!span.tags.length || !span.rects.length) return [];
  const group = named(document.createElement("div"), span, "tags");
  group.rects = span.rects;
  group.append(...span.tags.map(([layer, words]) => {
    const tag = named(document.createElement("span"), { ...span, layer, chosen: false }, "tag");
    tag.textContent = words;
    return tag;
  }));
  return [group];
}

// Tags stand where the page has no ink and no other tag: beside the beginning of their span, above it, else one
// above the other in a margin at its height. On a page full of ink they stand where it has the least.
function settle(view) {
  const { clientWidth: width, clientHeight: height } = view.layers;
  const taken = [];
  for (const group of view.layers.querySelectorAll(".tags")) {
    const wanted = [...beside(group, width, height), ...inMargins(group, width, height)];
    const { stacked, wide, high, left, top } = chosen(view.ink, wanted, width, height, taken);
    taken.push([left, top, left + wide, top + high]);
    group.classList.toggle("stacked", stacked);
    Object.assign(group.style, { left: `${left}px`, top: `${top}px` });
  }
}

function sized(group, stacked) {
  group.classList.toggle("stacked", stacked);
  return { stacked, wide: group.offsetWidth, high: group.offsetHeight };
}

function beside(group, width, height) {
  const size = sized(group, false);
  const { wide, high } = size;
  const [left, top, right, bottom] = edges(group.rects[0], width, height);
  const line = top + Math.max(0, (Math.min(bottom - top, 1.2 * high) - high) / 2);
  const places = [[left - GAP - wide, line], [left, top - GAP - high], [right + GAP, line]];
  return places.map(([x, y]) => ({ ...size, left: x, top: y }));
}

function inMargins(group, width, height) {
  const size = sized(group, true);
  const [left, top] = edges(group.rects[0], width, height);
  const below = edges(group.rects.at(-1), width, height)[3] + GAP;
  const steps = [0, -1, 1, -2, 2].map((step) => top + step * (size.high + 2));
  const places = [...steps.flatMap((y) => [[3, y], [width - size.wide - 3, y]]), [left, below]];
  return places.map(([x, y]) => ({ ...size, left: x, top: y }));
}

function edges([left, top, across, down], width, height) {
  return [left * width, top * height, (left + across) * width, (top + down) * height].map((at) => at / 100);
}

// The first of the places that holds no ink, else the one with the least; none lies on another tag.
function chosen(ink, places, width, height, taken) {
  let best = null;
  for (const place of places) {
    const { left, top, wide, high } = place;
    const [right, bottom] = [left + wide, top + high];
    if (left < 0 || top < 0 || right > width || bottom > height) continue;
    if (taken.some(([l, t, r, b]) => left < r && right > l && top < b && bottom > t)) continue;
    const share = ink ? inkIn(ink, left / width, top / height, right / width, bottom / height) : 0;
    if (share <= MOST_INK) return place;
    if (!best || share < best.share) best = { ...place, share };
  }
  return best ?? { ...places[1], left: Math.max(0, places[1].left), top: Math.max(0, places[1].top) };
}

// The page as a map of its ink; null where the browser hands out no pixels.
function inkOf(picture) {
  const scale = Math.min(1, INK_WIDTH / Math.max(picture.naturalWidth, 0.5 * picture.naturalHeight));
  const [width, height] = [picture.naturalWidth, picture.naturalHeight].map((side) => Math.ceil(side * scale));
  const pen = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d");
  if (!pen || !width || !height) return null;
  pen.drawImage(picture, 0, 0, width, height);
  const pixels = pen.getImageData(0, 0, width, height).data;
  const light = (at) => 0.3 * pixels[4 * at] + 0.59 * pixels[4 * at + 1] + 0.11 * pixels[4 * at + 2];
  const isInk = new Uint8Array(width * height);
  for (let at = width; at < isInk.length; at += 1) {
    const here = light(at);
    isInk[at] = Math.abs(here - light(at - 1)) > INK || Math.abs(here - light(at - width)) > INK;
  }
  return { isInk, width, height };
}

// The share of ink in a part of the page, whose edges are given in 0-1.
function inkIn({ isInk, width, height }, left, top, right, bottom) {
  const [x0, x1] = [Math.floor(left * width), Math.ceil(right * width)];
  const [y0, y1] = [Math.floor(top * height), Math.ceil(bottom * height)];
  let count = 0;
  for (let y = y0; y < y1; y += 1) {
    for (let x = x0; x < x1; x += 1) count += isInk[y * width + x] ?? 0;
  }
  return count / Math.max(1, (x1 - x0) * (y1 - y0));
}

// What is on the page, each with a piece of its very line.
function legend(spans) {
  const there = (layer) => spans.some((span) => span.verified && span.layer === layer);
  const entries = Object.keys(MEANING).filter(there).map((layer) => [{ layer, verified: true }, MEANING[layer]]);
  if (spans.some((span) => !span.verified)) entries.push([{ layer: "cited", verified: false }, UNVERIFIED]);
  return entries.map(([span, words]) => {
    const [entry, sample] = [document.createElement("span"), drawn("svg", { width: 24, height: 6 })];
    sample.append(drawn("line", { class: `outline ${look(span).join(" ")}`, x1: 1, x2: 23, y1: 3, y2: 3 }));
    entry.append(sample, words);
    return entry;
  });
}

// Scrolls inside the frame only: scrollIntoView would move the whole page as well.
function reveal(view) {
  const box = view.layers.querySelector(".box.chosen") ?? view.layers.querySelector(".box.cited");
  if (!box) return;
  const room = Math.max(0, view.frame.clientHeight - box.offsetHeight);
  view.frame.scrollTop = Math.max(0, box.offsetTop - Math.min(room / 2, view.frame.clientHeight / 3));
}
