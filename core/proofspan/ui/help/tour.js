// The tour of the demo: a bar over the page that it explains. The address has the step, so that Back leads to the one
// before.
function openedTour(view) {
  view.bar = view.find(".tour");
  view.outline = document.head.appendChild(element("style"));
  view.find(".next").onclick = () => toStep(view, view.step + 1);
  view.find(".back").onclick = () => toStep(view, view.step - 1);
  view.find(".leave").onclick = () => leaveTour(view);
  view.resizing = new ResizeObserver(() => clear(view));
  const options = { signal: view.listening.signal, passive: true };
  for (const name of ["wheel", "touchmove", "keydown"]) window.addEventListener(name, () => { view.isMoved = true; }, options);
}

function showTour(view, step) {
  const steps = view.data.tour;
  const shown = steps[step - 1];
  if (!shown) return leftTour(view);
  if (view.step === step && view.bar.matches(":popover-open")) return;
  view.step = step;
  view.find(".tour .step").textContent = `${step} of ${steps.length}`;
  view.find(".tour .title").textContent = shown.title;
  view.find(".tour .text").textContent = shown.text;
  view.find(".back").hidden = step === 1;
  view.find(".next").textContent = step === steps.length ? "Finish" : "Next";
  view.outline.textContent = `${shown.target}{outline:2px solid var(--st-primary-color, #0f6157);outline-offset:3px;border-radius:6px}`;
  if (!view.bar.matches(":popover-open")) view.bar.showPopover();
  view.find(".next").focus({ preventScroll: true });
  view.isMoved = false;
  view.resizing.disconnect();
  whenThere(view, shown.target, (target) => {
    view.target = target;
    for (const each of [target, target.closest(".stMainBlockContainer")]) view.resizing.observe(each);
  });
}

// The bar never lies on what it explains, unless that fills the window. The page moves by itself only until somebody
// moves it.
function clear(view) {
  view.bar.classList.remove("above");
  if (!view.isMoved) view.target.scrollIntoView({ block: "nearest" });
  if (isHidden(view) && !view.isMoved) view.target.scrollIntoView({ block: "start" });
  view.bar.classList.toggle("above", isHidden(view) && view.target.offsetHeight < window.innerHeight / 2);
}

function isHidden({ bar, target }) {
  const [over, under] = [bar.getBoundingClientRect(), target.getBoundingClientRect()];
  return under.top < over.bottom && under.bottom > over.top && under.left < over.right && under.right > over.left;
}

function toStep(view, step) {
  const shown = view.data.tour[step - 1];
  if (shown) follow(shown.address);
  else leaveTour(view);
}

function leaveTour(view) {
  setParameter("tour", null);
  leftTour(view);
}

function leftTour(view) {
  view.step = 0;
  view.resizing.disconnect();
  view.outline.textContent = "";
  if (view.bar.matches(":popover-open")) view.bar.hidePopover();
}
