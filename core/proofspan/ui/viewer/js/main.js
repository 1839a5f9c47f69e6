// Draws one page picture with boxes over it. The data is one byte string: the length of a JSON header as four
// bytes (big endian), the header, the picture. Foreign text enters the document through textContent, alt, title
// and aria-label alone. This file opens and closes a viewer and swaps its page; the others draw its parts.
const views = new WeakMap();
const REST_MS = 90;

export default function ({ data, parentElement, setTriggerValue }) {
  if (!data || !data.length) return;
  const view = views.get(parentElement) ?? opened(parentElement);
  view.trigger = setTriggerValue;
  show(view, ...unpacked(data));
  return () => closed(parentElement, view);
}

function opened(root) {
  const find = (name) => root.querySelector(name);
  const view = {
    root: find(".viewer"), bar: find(".bar"), field: find("input"), window: find(".window"),
    frame: find(".frame"), page: find(".page"), picture: find(".picture"), detail: find(".detail"),
    layers: find(".layers"), outlines: find(".outlines"), names: find(".names"), region: find(".region"),
    card: find(".card"), words: find(".words"), legend: find(".legend"), announced: find(".announced"),
    url: null, id: null, focus: null, turn: 0, zoom: 1, header: null, drawn: "", off: layersOff(),
    wanted: null, isAwaiting: false,
  };
  views.set(root, view);
  view.host = view.root.getRootNode().host ?? root;
  view.host.dataset.of = "";
  watchSight(view);
  listenToKeys(view);
  listenToBar(view);
  listenToZoom(view);
  listenToBoxes(view);
  listenToCard(view);
  listenToClaims(view);
  view.resized = new ResizeObserver(() => resized(view));
  for (const part of [view.layers, view.frame]) view.resized.observe(part);
  const around = (root.host ?? root).closest("[data-testid=stMainBlockContainer]");
  view.moved = new ResizeObserver(() => fitStage(view));
  if (around) view.moved.observe(around);
  view.onWindow = () => resized(view);
  window.addEventListener("resize", view.onWindow);
  view.onEscape = (event) => { if (event.key === "Escape") closeCard(view); };
  document.addEventListener("keydown", view.onEscape);
  return view;
}

function closed(root, view) {
  views.delete(root);
  delete view.host.dataset.of;
  view.turn += 1;
  view.resized.disconnect();
  view.sight.disconnect();
  view.moved.disconnect();
  window.removeEventListener("resize", view.onWindow);
  document.removeEventListener("keydown", view.onEscape);
  unplug(view);
  view.unfollow();
  for (const url of [view.url, view.detailUrl]) if (url) URL.revokeObjectURL(url);
}

// Tags follow the page by themselves; their best places are looked for when it has come to rest.
function resized(view) {
  fitStage(view);
  closeCard(view);
  wantDetail(view);
  clearTimeout(view.resting);
  view.resting = setTimeout(() => settle(view), REST_MS);
}

// A new picture is decoded before it replaces the old one together with its boxes, so that nothing flickers
// and no box ever lies on another page's picture. A later call makes an unfinished one give up. A picture that
// the server believes to be here and that is not is asked for.
async function show(view, header, bytes) {
  const turn = ++view.turn;
  let next = null;
  if (header.id !== view.id) {
    if (!bytes.length) return view.trigger("lost", header.id);
    next = await decoded(bytes, header.mime);
    if (turn !== view.turn) return URL.revokeObjectURL(next.src);
  }
  const focused = focusedPart(view);
  if (next) {
    swapPicture(view, header, next);
    showWords(view, header);
  }
  view.header = header;
  sizePage(view);
  plug(view);
  view.frame.setAttribute("aria-label", view.picture.alt = header.alt);
  view.words.setAttribute("aria-label", `Text of ${header.alt}`);
  view.root.classList.toggle("stage", header.height_of === "stage");
  withSpots(view);
  drawSpans(view);
  showLegend(view);
  lightClaims(view);
  showRegion(view);
  view.page.dataset.id = header.id;
  answered(view);
  showBar(view);
  fitStage(view);
  settle(view);
  if (header.focus !== view.focus) {
    view.focus = header.focus;
    unhideChosen(view);
    reveal(view, { isSmooth: !next });
  }
  refocus(view, focused);
  wantDetail(view);
  view.root.dataset.shown = "";
  view.host.dataset.of = header.of;
}

async function decoded(bytes, mime) {
  const made = new Image();
  made.src = URL.createObjectURL(new Blob([bytes], { type: mime }));
  await made.decode().catch(() => {});
  return made;
}

function swapPicture(view, header, next) {
  if (view.url) URL.revokeObjectURL(view.url);
  dropDetail(view);
  closeCard(view);
  Object.assign(view, { id: header.id, url: next.src });
  view.picture.src = next.src;
  seekInk(view);
  view.page.style.aspectRatio = `${header.width} / ${header.height}`;
  view.frame.scrollTop = view.frame.scrollLeft = 0;
  bringIntoSight(view);
}

// In a narrow window the page is above the reasons: a reader who turns it from there sees the new page.
function bringIntoSight(view) {
  if (!document.activeElement?.closest(".st-key-reading")) return;
  const { top, bottom } = view.frame.getBoundingClientRect();
  if (bottom > 0 && top < window.innerHeight) return;
  const host = view.frame.getRootNode().host ?? view.frame;
  (host.closest(".st-key-page-side") ?? host).scrollIntoView({ block: "start" });
}

// A part of the page that the server points at, such as a notice.
function showRegion(view) {
  const { region, focus } = view.header;
  view.region.hidden = !region;
  if (!region || view.region.dataset.focus === focus) return;
  placed(view.region, region);
  view.region.dataset.focus = focus;
  view.region.getAnimations().forEach((each) => { each.cancel(); each.play(); });
}

// On a stage the page fills the window below the elements above it; `--stage-below` are the pixels
// that the page around it needs below. A lower page leaves room in its frame: the toolbar stays where it is.
function fitStage(view) {
  if (view.header?.height_of !== "stage") return;
  const scroller = (view.root.getRootNode().host ?? view.root).closest("[data-testid=stMain]");
  const top = view.frame.getBoundingClientRect().top + (scroller?.scrollTop ?? 0);
  const around = view.root.getBoundingClientRect().bottom - view.frame.getBoundingClientRect().bottom;
  const below = parseFloat(getComputedStyle(view.root).getPropertyValue("--stage-below")) || MARGIN_PIXELS;
  const left = window.innerHeight - top - around - below;
  const height = left > window.innerHeight / 2 ? `${Math.floor(left)}px` : "75vh";
  Object.assign(view.frame.style, { height, maxHeight: height });
}
const MARGIN_PIXELS = 12;

// The part with the keyboard's focus, which gets it again when its element is replaced.
function focusedPart(view) {
  const active = view.root.getRootNode().activeElement;
  return view.layers.contains(active) ? { span: active.dataset.span } : null;
}

// To the same box, else (it was left by a key) to the chosen one, else to the frame.
function refocus(view, focused) {
  if (!focused) return;
  const active = view.root.getRootNode().activeElement;
  if (active && active !== view.frame && view.root.contains(active)) return;
  const stays = view.follows ? null : spanElement(view, focused.span);
  view.follows = false;
  (stays ?? spanElement(view, chosenId(view)) ?? view.frame).focus({ preventScroll: true });
}
