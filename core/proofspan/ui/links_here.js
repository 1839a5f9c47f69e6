// Follows Streamlit's page links, and what the server asks for. A page that completes its own address replaces the
// entry that `follow` made; after Streamlit's own way of following a link it would add another one.
let followed = null;

export default function ({ data }) {
  document.addEventListener("click", clicked, true);
  if (data && data.to && data.asked !== followed) {
    followed = data.asked;
    follow(data.to, { replaces: data.replaces });
  }
  return () => document.removeEventListener("click", clicked, true);
}

// Before Streamlit hears of it. With a modifier key the browser does what it does with a link.
function clicked(event) {
  const link = event.target.closest?.("a[data-testid=stPageLink-NavLink]");
  if (!link || link.target || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  follow(`./${link.getAttribute("href")}`); // the first page's begins with its query
}
