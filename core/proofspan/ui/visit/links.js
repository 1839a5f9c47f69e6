// Follow an address of the dashboard as the browser's Back and Forward do: add one history entry and notify
// Streamlit. Its own `switch_page` adds two, the first of which is the old page with the new query.
function follow(address, { replaces = false } = {}) {
  const to = new URL(address, document.baseURI).href;
  const { pushState, replaceState } = History.prototype;
  (replaces || to === window.location.href ? replaceState : pushState).call(window.history, {}, "", to);
  window.dispatchEvent(new PopStateEvent("popstate", { state: {} }));
}
