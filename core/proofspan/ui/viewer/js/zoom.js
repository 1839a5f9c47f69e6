// Zoom and movement. A zoom of 1 fits the width; all is done by the page's size and the frame's scroll position,
// so that boxes, lines and tags stay as sharp as they are.
const [LEAST_ZOOM, MOST_ZOOM, STEP] = [0.25, 8, 1.25];
const WHEEL_RATE = 0.0022;
const DRAG_PIXELS = 4;
// The share of the frame that a span takes when one zooms to it, and the most that this magnifies.
const [SPAN_WIDE, SPAN_HIGH, SPAN_ZOOM] = [0.9, 0.7, 4];
const isCalm = matchMedia("(prefers-reduced-motion: reduce)");

function zoomBy(view, steps) {
  zoomTo(view, view.zoom * STEP ** steps);
}

// `point` (in the window) stays where it is; without one the middle of the frame does.
function zoomTo(view, zoom, point = null) {
  const next = Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, Math.abs(zoom - 1) < 0.02 ? 1 : zoom));
  const frame = view.frame.getBoundingClientRect();
  const [x, y] = point ?? [frame.left + frame.width / 2, frame.top + frame.height / 2];
  const before = view.page.getBoundingClientRect();
  const [across, down] = [(x - before.left) / before.width, (y - before.top) / before.height];
  if (next < 1 && view.zoom >= 1) view.frame.style.minHeight = `${frame.height}px`;
  if (next >= 1) view.frame.style.minHeight = "";
  view.zoom = next;
  sizePage(view);
  const after = view.page.getBoundingClientRect();
  view.frame.scrollLeft += after.left + across * after.width - x;
  view.frame.scrollTop += after.top + down * after.height - y;
  moved(view);
}

// Fits the width, but enlarges a small page three times at most. A property of its own would be inherited, and
// changing it would restyle every box.
function sizePage(view) {
  view.page.style.width = `calc(min(100%, ${3 * view.header.natural}px) * ${view.zoom})`;
}

function moved(view) {
  closeCard(view);
  const { scrollWidth, clientWidth, scrollHeight, clientHeight } = view.frame;
  view.canPan = scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1;
  view.frame.classList.toggle("can-pan", view.canPan);
  showBar(view);
  wantDetail(view);
}

function zoomToSpan(view) {
  const span = focusedSpan(view) ?? spanElement(view, chosenId(view));
  if (!span) return;
  const [box, page] = [span.getBoundingClientRect(), view.page.getBoundingClientRect()];
  const { clientWidth, clientHeight } = view.frame;
  const ratio = Math.min((SPAN_WIDE * clientWidth) / box.width, (SPAN_HIGH * view.frame.offsetHeight) / box.height);
  zoomTo(view, Math.min(SPAN_ZOOM, Math.max(1, view.zoom * ratio)));
  const grown = view.page.getBoundingClientRect().width / page.width;
  const middle = [(box.left - page.left + box.width / 2) * grown, (box.top - page.top + box.height / 2) * grown];
  view.frame.scrollTo({ left: middle[0] - clientWidth / 2, top: middle[1] - clientHeight / 2, behavior: "instant" });
}

function focusedSpan(view) {
  const active = view.root.getRootNode().activeElement;
  return view.layers.contains(active) ? active : null;
}

// Scrolls inside the frame only: scrollIntoView would move the whole page as well. What is in sight stays.
function reveal(view, { isSmooth, id = null }) {
  const shown = view.region.hidden ? null : view.region;
  const target = shown ?? spanElement(view, id ?? chosenId(view)) ?? view.layers.querySelector(".span.cited");
  if (target) revealElement(view, target, { isSmooth });
}

function revealElement(view, target, { isSmooth }) {
  const [box, frame] = [target.getBoundingClientRect(), view.frame.getBoundingClientRect()];
  const { clientWidth, clientHeight } = view.frame;
  const isInSight = box.top >= frame.top && box.bottom <= frame.top + clientHeight
    && box.left >= frame.left && box.right <= frame.left + clientWidth;
  if (isInSight) return;
  const room = Math.max(0, clientHeight - box.height);
  const beside = Math.max(0, clientWidth - box.width);
  view.frame.scrollTo({
    top: view.frame.scrollTop + box.top - frame.top - Math.min(room / 2, clientHeight / 3),
    left: view.frame.scrollLeft + box.left - frame.left - beside / 2,
    behavior: isSmooth && !isCalm.matches ? "smooth" : "instant",
  });
}

function listenToZoom(view) {
  const options = { passive: false };
  view.frame.addEventListener("wheel", (event) => wheeled(view, event), options);
  view.frame.addEventListener("touchstart", (event) => pinchBegins(view, event), options);
  view.frame.addEventListener("touchmove", (event) => pinched(view, event), options);
  view.frame.addEventListener("touchend", () => { view.pinch = null; });
  view.frame.addEventListener("pointerdown", (event) => pressed(view, event));
  view.frame.addEventListener("pointermove", (event) => dragged(view, event));
  for (const name of ["pointerup", "pointercancel"]) view.frame.addEventListener(name, () => released(view));
  view.frame.addEventListener("scroll", () => { closeCard(view); wantDetail(view); }, { passive: true });
}

// A plain wheel scrolls, as the browser has it; a trackpad's pinch comes as a wheel with Ctrl.
function wheeled(view, event) {
  if (!event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : 1);
  const by = Math.min(100, Math.max(-100, pixels));
  zoomTo(view, view.zoom * Math.exp(-WHEEL_RATE * by), [event.clientX, event.clientY]);
}

function fingers({ touches: [one, other] }) {
  return {
    apart: Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY),
    middle: [(one.clientX + other.clientX) / 2, (one.clientY + other.clientY) / 2],
  };
}

function pinchBegins(view, event) {
  if (event.touches.length !== 2) return;
  event.preventDefault();
  view.pinch = { ...fingers(event), zoom: view.zoom };
}

function pinched(view, event) {
  if (!view.pinch || event.touches.length !== 2) return;
  event.preventDefault();
  const { apart, middle } = fingers(event);
  zoomTo(view, (view.pinch.zoom * apart) / Math.max(1, view.pinch.apart), middle);
}

// A press that moves pans where there is something to pan, and is no click then. Fingers scroll by themselves.
function pressed(view, event) {
  view.wasDragged = false;
  if (event.button !== 0 || event.pointerType === "touch") return;
  const { scrollLeft, scrollTop } = view.frame;
  view.press = { x: event.clientX, y: event.clientY, scrollLeft, scrollTop, id: event.pointerId };
}

function dragged(view, event) {
  if (!view.press || !view.canPan) return;
  const [x, y] = [event.clientX - view.press.x, event.clientY - view.press.y];
  if (!view.wasDragged && Math.hypot(x, y) <= DRAG_PIXELS) return;
  if (!view.wasDragged) {
    view.wasDragged = true;
    closeCard(view);
    view.frame.setPointerCapture(view.press.id);
    view.frame.classList.add("dragging");
  }
  view.frame.scrollTo({ left: view.press.scrollLeft - x, top: view.press.scrollTop - y, behavior: "instant" });
}

function released(view) {
  view.press = null;
  view.frame.classList.remove("dragging");
}
