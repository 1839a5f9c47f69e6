// Looks through the open page, shadow roots included, and returns what breaks a rule, a line each (see sizes.py).
([TEXT, TARGET]) => {
  const found = new Map();
  const width = document.documentElement.clientWidth;
  const main = document.querySelector("[data-testid=stMain]");
  const parent = (one) => one.parentElement ?? one.getRootNode().host ?? null;
  const above = function* (one) { for (let at = one; at; at = parent(at)) yield at; };
  const within = (one, names) => [...above(one)].some((each) => each.matches(names));
  const all = [];
  const look = (root) => {
    for (const one of root.children) {
      all.push(one);
      if (one.shadowRoot) look(one.shadowRoot);
      look(one);
    }
  };
  look(document.body);
  const styles = new Map(all.map((one) => [one, getComputedStyle(one)]));
  const style = (one) => styles.get(one) ?? getComputedStyle(one);
  // What is only there for screen readers has no room.
  const hasRoom = (one) => [...above(one)].every((each) => style(each).overflow === "visible"
    || style(each).clipPath !== "inset(50%)" && each.offsetWidth !== 0 && each.offsetHeight !== 0);
  const isShown = (one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    && one.getClientRects().length > 0 && hasRoom(one);
  const words = (one) => [...one.childNodes].filter((each) => each.nodeType === 3).map((each) => each.data.trim()).join(" ").trim();
  const nameOf = (one) => {
    const key = [...above(one)].flatMap((each) => [...each.classList]).find((each) => each.startsWith("st-key-"));
    return [key ?? "", [one.localName, ...one.classList].slice(0, 3).join(".")].join(" ");
  };
  // One of each kind is enough: what breaks a rule in one row does so in all.
  const say = (what, one) => {
    const name = `${what}: ${nameOf(one)}`;
    if (!found.has(name)) found.set(name, `${name} "${(one.ariaLabel || one.textContent.trim()).slice(0, 40)}"`);
  };

  // Text that is read: without the ticks and legends of charts, without icons, which are letters of a font, and without the
  // names of boxes on a page, which would cover the words that they name (the same names are in the list and in the card).
  const isRead = (one) => words(one) || one.matches("input:not([type=checkbox], [type=radio], [type=range]), textarea");
  const texts = all.filter((one) => isRead(one) && !["STYLE", "SCRIPT", "NOSCRIPT", "OPTION"].includes(one.tagName) && isShown(one)
    && !within(one, "[data-testid=stIconMaterial], [data-testid=ps-tag], .js-plotly-plot"));
  for (const one of texts) {
    const size = parseFloat(style(one).fontSize);
    if (size < TEXT - 0.01) say(`text of ${size} px`, one);
  }

  // Targets: links in a sentence may be as small as its words, others have 24 pixels of their own or around them.
  const names = `a[href], button, input:not([type=hidden], [type=file]), select, textarea, summary, [data-cite],
    [role=button], [role=link], [role=option], [role=tab], [role=slider], [role=switch], [role=combobox]`;
  // In a strip of pages the place in it chooses, as on a slider: the strip as a whole is the target.
  const targets = all.filter((one) => one.matches(names) && !within(one, "[data-testid=ps-strip]") && !one.disabled && isShown(one) && style(one).pointerEvents !== "none");
  const inner = new Set(targets.filter((one) => targets.some((other) => other !== one && one.contains(other))));
  const single = targets.filter((one) => !inner.has(one));
  const rectOf = (one) => {
    let area = one.closest("label") ?? one;
    // The cell or row of a link, which a click on follows it.
    for (const each of above(area)) {
      if (style(each).cursor !== "pointer" || single.filter((other) => each.contains(other)).length > 1) break;
      area = each;
    }
    const place = area.getBoundingClientRect();
    let [left, top, right, bottom] = [place.left, place.top, place.right, place.bottom];
    for (const pseudo of ["::before", "::after"]) {
      const its = getComputedStyle(one, pseudo);
      if (its.content === "none" || its.position !== "absolute") continue;
      const border = (side) => parseFloat(style(one)[`border${side}Width`]);
      [left, top] = [Math.min(left, place.left + border("Left") + parseFloat(its.left)), Math.min(top, place.top + border("Top") + parseFloat(its.top))];
      [right, bottom] = [Math.max(right, place.right - border("Right") - parseFloat(its.right)), Math.max(bottom, place.bottom - border("Bottom") - parseFloat(its.bottom))];
    }
    return { left, top, right, bottom, x: (left + right) / 2, y: (top + bottom) / 2, small: right - left < TARGET - 0.05 || bottom - top < TARGET - 0.05 };
  };
  const inSentence = (one) => {
    if (!style(one).display.startsWith("inline")) return false;
    let block = parent(one);
    while (block && style(block).display.startsWith("inline")) block = parent(block);
    const copy = block.textContent;
    return single.filter((other) => block.contains(other)).reduce((left, other) => left.replace(other.textContent, ""), copy).trim() !== "";
  };
  // A narrow window shows the sidebar over the page or not at all: neither is beside the other.
  const isBeside = (one) => within(one, "[data-testid=stSidebar]");
  const rects = new Map(single.map((one) => [one, rectOf(one)]));
  const gap = (at, place) => Math.hypot(Math.max(place.left - at.x, at.x - place.right, 0), Math.max(place.top - at.y, at.y - place.bottom, 0));
  for (const [one, at] of rects) {
    if (!at.small || inSentence(one)) continue;
    const near = [...rects].find(([other, its]) => other !== one && isBeside(other) === isBeside(one)
      && (gap(at, its) < TARGET / 2 - 0.05 || its.small && Math.hypot(at.x - its.x, at.y - its.y) < TARGET - 0.05));
    if (near) say(`target of ${Math.round(at.right - at.left)} × ${Math.round(at.bottom - at.top)} px beside ${nameOf(near[0])}`, one);
  }

  // Only the page scrolls down: the viewer of a document and what somebody writes in aside.
  for (const one of all) {
    if (one === main || !main.contains(one) && !within(one, "[data-testid=stMain]") || one.matches("[data-testid=ps-viewer], .ps-frame, textarea")) continue;
    const of = style(one);
    if (["auto", "scroll"].includes(of.overflowY) && one.scrollHeight > one.clientHeight + 1 && isShown(one)) say(`scrolls inside the page, ${one.scrollHeight} in ${one.clientHeight} px`, one);
  }

  // Nothing is cut at the side.
  if (document.documentElement.scrollWidth > width) say(`the window scrolls sideways: ${document.documentElement.scrollWidth} in ${width} px`, document.body);
  if (main.scrollWidth > main.clientWidth) say(`the page scrolls sideways: ${main.scrollWidth} in ${main.clientWidth} px`, main);
  const frames = (one) => [...above(one)].slice(1).filter((each) => each !== main && ["auto", "scroll"].includes(style(each).overflowX)
    && each.scrollWidth > each.clientWidth);
  for (const one of new Set([...texts, ...single])) {
    const place = one.getBoundingClientRect();
    if (within(one, "[data-testid=stSidebar]") || frames(one).length || within(one, "[data-testid=ps-viewer]")) continue;
    const ellipsis = [...above(one)].find((each) => style(each).textOverflow === "ellipsis" && style(each).overflowX !== "visible");
    // A name may be shortened, the words of a link may not.
    if (within(one, ".stMain [data-testid=stPageLink]") && one.scrollWidth > one.clientWidth + 1) say("shortened", one);
    if (ellipsis && ellipsis.getBoundingClientRect().right <= width + 1) continue;
    if (place.right > width + 1 || place.left < -1) { say(`out of the window by ${Math.round(Math.max(place.right - width, -place.left))} px`, one); continue; }
    for (const each of above(one)) {
      if (each === document.body) break;
      if (!["hidden", "clip"].includes(style(each).overflowX) || style(each).textOverflow === "ellipsis" && each.contains(one)) continue;
      const edge = each.getBoundingClientRect();
      if (place.right > edge.right + 1 || place.left < edge.left - 1) say(`cut by ${nameOf(each)}`, one);
    }
  }
  return [...found.values()];
}
