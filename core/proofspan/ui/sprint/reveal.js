// Brings a part of the page into sight and lets the next Tab begin there, once for each `focus`. It draws nothing and
// reads no text.
const shown = new WeakMap();
const parts = { opened: ".st-key-opened, [class*='st-key-open-entry-']", writing: ".st-key-writing" };

export default function ({ data, parentElement }) {
  if (!data || shown.get(parentElement) === data.focus) return;
  shown.set(parentElement, data.focus);
  // What is above gets its height in the next frames.
  requestAnimationFrame(() => setTimeout(() => {
    const part = document.querySelector(parts[data.part]);
    if (!part) return;
    const { top, bottom } = part.getBoundingClientRect();
    const isInSight = top >= 0 && (bottom <= window.innerHeight || top < window.innerHeight / 3);
    if (!isInSight) part.scrollIntoView({ block: "start" });
    part.tabIndex = -1;
    part.focus({ preventScroll: true });
  }, 150));
}
