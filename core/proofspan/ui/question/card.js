// Copies the card of a question: as a picture with its text beside it, or as text. Where the browser refuses, or cannot
// hold pictures, the card is saved as a file. The text enters the document as the picture's description alone.
const FREE_MS = 10_000;

export default function ({ data, parentElement }) {
  const find = (name) => parentElement.querySelector(`[data-testid="${name}"]`);
  const picture = () => blobOf(Uint8Array.from(atob(data.png), (each) => each.charCodeAt(0)), "image/png");
  const text = () => blobOf(data.text, "text/plain");
  const say = (words) => { find("ps-copy-card-status").textContent = words; };
  const image = find("ps-copy-card-picture");
  const source = `data:image/png;base64,${data.png}`;
  if (image.src !== source) {
    image.src = source;
    image.alt = data.text;
    say("");
  }
  const copied = (types, name, blob) => async () => {
    try {
      await navigator.clipboard.write([new ClipboardItem(types())]);
      say("Copied");
    } catch {
      save(blob(), name);
      say("The browser refused to copy; saved as a file");
    }
  };
  const names = { png: `${data.stem}.png`, text: `${data.stem}.txt` };
  find("ps-copy-card-copy").onclick = copied(() => ({ "image/png": picture(), "text/plain": text() }), names.png, picture);
  find("ps-copy-card-copy-text").onclick = copied(() => ({ "text/plain": text() }), names.text, text);
  find("ps-copy-card-save").onclick = () => save(picture(), names.png);
  find("ps-copy-card-save-text").onclick = () => save(text(), names.text);
}

function blobOf(part, type) {
  return new Blob([part], { type });
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), FREE_MS);
}
