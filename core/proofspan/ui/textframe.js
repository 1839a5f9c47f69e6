// Scrolls the frame of a text to its chosen span, once for each passage. It draws nothing and reads no text:
// the frame is found by the mark that the server gave both.
const PATIENCE_MS = 5000;
const revealed = new WeakMap();

export default function ({ data, parentElement }) {
  if (!data || revealed.get(parentElement) === data.focus) return;
  revealed.set(parentElement, data.focus);
  seek(parentElement, data.focus, performance.now() + PATIENCE_MS);
}

// The frame is another element of the page and may be drawn later; another passage chosen meanwhile ends it.
function seek(parent, focus, until) {
  if (revealed.get(parent) !== focus) return;
  const frame = document.querySelector(`[data-testid="ps-frame"][data-focus="${focus}"]`);
  if (frame) reveal(frame);
  else if (performance.now() < until) requestAnimationFrame(() => seek(parent, focus, until));
}

// Inside the frame only: scrollIntoView would move the whole page as well.
function reveal(frame) {
  const mark = frame.querySelector("mark.ps-chosen") ?? frame.querySelector("mark.ps-span-cited");
  if (!mark) return;
  const top = mark.getBoundingClientRect().top - frame.getBoundingClientRect().top + frame.scrollTop;
  frame.scrollTop = Math.max(0, top - frame.clientHeight / 3);
}
