// Scrolls the open item into sight, once for each, where it is not. It draws nothing and reads no text.
const shown = new WeakMap();

export default function ({ data, parentElement }) {
  if (!data || shown.get(parentElement) === data.focus) return;
  shown.set(parentElement, data.focus);
  // What is above gets its height in the next frames.
  requestAnimationFrame(() => setTimeout(() => {
    const item = document.querySelector(".st-key-opened, [class*='st-key-open-entry-']");
    if (!item) return;
    const { top, bottom } = item.getBoundingClientRect();
    const isInSight = top >= 0 && (bottom <= window.innerHeight || top < window.innerHeight / 3);
    if (!isInSight) item.scrollIntoView({ block: "start" });
  }, 150));
}
