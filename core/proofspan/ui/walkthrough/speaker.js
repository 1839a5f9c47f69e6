// Follows a presentation in another window of this browser by its messages, and sends steps back. Foreign text enters
// through textContent alone.
const views = new WeakMap();
const SECOND_MS = 1000;
const BEGUN = "proofspan-notes-begun";

export default function ({ data, parentElement }) {
  const view = views.get(parentElement) ?? opened(parentElement, data.id);
  view.root.querySelector(".about").textContent = data.about;
  return () => closed(parentElement, view);
}

function opened(root, id) {
  const view = { root, channel: new BroadcastChannel(`proofspan-notes-${id}`) };
  views.set(root, view);
  const step = (by) => view.channel.postMessage({ step: by });
  view.channel.onmessage = ({ data }) => data.count !== undefined && show(root, data);
  root.querySelector(".previous").onclick = () => step(-1);
  root.querySelector(".next").onclick = () => step(1);
  root.querySelector(".restart").onclick = () => { sessionStorage[BEGUN] = Date.now(); tick(root); };
  view.onkey = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by && !event.ctrlKey && !event.metaKey && !event.altKey) step(by);
  };
  document.addEventListener("keydown", view.onkey);
  if (!sessionStorage[BEGUN]) sessionStorage[BEGUN] = Date.now();
  view.ticking = setInterval(() => tick(root), SECOND_MS);
  tick(root);
  view.channel.postMessage({ asks: true });
  return view;
}

function closed(root, view) {
  views.delete(root);
  clearInterval(view.ticking);
  view.channel.close();
  document.removeEventListener("keydown", view.onkey);
}

function show(root, shown) {
  for (const [name, text] of Object.entries({
    count: shown.count, title: shown.title, verdict: shown.verdict, expected: shown.expected, following: shown.next,
  })) root.querySelector(`.${name}`).textContent = text ?? "";
}

function tick(root) {
  const seconds = Math.max(0, Math.floor((Date.now() - Number(sessionStorage[BEGUN])) / SECOND_MS));
  const [minutes, rest] = [Math.floor(seconds / 60), String(seconds % 60).padStart(2, "0")];
  root.querySelector(".elapsed").textContent = `${minutes}:${rest}`;
}
