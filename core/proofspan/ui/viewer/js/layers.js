// The legend: what is on the page, each with a piece of its very line, as switches. What is switched off stays
// off in this tab, for other pages too, until it is switched on or one of it is chosen.
const STORED = "proofspan.layers.off";
const KINDS = { ...MEANING, unverified: UNVERIFIED };

function layersOff() {
  try {
    return new Set(JSON.parse(sessionStorage.getItem(STORED) ?? "[]").filter((kind) => kind in KINDS));
  } catch {
    return new Set();
  }
}

function showLegend(view) {
  const there = new Set(view.header.spans.map(kindOf));
  const isCalm = view.header.height_of === "stage" && [...there].every((kind) => kind === "cited");
  const kinds = isCalm ? [] : Object.keys(KINDS).filter((kind) => there.has(kind));
  if (kinds.join() !== view.legend.dataset.kinds) {
    view.legend.dataset.kinds = kinds.join();
    view.legend.replaceChildren(...kinds.map((kind) => layerSwitch(view, kind)));
  }
  for (const button of view.legend.children) {
    button.setAttribute("aria-pressed", String(!view.off.has(button.dataset.kind)));
  }
  for (const kind of Object.keys(KINDS)) view.page.classList.toggle(`without-${kind}`, view.off.has(kind));
}

function layerSwitch(view, kind) {
  const [button, sample] = [document.createElement("button"), drawn("svg", { width: 24, height: 6 })];
  Object.assign(button, { type: "button", title: `Show or hide: ${KINDS[kind]}` });
  button.dataset.kind = kind;
  sample.setAttribute("aria-hidden", "true");
  sample.append(drawn("line", { class: `outline ${kind}`, x1: 1, x2: 23, y1: 3, y2: 3 }));
  button.append(sample, KINDS[kind]);
  button.onclick = () => switchLayer(view, kind, view.off.has(kind));
  return button;
}

function switchLayer(view, kind, isOn) {
  if (isOn) view.off.delete(kind);
  else view.off.add(kind);
  try {
    sessionStorage.setItem(STORED, JSON.stringify([...view.off]));
  } catch {
    // The browser keeps nothing for this page: the choice lasts as long as the viewer.
  }
  closeCard(view);
  showLegend(view);
  view.sized = false;
  settle(view);
}

function unhideChosen(view) {
  const chosen = view.header.spans.find((span) => span.chosen);
  if (chosen && view.off.has(kindOf(chosen))) switchLayer(view, kindOf(chosen), true);
}
