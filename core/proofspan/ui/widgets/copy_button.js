// Copies a text, or the address of the page, and says so. The text enters the document through textContent.
const SAID_MS = 4000;

export default function ({ data, parentElement }) {
  const find = (name) => parentElement.querySelector(`[data-testid="${name}"]`);
  const said = find("ps-copy-said");
  const text = find("ps-copied-text");
  if (text.textContent !== data.text) text.hidden = !data.shown;
  text.textContent = data.text;
  const copy = find("ps-copy");
  copy.textContent = `Copy ${data.name}`;
  copy.hidden = !data.text;
  copy.title = data.text;
  copy.onclick = () => copied(data.text, said, text);
  find("ps-copy-link").hidden = !data.link;
  find("ps-copy-link").onclick = () => copied(window.location.href, said);
}

// Where the browser refuses, the text is shown, so that it can be marked by hand.
async function copied(text, said, shown = null) {
  try {
    await navigator.clipboard.writeText(text);
    said.textContent = "Copied";
  } catch {
    said.textContent = "The browser refused to copy";
    if (shown) shown.hidden = false;
  }
  clearTimeout(said.clearing);
  said.clearing = setTimeout(() => { said.textContent = ""; }, SAID_MS);
}
