// Follow Streamlit's page links, and the addresses that the server asks for. A page that completes its own address
// replaces the history entry that `follow` added; after Streamlit's own navigation it would add another one.
let followed = null;

// A run of the page before may be announced after the click. Streamlit would then add an entry for that page, and
// one more for the way back. Which page is shown is for the reader to say.
window.history.pushState = function (state, title, address) {
  const to = new URL(address ?? "", window.location.href);
  if (to.pathname === window.location.pathname) History.prototype.pushState.call(this, state, title, to.href);
};

export default function ({ data }) {
  document.addEventListener("click", clicked, true);
  if (data && data.to && data.asked !== followed) {
    followed = data.asked;
    follow(data.to, { replaces: data.replaces });
  }
  return () => document.removeEventListener("click", clicked, true);
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
