// Follow Streamlit's page links, and the addresses that the server asks for. A page that completes its own address
// replaces the history entry that `follow` added; after Streamlit's own navigation it would add another one.
let followed = null;

export default function ({ data }) {
  document.addEventListener("click", clicked, true);
  if (data && data.to && data.asked !== followed) {
    followed = data.asked;
    follow(data.to, { replaces: data.replaces });
  }
  return () => document.removeEventListener("click", clicked, true);
}

// Runs before Streamlit's own handler. With a modifier key the browser treats it as any link.
function clicked(event) {
  const link = event.target.closest?.("a[data-testid=stPageLink-NavLink]");
  if (!link || link.target || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  follow(`./${link.getAttribute("href")}`); // the first page's begins with its query
}
