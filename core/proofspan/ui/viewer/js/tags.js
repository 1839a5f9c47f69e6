// Tags are placed where the page has no ink and no other tag: beside the beginning of their span, above it, else one
// above the other in a margin at its height. On a page full of ink they are where it has the least.
// Pixels between a box and its tag: the outermost line lies between them.
const GAP = 6;
// Where luminance (0-255) changes by so much from a pixel to the next there is ink: the edge of a letter or a
// line, and not a band of colour. A free place holds at most such a share of it.
const INK = 40;
const MOST_INK = 0.004;
const INK_WIDTH = 700;
// More tags than this would be a page of tags; the card names what has none.
const MOST_TAGS = 60;

// On a page with more spans those come first that are chosen, cited or gold.
function tagged(spans) {
  if (spans.length <= MOST_TAGS) return spans;
  const rank = ({ chosen, layer }) => (chosen ? 0 : Object.keys(MEANING).indexOf(layer) + 1);
  const first = spans.filter((span) => span.chosen || span.layer !== "retrieved");
  return first.sort((one, other) => rank(one) - rank(other)).slice(0, MOST_TAGS);
}

// The tags of the spans that begin at one place, side by side. Each leads to the span that has its name.
function tags(span, cards) {
  if (!span.tags.length || !span.rects.length) return [];
  const group = document.createElement("div");
  group.className = "tags";
  group.rects = span.rects;
  group.append(...span.tags.map(([layer, words]) => {
    const isOwn = layer === span.layer;
    const id = Object.keys(cards).find((each) => words.startsWith(cards[each].name)) ?? span.id;
    const tag = named(document.createElement("span"), { id, layer, verified: span.verified || !isOwn }, "tag");
    tag.textContent = words;
    return tag;
  }));
  return [group];
}

function settle(view) {
  if (view.ink === undefined) return;
  const { clientWidth: width, clientHeight: height } = view.page;
  const groups = [...view.names.children];
  measure(view, groups);
  const taken = [];
  for (const group of groups) {
    if (!group.flat.wide) continue;
    const wanted = [...beside(group, width, height), ...inMargins(group, width, height)];
    const { stacked, wide, high, left, top } = bestPlace(view.ink, wanted, width, height, taken);
    taken.push([left, top, left + wide, top + high]);
    group.classList.toggle("stacked", stacked);
    Object.assign(group.style, { left: `${(100 * left) / width}%`, top: `${(100 * top) / height}%` });
  }
}

// The sizes of all groups, lying and standing, with two layouts and not two for each.
function measure(view, groups) {
  if (view.sized) return;
  for (const stacked of [false, true]) {
    for (const group of groups) group.classList.toggle("stacked", stacked);
    for (const group of groups) {
      group[stacked ? "stack" : "flat"] = { stacked, wide: group.offsetWidth, high: group.offsetHeight };
    }
  }
  view.sized = groups.every((group) => group.offsetParent);
}

function beside(group, width, height) {
  const { wide, high } = group.flat;
  const [left, top, right, bottom] = edges(group.rects[0], width, height);
  const line = top + Math.max(0, (Math.min(bottom - top, 1.2 * high) - high) / 2);
  const places = [[left - GAP - wide, line], [left, top - GAP - high], [right + GAP, line]];
  return places.map(([x, y]) => ({ ...group.flat, left: x, top: y }));
}

function inMargins(group, width, height) {
  const size = group.stack;
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
function bestPlace(ink, places, width, height, taken) {
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

// The ink of a picture is looked for once the picture is seen: a reader waits for the page and not for its tags, which
// are hidden until then.
function seekInk(view) {
  const { id } = view;
  view.ink = undefined;
  view.names.hidden = true;
  requestAnimationFrame(() => setTimeout(() => {
    if (view.id !== id || view.ink !== undefined) return;
    view.ink = inkOf(view.picture);
    view.names.hidden = false;
    settle(view);
  }));
}

// The page as a map of its ink; null where the browser hands out no pixels.
function inkOf(picture) {
  const scale = Math.min(1, INK_WIDTH / Math.max(picture.naturalWidth, 0.5 * picture.naturalHeight));
  const [width, height] = [picture.naturalWidth, picture.naturalHeight].map((side) => Math.ceil(side * scale));
  const pen = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d");
  if (!pen || !width || !height) return null;
  pen.drawImage(picture, 0, 0, width, height);
  const pixels = pen.getImageData(0, 0, width, height).data;
  const light = new Uint8Array(width * height);
  for (let at = 0, from = 0; at < light.length; at += 1, from += 4) {
    light[at] = (77 * pixels[from] + 151 * pixels[from + 1] + 28 * pixels[from + 2]) >> 8;
  }
  const isInk = new Uint8Array(width * height);
  for (let at = width; at < isInk.length; at += 1) {
    const here = light[at];
    isInk[at] = Math.abs(here - light[at - 1]) > INK || Math.abs(here - light[at - width]) > INK;
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
