// Draws one page picture with boxes over it. The data is one byte string: the length of a JSON header as four
// bytes (big endian), the header, the PNG. Foreign text enters the document through textContent and alt alone.
const MEANING = { cited: "cited", gold: "gold", retrieved: "retrieved" };
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
    legend: find(".legend"), url: null, id: null, focus: null, turn: 0,
  };
  views.set(root, view);
  view.frame.onkeydown = (event) => turnPage(view, event);
  return view;
}

// Left and right go to the page before and after; up and down scroll, as the browser has it.
function turnPage(view, event) {
  const by = { ArrowLeft: "previous", ArrowRight: "next" }[event.key];
  if (!by || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  event.preventDefault();
  view.send("turn", by);
}

function closed(root, view) {
  views.delete(root);
  view.turn += 1;
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
    const url = URL.createObjectURL(new Blob([png], { type: "image/png" }));
    const next = new Image();
    next.src = url;
    await next.decode().catch(() => {});
    if (turn !== view.turn) return URL.revokeObjectURL(url);
    if (view.url) URL.revokeObjectURL(view.url);
    Object.assign(view, { id: header.id, url });
    view.picture.src = url;
    view.page.style.aspectRatio = `${header.width} / ${header.height}`;
    view.frame.scrollTop = 0;
  }
  view.picture.alt = header.alt;
  view.frame.setAttribute("aria-label", header.alt);
  view.layers.replaceChildren(...header.spans.flatMap(drawn));
  view.layers.querySelectorAll(".tag").forEach(settle);
  view.legend.replaceChildren(...legend(header.spans));
  view.page.dataset.id = header.id;
  if (header.focus !== view.focus) {
    view.focus = header.focus;
    reveal(view);
  }
}

function drawn(span) {
  const boxes = span.rects.map(([left, top, width, height]) => {
    const box = element(span, "box");
    place(box, { left, top, width, height });
    return box;
  });
  if (!boxes.length || !span.tag) return boxes;
  const tag = element(span, "tag");
  tag.textContent = span.tag;
  const [left, top] = span.rects[0];
  place(tag, { left, top });
  return [...boxes, tag];
}

// A tag stands in the left margin where it fits, so that it covers no text; else on top of its box, or at the
// page's upper edge below the box's.
function settle(tag) {
  const isInMargin = tag.offsetLeft < 0.3 * tag.parentElement.clientWidth && tag.offsetLeft > tag.offsetWidth;
  tag.classList.toggle("beside", isInMargin);
  tag.classList.toggle("below", !isInMargin && tag.offsetTop < tag.offsetHeight);
}

function element(span, part) {
  const made = document.createElement("div");
  made.className = `${part} ${MEANING[span.layer]}`;
  made.classList.toggle("chosen", span.chosen);
  made.dataset.testid = `ps-${part}`;
  made.dataset.layer = span.layer;
  made.dataset.span = span.id;
  return made;
}

function place(made, percent) {
  for (const [side, value] of Object.entries(percent)) made.style[side] = `${value}%`;
}

function legend(spans) {
  return Object.keys(MEANING).filter((layer) => spans.some((span) => span.layer === layer)).map((layer) => {
    const made = document.createElement("span");
    made.className = layer;
    made.textContent = MEANING[layer];
    return made;
  });
}

// Scrolls inside the frame only: scrollIntoView would move the whole page as well.
function reveal(view) {
  const box = view.layers.querySelector(".box.chosen") ?? view.layers.querySelector(".box.cited");
  if (!box) return;
  const room = Math.max(0, view.frame.clientHeight - box.offsetHeight);
  view.frame.scrollTop = Math.max(0, box.offsetTop - Math.min(room / 2, view.frame.clientHeight / 3));
}
