// The page's text for screen readers. It comes with the picture, is not seen and not announced; it has a name and is
// reached like any other region.
const NO_TEXT = "This page has no text that can be read aloud: it may be a scan or a picture.";

function showWords(view, { text }) {
  const shown = text.paragraphs.length ? text.paragraphs : [NO_TEXT];
  const rest = text.left_out ? [`${text.left_out.toLocaleString("en")} more characters of this page are left out.`] : [];
  view.words.replaceChildren(...[...shown, ...rest].map((paragraph) => (
    Object.assign(document.createElement("p"), { textContent: paragraph })
  )));
}
