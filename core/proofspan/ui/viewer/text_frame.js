// Scrolls the frame of a text to its chosen span, once for each passage. It draws nothing and reads no text:
// the frame is found by the mark that the server gave both. The frame is another element of the page: it may be
// drawn later, again, or get its size later.
const watches = new WeakMap();

export default function ({ data, parentElement }) {
  if (!data) return;
  const watch = watches.get(parentElement) ?? begun(parentElement);
  watch.focus = data.focus;
  look(watch);
  return () => ended(parentElement, watch);
}

function begun(parent) {
  const watch = { focus: null, frame: null, revealed: null, top: 0 };
  watch.changes = new MutationObserver(() => look(watch));
  watch.changes.observe(document.body, { childList: true, subtree: true });
  watch.sizes = new ResizeObserver(() => { if (watch.frame.scrollTop === watch.top) reveal(watch); });
  watches.set(parent, watch);
  return watch;
}

function ended(parent, watch) {
  watch.changes.disconnect();
  watch.sizes.disconnect();
  watches.delete(parent);
}

function look(watch) {
  const frame = document.querySelector(`[data-testid="ps-frame"][data-focus="${watch.focus}"]`);
  if (!frame || (frame === watch.frame && watch.focus === watch.revealed)) return;
  watch.sizes.disconnect();
  Object.assign(watch, { frame, revealed: watch.focus });
  reveal(watch);
  watch.sizes.observe(frame);
}

// Inside the frame only: scrollIntoView would move the whole page as well. Who has scrolled since is left alone.
function reveal(watch) {
  const { frame } = watch;
  const mark = frame.querySelector("mark.ps-chosen") ?? frame.querySelector("mark.ps-span-cited");
  if (mark) {
    const top = mark.getBoundingClientRect().top - frame.getBoundingClientRect().top + frame.scrollTop;
    frame.scrollTop = Math.max(0, top - frame.clientHeight / 3);
  }
  watch.top = frame.scrollTop;
}
