// Follow Streamlit's page links, and the addresses that the server asks for. A page that completes its own address
// replaces the history entry that `follow` added; after Streamlit's own navigation it would add another one.
let followed = null;

// Where each address was scrolled to: Back and Forward lead to the same place, once what was there is there again.
const PLACE = "proofspan:scrolled:";
const RESTORE_MS = 8000;
const SAME_MS = 1500;
const title = () => main()?.querySelector("h1")?.textContent;
const main = () => document.querySelector("[data-testid=stMain]");
let restoring = null;

// A run of the page before may be announced after the click. Streamlit would then add an entry for that page, and
// one more for the way back. Which page is shown is for the reader to say, and so is what the browser alone reads
// (BROWSER_NAMES of view_state.py): a tour that was left meanwhile does not come back.
const OF_BROWSER = ["help", "tour"];
window.history.pushState = function (state, title, address) {
  const [to, here] = [new URL(address ?? "", window.location.href), new URL(window.location.href)];
  if (to.pathname !== here.pathname) return;
  for (const name of OF_BROWSER) {
    const value = here.searchParams.get(name);
    if (value === to.searchParams.get(name)) continue;
    if (value === null) to.searchParams.delete(name);
    else to.searchParams.set(name, value);
  }
  History.prototype.pushState.call(this, state, title, to.href);
};

export default function ({ data }) {
  const listeners = [
    ["click", clicked], ["scroll", scrolled], ["wheel", stop], ["touchmove", stop], ["keydown", stop], ["pointerdown", stop],
  ];
  for (const [name, act] of listeners) document.addEventListener(name, act, { capture: true, passive: name !== "click" });
  window.addEventListener("popstate", wentBack);
  const stopWatching = watchPresses();
  if (data && data.to && data.asked !== followed) {
    followed = data.asked;
    follow(data.to, { replaces: data.replaces });
  }
  return () => {
    for (const [name, act] of listeners) document.removeEventListener(name, act, true);
    window.removeEventListener("popstate", wentBack);
    stopWatching();
  };
}

function scrolled(event) {
  if (event.target === main() && !restoring) sessionStorage.setItem(PLACE + location.href, event.target.scrollTop);
}

// Only the browser's own events are trusted: those of `follow` lead to the top of another page.
function wentBack(event) {
  stop();
  const top = Number(sessionStorage.getItem(PLACE + location.href));
  if (!event.isTrusted || !top) return;
  restoring = { top, until: Date.now() + RESTORE_MS, left: title(), since: Date.now() };
  restore();
}

function restore() {
  if (!restoring) return;
  const state = document.querySelector("[data-testid=stApp]")?.dataset.testScriptState;
  const room = main() ? main().scrollHeight - main().clientHeight : 0;
  // The page that is left is still there for a moment: another one has another title.
  const isOther = title() !== restoring.left || Date.now() - restoring.since > SAME_MS;
  const isThere = isOther && state === "notRunning" && room >= restoring.top - 1;
  if (isThere) main().scrollTop = restoring.top;
  if (isThere || restoring.until < Date.now()) stop();
  else requestAnimationFrame(restore);
}

// A reader who scrolls or presses something meanwhile is not moved any more.
function stop() {
  restoring = null;
}

// Runs before Streamlit's own handler; the others are links in texts. With a modifier key the browser treats it as any link.
function clicked(event) {
  const link = event.target.closest?.("a[data-testid=stPageLink-NavLink], a.ps-link");
  if (!link || link.target || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  const address = link.getAttribute("href");
  follow(address.startsWith("./") ? address : `./${address}`); // the first page's begins with its query
}
