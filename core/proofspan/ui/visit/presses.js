// A press of the mouse is a click on what was pressed. While a page arrives, parts of it move or are drawn again between
// press and release: the browser then clicks on what both have in common, which is nothing that acts.
const PRESSED = "a[href], button, summary, td:has(a, button), th:has(a, button), tbody:has(a, button)";
const MOVED_PIXELS = 4;
let press = null;

const presses = [["pointerdown", pressedDown], ["pointerup", released], ["click", arrived], ["pointercancel", canceled]];

function watchPresses() {
  for (const [name, act] of presses) window.addEventListener(name, act, true);
  return () => {
    for (const [name, act] of presses) window.removeEventListener(name, act, true);
  };
}

function pressedDown(event) {
  press = null;
  const hasModifier = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  if (!event.isTrusted || event.button || event.pointerType !== "mouse" || hasModifier) return;
  const target = event.composedPath().find((each) => each instanceof Element && each.matches(PRESSED));
  if (target) press = { target, root: target.getRootNode(), like: likeness(target), x: event.clientX, y: event.clientY };
}

// The click itself comes after this event, if it comes.
function released(event) {
  const made = press;
  if (!made) return;
  const hasMoved = Math.hypot(event.clientX - made.x, event.clientY - made.y) > MOVED_PIXELS;
  if (hasMoved || (made.target.isConnected && isUnder(made.target, event))) press = null;
  else setTimeout(() => press === made && again(made));
}

function arrived(event) {
  if (press && event.isTrusted && event.composedPath().includes(press.target)) press = null;
}

function canceled() {
  press = null;
}

function again({ target, root, like }) {
  press = null;
  const found = target.isConnected ? target : [...root.querySelectorAll(target.localName)].find((each) => likeness(each) === like);
  (found?.matches("td, th, tbody") ? found.querySelector("a, button") : found)?.click();
}

// What is drawn again has the same address, or the same words in the same part of the page.
function likeness(target) {
  const link = target.matches("a") ? target : target.querySelector("a");
  return link?.getAttribute("href") ?? `${target.closest("[class*=st-key-]")?.className}: ${target.textContent}`;
}

function isUnder(target, { clientX, clientY }) {
  for (let root = document; root;) {
    const found = root.elementFromPoint(clientX, clientY);
    for (let each = found; each; each = each.parentNode ?? each.host) if (each === target) return true;
    root = found?.shadowRoot === root ? null : found?.shadowRoot;
  }
  return false;
}
