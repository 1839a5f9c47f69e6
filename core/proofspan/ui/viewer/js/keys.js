// Keys while the viewer has the focus. On a stage left and right belong to the page around it.
const ANYWHERE = { "+": "zoom-in", "=": "zoom-in", "-": "zoom-out", "−": "zoom-out", 0: "fit", f: "to-span", F: "to-span",
  PageUp: "page-before", PageDown: "page-after" };
const ON_PAGE = { ArrowUp: "span-before", ArrowDown: "span-after" };
const IN_PANEL = { ArrowLeft: "page-before", ArrowRight: "page-after" };

function listenToKeys(view) {
  view.root.addEventListener("keydown", (event) => keyed(view, event));
}

function keyed(view, event) {
  if (event.defaultPrevented || event.target === view.field) return;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "c") return copyFocused(view, event);
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isOnPage = view.frame.contains(event.target) && !event.shiftKey;
  const name = ANYWHERE[event.key]
    ?? (isOnPage ? ON_PAGE[event.key] : undefined)
    ?? (isOnPage && view.header.height_of === "panel" ? IN_PANEL[event.key] : undefined);
  if (!name) return;
  event.preventDefault();
  ACTIONS[name](view);
}

// The page's own words under the box; what somebody marked in the card is copied by the browser.
function copyFocused(view, event) {
  const span = focusedSpan(view);
  if (!span || !window.getSelection().isCollapsed) return;
  event.preventDefault();
  copyText(view, span.dataset.span);
}
