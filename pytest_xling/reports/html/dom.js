/* Elements and words. Texts become text nodes: nothing in them is ever read as markup. */

const OUTCOMES = {
  pass: { symbol: "✓", word: "pass" },
  fail: { symbol: "✗", word: "fail" },
  inconclusive: { symbol: "?", word: "inconclusive" },
  error: { symbol: "!", word: "error" },
};

function build(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("aria-")) made.setAttribute(name, String(value));
    else if (value === null || value === undefined || value === false) continue;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) made.append(child);
  }
  return made;
}

function el(tag, attributes, ...children) {
  return build(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/* A text that somebody else wrote, set in its own direction. */
function foreign(text, language) {
  return el("div", { class: "text", dir: "auto", lang: language }, text);
}

function section(id, title, ...children) {
  return el("section", { id, "aria-labelledby": `${id}-title` },
    el("h2", { id: `${id}-title`, tabindex: -1 }, title), children);
}

function badge(outcome) {
  const look = OUTCOMES[outcome];
  return el("span", { class: `badge ${outcome}` },
    el("span", { "aria-hidden": "true" }, look.symbol), ` ${look.word}`);
}

/* Numbers come worded: they are rounded in one place, in Python. Only the reader's own counts do not. */
function whole(count) {
  return count.toLocaleString("en");
}

function wordValue(made) {
  return made?.s ?? "–";
}

function wordInterval(made) {
  return made?.i ?? "";
}

/* Whether an interval leaves 0 out. */
function isClear(made) {
  return made.lo !== undefined && (made.lo > 0 || made.hi < 0);
}

function languageName(report, code) {
  return report.languages[code] ?? code;
}

function facts(pairs) {
  return el("dl", { class: "facts" }, pairs
    .filter(([, value]) => value)
    .map(([name, value]) => el("div", null, el("dt", null, name), el("dd", null, value))));
}

/* A table that scrolls sideways by itself, and can be scrolled by keyboard. */
function scrolled(label, table) {
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, table);
}
