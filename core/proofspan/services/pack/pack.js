"use strict";
// Search, filters and links. Without this everything can still be read: questions unfold by themselves.
(() => {
  const part = (name) => document.getElementById(`search:${name}`);
  const questions = [...document.querySelectorAll("details.q")];
  const [tools, words, all, count, none] = ["tools", "words", "all", "count", "none"].map(part);
  const selects = [...tools.querySelectorAll("select")];
  const texts = new Map();
  const textOf = (question) => {
    if (!texts.has(question)) texts.set(question, question.textContent.toLowerCase());
    return texts.get(question);
  };
  const shown = () => questions.filter((question) => !question.hidden);
  const label = () => {
    all.textContent = shown().some((question) => !question.open) ? "Open all" : "Close all";
  };
  const search = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const question of questions) {
      const fits = selects.every((each) => !each.value || question.dataset[each.name] === each.value);
      question.hidden = !(fits && wanted.every((word) => textOf(question).includes(word)));
    }
    const found = shown().length;
    count.textContent = `${found.toLocaleString("en")} of ${questions.length.toLocaleString("en")}`;
    none.hidden = found > 0 || !questions.length;
    label();
  };
  const named = () => {
    const name = location.hash.slice(1);
    if (!name) return null;
    try {
      return document.getElementById(name) || document.getElementById(decodeURIComponent(name));
    } catch {
      return null;
    }
  };
  const openLinked = () => {
    const question = named()?.closest("details.q");
    if (!question) return;
    if (question.hidden) {
      words.value = "";
      for (const each of selects) each.value = "";
      search();
    }
    question.open = true;
    question.scrollIntoView();
    question.querySelector("summary").focus({ preventScroll: true });
  };
  words.addEventListener("input", search);
  for (const each of selects) each.addEventListener("change", search);
  all.addEventListener("click", () => {
    const open = shown().some((question) => !question.open);
    for (const question of shown()) question.open = open;
    label();
  });
  for (const question of questions) question.addEventListener("toggle", label);
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const each of closed) each.open = true;
  });
  addEventListener("afterprint", () => {
    for (const each of closed) each.open = false;
  });
  addEventListener("hashchange", openLinked);
  tools.hidden = false;
  search();
  openLinked();
})();
