// Times acts inside the page: from the act itself until the frame that shows its result. An observer of the document
// does not see into shadow trees, so each of them is kept as it is made.
const roots = [document];
let changedAt = 0;
const watch = (root) => new MutationObserver(() => { changedAt = performance.now(); }).observe(root, {
  childList: true, subtree: true, characterData: true, attributeFilter: ["data-stale", "data-test-script-state", "src"],
});
const attachShadow = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (options) {
  const root = attachShadow.call(this, options);
  roots.push(root);
  watch(root);
  return root;
};
watch(document);

const QUIET_MS = 700;
const isSeen = (each) => each.isConnected && each.checkVisibility({ opacityProperty: true, visibilityProperty: true });
const all = (css) => roots.flatMap((root) => [...root.querySelectorAll(css)]).filter(isSeen);
const first = (css) => all(css)[0];
const text = (css) => first(css)?.textContent ?? "";
const isRunning = () => document.querySelector("[data-testid=stApp]")?.dataset.testScriptState !== "notRunning";
const rows = () => all("[data-testid=ps-row]").map((row) => row.textContent).join();
const sidebar = (name) => all("[data-testid=stSidebar] a").find((link) => link.textContent.startsWith(name));
const press = (key) => (document.activeElement ?? document.body)
  .dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true, cancelable: true }));

function pageOf() {
  const picture = first(".viewer .picture");
  const of = document.querySelector("[data-part=question]")?.dataset.of;
  return picture?.complete && picture.naturalWidth && of && picture.getRootNode().host.dataset.of === of;
}

const ACTS = {
  row: (place) => { const links = all("[data-testid=ps-row] a"); links[place % links.length].click(); },
  key: press,
  filter: (place) => all(".st-key-strip button")[place].click(),
  open: (name) => sidebar(name).click(),
  button: () => first(".st-key-press button").click(),
  pill: (place) => all(".st-key-kind button")[place].click(),
};
// What has come once it differs from what was there before.
const VALUES = {
  question: () => location.pathname.endsWith("/question") && text(".stMain [data-testid=ps-title]"),
  page: () => pageOf() && VALUES.question(),
  list: () => text(".st-key-sentence").split(" ")[0] + rows(),
  shown: () => text(".st-key-shown p"),
  count: () => text(".st-key-count p"),
};

window.timed = (act, value, marks) => new Promise((done) => {
  const before = text(".stMain [data-testid=ps-title]");
  const was = Object.fromEntries(marks.filter((name) => name in VALUES).map((name) => [name, VALUES[name]()]));
  const found = {};
  const started = performance.now();
  const deadline = started + 30_000;
  changedAt = started;
  ACTS[act](value);
  const look = (now) => {
    for (const name of Object.keys(was)) {
      const is = name in found ? null : VALUES[name]();
      if (is && is !== was[name] && is !== before) found[name] = now - started;
    }
    const isQuiet = !isRunning() && !first("[data-testid=stSkeleton]") && now - changedAt > QUIET_MS;
    if (isQuiet) found.complete = changedAt - started;
    // A question has no page where there is no viewer.
    const isMissing = "page" in was && !("page" in found) && roots.some((root) => root.host?.isConnected && root.querySelector(".viewer"));
    if ((isQuiet && changedAt > started && now - started > QUIET_MS && !isMissing) || now > deadline) done(found);
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
});
