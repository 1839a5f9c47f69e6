// Draws what belongs to a bundle's place. The data is one byte string: the length of a JSON header as four bytes
// (big endian), the header, the pictures one after the other. Foreign text enters through textContent and alt.
const views = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  if (!data || !data.length) return;
  const view = views.get(parentElement) ?? opened(parentElement);
  view.send = setTriggerValue;
  show(view, data);
  return () => views.delete(parentElement);
}

function opened(root) {
  const find = (name) => root.querySelector(`.${name}`);
  const view = {
    told: find("told"), notices: find("notices"), figures: find("figures"), more: find("more"), id: null,
  };
  view.more.onclick = () => view.send("more", true);
  views.set(root, view);
  return view;
}

function show(view, bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  if (header.id === view.id) return;
  view.id = header.id;
  view.told.textContent = header.told;
  view.notices.replaceChildren(...parted(header.notices, (notice) => drawnNotice(view, notice)));
  let at = 4 + length;
  view.figures.replaceChildren(...parted(header.figures, (figure) => {
    const picture = bytes.subarray(at, at + figure.bytes);
    at += figure.bytes;
    return drawnFigure(view, figure, picture);
  }));
  view.more.textContent = header.more;
  view.more.hidden = !header.more;
}

// What lies beside the cited place comes last, below a line that says so.
function parted(items, drawn) {
  const made = items.map(drawn);
  const first = items.findIndex((item) => item.beside);
  if (first >= 0) made.splice(first, 0, element("p", "beside", "On the pages before and after"));
  return made;
}

function drawnNotice(view, notice) {
  const made = element("section", `notice ${notice.kind}`);
  made.dataset.testid = "ps-notice";
  const head = element("div", "head");
  head.append(element("span", `ps-signal-${notice.kind}`, notice.signal));
  if (notice.title) head.append(element("strong", "", notice.title));
  head.append(element("span", "place", notice.place), ...pageLink(view, notice));
  made.append(head);
  if (notice.words) made.append(element("p", "words", notice.words));
  if (notice.problem) made.append(element("p", "problem", notice.problem));
  return made;
}

function drawnFigure(view, figure, picture) {
  const made = element("figure");
  made.dataset.testid = "ps-figure";
  if (figure.bytes) made.append(drawnPicture(figure, picture));
  const caption = element("figcaption");
  caption.append(element("div", "", figure.caption));
  if (figure.words) caption.append(element("p", "words", figure.words));
  if (figure.problem) caption.append(element("p", "problem", figure.problem));
  caption.append(element("span", "place", figure.place ? `${figure.place} ` : ""), ...pageLink(view, figure));
  made.append(caption);
  return made;
}

function drawnPicture(figure, picture) {
  const made = document.createElement("img");
  const { width, height, alt, mime } = figure;
  Object.assign(made, { width, height, alt, draggable: false, src: `data:${mime};base64,${inBase64(picture)}` });
  return made;
}

// A blob and its address each ask another process and wait for it, many times longer than this takes.
function inBase64(bytes) {
  const parts = [];
  for (let at = 0; at < bytes.length; at += 32768) {
    parts.push(String.fromCharCode(...bytes.subarray(at, at + 32768)));
  }
  return btoa(parts.join(""));
}

function pageLink(view, { page, id }) {
  if (page === null) return [];
  const made = element("button", "", `PDF page ${(page + 1).toLocaleString("en")}`);
  made.type = "button";
  made.title = `Show it on its page (page_idx ${page})`;
  made.onclick = () => view.send("see", id);
  return [made];
}

function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}
