// Reports to the server once that this element has come into view, or is less than half a window away from it.
const MARGIN = "50%";

export default function ({ parentElement, setStateValue }) {
  const host = parentElement.host ?? parentElement;
  const watcher = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      watcher.disconnect();
      setStateValue("seen", true);
    },
    { root: host.closest("[data-testid=stMain]"), rootMargin: MARGIN },
  );
  watcher.observe(host);
  return () => watcher.disconnect();
}
