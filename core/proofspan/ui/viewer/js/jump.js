// A button that leads to the gold passage while it lies on this page out of sight, and back to the cited one.
const JUMPS = ["gold", "cited"];
// A span is in sight when so much of it is, or of the window.
const IN_SIGHT = 0.6;
const MOST_WATCHED = 50;

function watchSight(view) {
  const steps = Array.from({ length: 11 }, (_, place) => place / 10);
  view.seen = new Map();
  view.sight = new IntersectionObserver((entries) => {
    for (const { target, intersectionRect, boundingClientRect, rootBounds } of entries) {
      const most = Math.min(boundingClientRect.height, rootBounds?.height ?? window.innerHeight, view.frame.clientHeight);
      view.seen.set(target, intersectionRect.height >= IN_SIGHT * most && intersectionRect.height > 0);
    }
    showJump(view);
  }, { threshold: steps });
}

function watchSpans(view) {
  view.sight.disconnect();
  view.seen.clear();
  const spans = JUMPS.flatMap((layer) => [...view.layers.querySelectorAll(`.span.${layer}`)].slice(0, MOST_WATCHED));
  for (const span of spans) view.sight.observe(span);
  showJump(view);
}

// Where there is nothing to lead to, the button keeps its room: the toolbar does not move while one scrolls.
function showJump(view) {
  const button = view.bar.querySelector(".jump");
  const kinds = JUMPS.map((layer) => [...view.seen].filter(([span]) => span.dataset.layer === layer && span.isConnected));
  const hidden = kinds.find((spans) => spans.length && spans.every(([span, isSeen]) => !isSeen && span.checkVisibility()));
  button.hidden = !kinds[0].length;
  button.classList.toggle("idle", !hidden);
  if (!hidden) return;
  const [[span]] = hidden;
  const isBelow = span.getBoundingClientRect().top > view.frame.getBoundingClientRect().top;
  const name = span.dataset.layer === "gold" ? "Gold" : "Cited";
  button.textContent = `${name} ${isBelow ? "↓" : "↑"}`;
  button.title = `${name} passage on this page, ${isBelow ? "below" : "above"}`;
  button.dataset.span = span.dataset.span;
}

function jump(view) {
  const span = spanElement(view, view.bar.querySelector(".jump").dataset.span);
  if (!span) return;
  revealElement(view, span, { isSmooth: false });
  span.scrollIntoView({ block: "nearest" });
  span.focus({ preventScroll: true });
}
