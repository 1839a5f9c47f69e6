// Copies a text, or the address of the page, and says so. The text enters the document through textContent.
const SHOWN_MS = 4000;
const MOST_TIP = 300;

export default function ({ data, parentElement }) {
  const find = (name) => parentElement.querySelector(`[data-testid="${name}"]`);
  const status = find("ps-copy-status");
  const text = find("ps-copied-text");
  if (text.textContent !== data.text) text.hidden = !data.shown;
  text.textContent = data.text;
  const copy = find("ps-copy");
  copy.textContent = `Copy ${data.name}`;
  copy.hidden = !data.text;
  copy.title = data.text.length > MOST_TIP ? `${data.text.slice(0, MOST_TIP)}…` : data.text;
  copy.onclick = () => copied(data.text, status, text);
  find("ps-copy-link").hidden = !data.link;
  find("ps-copy-link").onclick = () => copied(window.location.href, status);
}

// Where the browser refuses, the text is shown, so that it can be marked by hand.
async function copied(text, status, shown = null) {
  try {
    await navigator.clipboard.writeText(text);
    status.textContent = "Copied";
  } catch {
    status.textContent = "The browser refused to copy";
    if (shown) shown.hidden = false;
  }
  clearTimeout(status.clearing);
  status.clearing = setTimeout(() => { status.textContent = ""; }, SHOWN_MS);
}
