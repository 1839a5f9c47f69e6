// Sharpness: where the page is shown larger than its picture has pixels, the visible part is rendered again by the
// server and laid over the picture at its place. It belongs to one picture and goes with it. Another component
// (viewer_wire.js) carries request and answer, so that nothing else of the page runs again for them.
const BLUR = 1.15;
const PAUSE_MS = 220;
// The part asked for is larger than the part in sight by this share of it on each side.
const AROUND = 0.25;
const MOST_PIXELS = 4096;
// An answer that has not come by then does not come.
const WAIT_MS = 8000;

function plug(view) {
  const wire = wireOf(view.header.key);
  view.wire = wire;
  wire.take = (header, bytes) => takeDetail(view, header, bytes);
}

function unplug(view) {
  if (view.wire) view.wire.take = null;
}

function wantDetail(view) {
  clearTimeout(view.pause);
  view.pause = setTimeout(() => askForDetail(view), PAUSE_MS);
}

function inSight(view) {
  const [page, frame] = [view.page.getBoundingClientRect(), view.frame.getBoundingClientRect()];
  const share = (from, to, start, length) => [
    Math.max(0, (100 * (from - start)) / length), Math.min(100, (100 * (to - start)) / length),
  ];
  const [left, right] = share(frame.left, frame.left + view.frame.clientWidth, page.left, page.width);
  const [top, bottom] = share(frame.top, frame.top + view.frame.clientHeight, page.top, page.height);
  return { left, top, right, bottom, isSeen: right > left && bottom > top && page.width > 0 };
}

function askForDetail(view) {
  const isAsked = view.asked && performance.now() - view.askedAt < WAIT_MS;
  if (!view.wire?.ask || isAsked || view.pinch || view.press) return;
  const pixels = view.page.getBoundingClientRect().width * window.devicePixelRatio;
  const seen = inSight(view);
  if (pixels <= BLUR * view.header.width || !seen.isSeen || isSharp(view, seen, pixels)) return;
  const [wide, high] = [seen.right - seen.left, seen.bottom - seen.top];
  const left = Math.max(0, seen.left - AROUND * wide);
  const top = Math.max(0, seen.top - AROUND * high);
  const region = [
    left, top, Math.min(100, seen.right + AROUND * wide) - left, Math.min(100, seen.bottom + AROUND * high) - top,
  ];
  const width = Math.min(MOST_PIXELS, Math.ceil((pixels * region[2]) / 100));
  const asked = `${view.id} ${region.map((side) => side.toFixed(2)).join(" ")} ${width}`;
  if (asked === view.refused) return;
  Object.assign(view, { asked, askedAt: performance.now() });
  view.wire.ask({ id: view.id, asked, region, width });
}

// Whether the detail that is there covers what is in sight, about as fine as the screen can show it.
function isSharp(view, seen, pixels) {
  const there = view.sharp;
  if (!there) return false;
  const [left, top, wide, high] = there.region;
  const covers = left <= seen.left + 0.1 && top <= seen.top + 0.1
    && left + wide >= seen.right - 0.1 && top + high >= seen.bottom - 0.1;
  const isFine = BLUR * there.width >= Math.min(MOST_PIXELS, (pixels * wide) / 100) || there.isFinest;
  return covers && isFine;
}

async function takeDetail(view, header, bytes) {
  if (header.asked !== view.asked) return;
  if (!bytes.length) {
    view.refused = view.asked;
    view.asked = null;
    return;
  }
  const next = await decoded(bytes, header.mime);
  view.asked = null;
  if (header.id !== view.id) return URL.revokeObjectURL(next.src);
  if (view.detailUrl) URL.revokeObjectURL(view.detailUrl);
  view.detailUrl = view.detail.src = next.src;
  // A picture smaller than asked for is as fine as the server draws this region.
  view.sharp = { region: header.region, width: header.width, isFinest: header.width < header.wanted };
  placed(view.detail, header.region);
  view.detail.hidden = false;
  view.detail.dataset.id = header.id;
  wantDetail(view);
}

function dropDetail(view) {
  if (view.detailUrl) URL.revokeObjectURL(view.detailUrl);
  Object.assign(view, { detailUrl: null, sharp: null, asked: null });
  view.detail.hidden = true;
  view.detail.removeAttribute("src");
}
