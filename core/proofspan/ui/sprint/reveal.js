// Brings a part of the page into sight and lets the next Tab begin there, once for each `focus`. It draws nothing and
// reads no text. What is above the part may still grow: it is kept in sight for a moment, unless somebody acts.
const shown = new WeakMap();
const parts = { opened: ".st-key-opened, [class*='st-key-open-entry-']", writing: ".st-key-writing" };
const acts = ["wheel", "touchstart", "pointerdown", "keydown"];
const LOOK_MS = 150, LOOKS = 20;

export default function ({ data, parentElement }) {
  if (!data || shown.get(parentElement)?.focus === data.focus) return;
  shown.get(parentElement)?.stop();
  shown.set(parentElement, { focus: data.focus, stop: watched(parts[data.part]) });
}

function watched(selector) {
  let looks = 0, focused = null;
  const timer = setInterval(look, LOOK_MS);
  const stop = () => {
    clearInterval(timer);
    acts.forEach((act) => window.removeEventListener(act, stop, true));
  };
  acts.forEach((act) => window.addEventListener(act, stop, true));
  return stop;

  function look() {
    if (++looks >= LOOKS) stop();
    const part = document.querySelector(selector);
    if (!part) return;
    const { top, bottom } = part.getBoundingClientRect();
    const isInSight = top >= 0 && (bottom <= window.innerHeight || top < window.innerHeight / 3);
    if (!isInSight) part.scrollIntoView({ block: "start" });
    if (focused === part) return;
    focused = part;
    part.tabIndex = -1;
    part.focus({ preventScroll: true });
  }
}
