// Draws the attachments of a cited place. The data is one byte string: the length of a JSON header as four bytes
// (big endian), the header, the pictures one after the other. Foreign text enters through textContent and alt.
const views = new WeakMap();
const FRAME = ".st-key-walk-exhibits-frame";

export default function ({ data, parentElement, setTriggerValue }) {
  if (!data || !data.length) return;
  const view = views.get(parentElement) ?? opened(parentElement);
  view.send = setTriggerValue;
  show(view, data);
  return () => closed(parentElement, view);
}

function opened(root) {
  const view = { root, id: null, rest: root.querySelector(".rest"), frame: root.host?.closest(FRAME) };
  views.set(root, view);
  view.rest.addEventListener("click", () => {
    view.frame.toggleAttribute("data-whole");
    fit(view);
  });
  view.observer = new ResizeObserver(() => fit(view));
  if (view.frame) view.observer.observe(view.frame.parentElement);
  return view;
}

function closed(root, view) {
  views.delete(root);
  view.observer.disconnect();
  view.frame?.removeAttribute("data-whole");
}

function show(view, bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  if (header.id === view.id) return;
  view.id = header.id;
  view.at = 4 + length;
  const focus = view.root.getRootNode().activeElement?.dataset.group;
  view.root.querySelector(".attachments").className = `attachments ${header.size}`;
  view.root.querySelector(".note").textContent = header.note;
  view.root.querySelector(".groups").replaceChildren(...header.groups.map((group) => drawnGroup(view, group, bytes)));
  if (focus) view.root.querySelector(`[data-group="${focus}"]`)?.focus();
  view.frame?.removeAttribute("data-whole");
  fit(view);
}

// On a slide, which is as high as the window, what has no room is left out, and a button shows it: then the page scrolls.
function fit({ root, frame, rest }) {
  if (!frame) return;
  const items = [...root.querySelectorAll(".notice, figure, .fold, .more")];
  for (const item of items) item.hidden = false;
  rest.hidden = true;
  const isWhole = frame.hasAttribute("data-whole");
  const bottom = frame.getBoundingClientRect().bottom;
  const isLong = isWhole || getComputedStyle(frame).position === "absolute"
    && root.querySelector(".attachments").getBoundingClientRect().bottom > bottom + 1;
  if (!isLong) return;
  rest.hidden = false;
  rest.setAttribute("aria-expanded", String(isWhole));
  rest.textContent = "Show fewer";
  if (isWhole) return;
  const first = items.findIndex((item) => item.getBoundingClientRect().bottom > bottom - rest.offsetHeight);
  const left = items.slice(Math.max(first, 0));
  for (const item of left) item.hidden = true;
  const count = left.filter((item) => item.matches(".notice, figure")).length;
  rest.textContent = count ? `Show ${count.toLocaleString("en")} more` : "Show more";
}

function drawnGroup(view, group, bytes) {
  const made = element("section", "group");
  if (group.open !== null) made.append(foldButton(view, group));
  else if (group.heading) made.append(element("p", "heading", group.heading));
  const figures = element("div", "figures");
  for (const item of group.items) {
    const picture = bytes.subarray(view.at, (view.at += item.bytes));
    (item.signal ? made : figures).append(item.signal ? drawnNotice(view, item, picture) : drawnFigure(view, item, picture));
  }
  if (figures.childElementCount) made.append(figures);
  if (group.more) made.append(button("more", group.more, () => view.send("more", group.name)));
  return made;
}

function foldButton(view, group) {
  const made = button("fold", group.heading, () => view.send("fold", group.name));
  made.dataset.group = group.name;
  made.setAttribute("aria-expanded", String(group.open));
  return made;
}

function drawnNotice(view, item, picture) {
  const made = element("section", `notice ${item.kind}`);
  made.dataset.testid = "ps-notice";
  const head = element("div", "head");
  head.append(element("span", `ps-signal-${item.kind}`, item.signal));
  if (item.title) head.append(element("strong", "", item.title));
  head.append(element("span", "place", item.place), ...pageLink(view, item));
  made.append(head);
  if (item.text) made.append(element("p", "text", item.text));
  else if (item.bytes) made.append(drawnPicture(item, picture));
  if (item.problem) made.append(element("p", "problem", item.problem));
  return made;
}

function drawnFigure(view, item, picture) {
  const made = element("figure", item.kind);
  made.dataset.testid = "ps-figure";
  if (item.bytes) made.append(drawnPicture(item, picture));
  const caption = element("figcaption");
  caption.append(element("div", "", item.title));
  if (item.text) caption.append(element("p", "text", item.text));
  if (item.problem) caption.append(element("p", "problem", item.problem));
  caption.append(element("span", "place", item.place ? `${item.place} ` : ""), ...pageLink(view, item));
  made.append(caption);
  return made;
}

function drawnPicture(item, picture) {
  const made = document.createElement("img");
  const { width, height, alt, mime } = item;
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

function pageLink(view, { page_idx, page, id }) {
  if (page_idx === null) return [];
  const made = button("page", page, () => view.send("see", id));
  made.title = `Show it on its page (PDF ${(page_idx + 1).toLocaleString("en")}, page_idx ${page_idx})`;
  return [made];
}

function button(className, text, onclick) {
  return Object.assign(element("button", className, text), { type: "button", onclick });
}

function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}
