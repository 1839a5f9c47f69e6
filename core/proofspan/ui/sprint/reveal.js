// Brings a part of the page into sight and lets the next Tab begin there, once for each `focus`. It draws nothing and
// reads no text. What is above the part may still grow: it is kept in sight for a moment, unless somebody acts. When the
// part is closed, the focus returns to the row that opened it.
const shown = new WeakMap();
const parts = { opened: ".st-key-opened, [class*='st-key-open-entry-']", writing: ".st-key-writing" };
const acts = ["wheel", "touchstart", "pointerdown", "keydown"];
const LOOK_MS = 150, LOOKS = 20, CLOSED_MS = 30000;

export default function ({ data, parentElement }) {
  if (data && shown.get(parentElement)?.focus !== data.focus) {
    shown.get(parentElement)?.stop();
    shown.set(parentElement, { ...data, stop: watched(parts[data.part]) });
  }
  return () => requestAnimationFrame(() => closed(parentElement, Date.now() + CLOSED_MS));
}

// Unless the part is only drawn again, or the focus has gone on to something else. Tables are drawn again meanwhile.
function closed(parentElement, until) {
  const { item, stop } = shown.get(parentElement) ?? {};
  if (!item || parentElement.isConnected || document.activeElement !== document.body || Date.now() > until) return;
  stop();
  const isDrawn = document.querySelector("[data-testid=stApp]").dataset.testScriptState === "notRunning";
  const tables = [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")].map((one) => one.shadowRoot);
  const rows = tables.flatMap((root) => [...(root?.querySelectorAll("tbody[data-key]:not([hidden])") ?? [])]);
  const link = isDrawn && rows.find((row) => row.dataset.key === item)?.querySelector("a");
  if (!link) return void requestAnimationFrame(() => closed(parentElement, until));
  link.focus({ preventScroll: true });
  link.scrollIntoView({ block: "nearest" });
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
