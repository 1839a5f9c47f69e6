// Follows an address of the dashboard's own as the browser's Back and Forward do: the history gets one entry, and
// Streamlit hears of it. Its own `switch_page` makes two, of which the first is the old page under the new query.
function follow(address, { replaces = false } = {}) {
  const to = new URL(address, document.baseURI).href;
  if (replaces || to === window.location.href) window.history.replaceState({}, "", to);
  else window.history.pushState({}, "", to);
  window.dispatchEvent(new PopStateEvent("popstate", { state: {} }));
}
