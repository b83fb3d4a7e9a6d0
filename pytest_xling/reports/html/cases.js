/* The browser of cases: filters, a list that only builds the rows in view, and one case in full. */

const ROW = 62;
const FIRST = 4000; /* characters shown of a text before "show all" */
const NOWHERE = { benchmark: "", language: "", metric: "", outcome: "", level: "", text: "", sort: "" };
const STOPS = { stop: "", length: "cut off at the token limit", content_filter: "stopped by a content filter",
  refusal: "refused", error: "error" };

/* The columns of the page's data as questions one can ask. */
class Cases {
  constructor(report) {
    Object.assign(this, report.cases);
    this.report = report;
    const { columns, strings } = this;
    this.of = (name, index) => strings[columns[name][index]];
    this.byPlace = new Map();
    this.byId = new Map();
    for (let index = 0; index < this.n; index += 1) {
      const place = [columns.benchmark[index], columns.sample[index], columns.condition[index],
        columns.language[index]].join("|");
      this.byPlace.set(place, index);
      this.byId.set(`${this.of("benchmark", index)}/${columns.id[index]}`, index);
    }
    this.metricOf = new Map(report.benchmarks.map((bench) => [bench.name,
      new Map(bench.metrics.map((metric) => [metric.name, metric]))]));
    this.columnsOf = new Map();
    for (const column of this.readings) {
      column.traits = this.metricOf.get(column.benchmark).get(column.metric);
      this.columnsOf.set(column.benchmark, [...(this.columnsOf.get(column.benchmark) ?? []), column]);
    }
    this.haystacks = [];
  }

  /* A metric's reading of a case: undefined where it says nothing of it, null where it has no value. */
  read(column, index) {
    const value = column.values[index - column.start];
    return value === "" ? undefined : value;
  }

  worded(column, index) {
    const value = this.read(column, index);
    if (value === undefined) return "";
    if (value === null) return "– unscored";
    if (column.traits.kind === "flag") return value === 1 ? "⚑ flagged" : "not flagged";
    return column.words[index - column.start];
  }

  reason(column, index) {
    const place = column.reasons[index - column.start];
    return place === undefined ? "" : this.strings[place];
  }

  seldom(name, index) {
    return this.sparse[name]?.[index];
  }

  told(name, index) {
    const place = this.seldom(name, index);
    return place === undefined ? "" : this.strings[place];
  }

  readingsOf(index) {
    return (this.columnsOf.get(this.of("benchmark", index)) ?? [])
      .filter((column) => this.read(column, index) !== undefined);
  }

  factsOf(index) {
    return this.facts[this.columns.facts[index]];
  }

  /* The case of the same question, asked in the same way, in the pivot language. */
  pivotOf(index) {
    const bench = this.report.benchmarks.find((one) => one.name === this.of("benchmark", index));
    const code = this.strings.indexOf(bench.pivot);
    const { benchmark, sample, condition } = this.columns;
    const found = this.byPlace.get([benchmark[index], sample[index], condition[index], code].join("|"));
    return found === index ? undefined : found;
  }

  /* flagged, unscored or ok; by one metric, or by all. */
  outcomes(index, metric) {
    const found = new Set();
    for (const column of this.readingsOf(index)) {
      if (metric && column.metric !== metric) continue;
      const value = this.read(column, index);
      if (value === null) found.add("unscored");
      else if (column.traits.kind === "flag" && value === 1) found.add("flagged");
    }
    if (!found.size) found.add("ok");
    if (this.columns.answer[index] === null) found.add("silent");
    return found;
  }

  haystack(index) {
    this.haystacks[index] ??= [this.columns.id[index], this.of("question", index), this.columns.answer[index],
      this.seldom("translation", index)].filter(Boolean).join("\n").normalize("NFC").toLowerCase();
    return this.haystacks[index];
  }

  select(wanted) {
    const text = wanted.text.trim().normalize("NFC").toLowerCase();
    const found = [];
    for (let index = 0; index < this.n; index += 1) {
      if (wanted.benchmark && this.of("benchmark", index) !== wanted.benchmark) continue;
      if (wanted.language && this.of("language", index) !== wanted.language) continue;
      if (wanted.level && this.factsOf(index).level !== wanted.level) continue;
      if (wanted.metric && !this.readingsOf(index).some((column) => column.metric === wanted.metric)) continue;
      if (wanted.outcome && !this.outcomes(index, wanted.metric).has(wanted.outcome)) continue;
      if (text && !this.haystack(index).includes(text)) continue;
      found.push(index);
    }
    return wanted.sort && wanted.metric ? this.sorted(found, wanted) : found;
  }

  sorted(found, { metric, sort }) {
    const sign = sort === "lowest" ? 1 : -1;
    const value = new Map(found.map((index) => {
      const column = this.readingsOf(index).find((one) => one.metric === metric);
      return [index, this.read(column, index) ?? (sign > 0 ? Infinity : -Infinity)];
    }));
    return found.sort((a, b) => sign * (value.get(a) - value.get(b)) || a - b);
  }
}

class Browser {
  constructor(report) {
    this.report = report;
    this.cases = new Cases(report);
    this.wanted = { ...NOWHERE };
    this.found = [];
    this.active = 0; /* place in what was found */
    this.rows = el("div", { class: "rows" });
    this.list = el("div", { class: "list", id: "list", role: "listbox", tabindex: 0, "aria-label": "Cases" }, this.rows);
    this.list.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()), { passive: true });
    this.list.addEventListener("keydown", (event) => this.key(event));
    this.detail = el("article", { class: "detail", id: "detail", tabindex: -1, "aria-label": "The chosen case" });
    this.count = el("output", { class: "count", "aria-live": "polite" });
    this.inputs = this.controls();
    new ResizeObserver(() => this.draw()).observe(this.list);
  }

  indexOf(benchmark, id) {
    return this.cases.byId.get(`${benchmark}/${id}`);
  }

  section() {
    const { left_out: out } = this.cases;
    const made = section("cases", "Cases",
      out ? el("p", { class: "note" }, out) : null,
      el("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
        Object.values(this.inputs).map((input) => input.parentElement),
        el("button", { type: "button", onclick: () => this.filter({}, false) }, "reset"), this.count),
      el("div", { class: "browser" }, this.list, this.detail));
    this.apply();
    return made;
  }

  controls() {
    const { report, cases } = this;
    const levels = [...new Set(cases.facts.map((one) => one.level).filter((level) => level !== undefined))].sort();
    const metrics = [...new Set(cases.readings.map((column) => column.metric))].sort();
    const choices = {
      benchmark: ["benchmark", "all benchmarks", report.benchmarks.map((bench) => [bench.name, bench.name])],
      language: ["language", "all languages", Object.keys(report.languages).map((code) => [code, languageName(report, code)])],
      metric: ["metric", "any metric", metrics.map((name) => [name, name])],
      outcome: ["outcome", "any outcome", [["flagged", "flagged"], ["unscored", "unscored"], ["ok", "ok"],
        ["silent", "no answer"]]],
      level: ["level", "all levels", levels.map((level) => [level, report.levels[level]])],
      sort: ["order", "as asked", [["lowest", "lowest value of the metric"], ["highest", "highest value of the metric"]]],
    };
    const inputs = {};
    for (const [name, [label, all, options]] of Object.entries(choices)) {
      inputs[name] = el("select", { id: `by-${name}`, onchange: () => this.changed() },
        el("option", { value: "" }, all), options.map(([value, text]) => el("option", { value }, text)));
      el("div", { hidden: name === "level" && !levels.length }, el("label", { for: `by-${name}` }, label), inputs[name]);
    }
    let waiting;
    inputs.text = el("input", { id: "by-text", type: "search", placeholder: "in questions and answers", dir: "auto",
      oninput: () => { clearTimeout(waiting); waiting = setTimeout(() => this.changed(), 120); } });
    el("div", { class: "grow" }, el("label", { for: "by-text" }, "text"), inputs.text);
    return inputs;
  }

  changed() {
    for (const name of Object.keys(this.inputs)) this.wanted[name] = this.inputs[name].value;
    this.apply();
  }

  /* Show what fits *wanted*, and go there. */
  filter(wanted, go = true) {
    this.wanted = { ...NOWHERE, ...wanted };
    for (const [name, input] of Object.entries(this.inputs)) input.value = this.wanted[name];
    this.apply();
    if (go) this.go(this.list);
  }

  open(index) {
    this.filter({}, false);
    this.choose(this.found.indexOf(index));
    this.go(this.detail);
  }

  go(target) {
    document.getElementById("cases").scrollIntoView();
    target.focus({ preventScroll: true });
  }

  apply() {
    const open = this.found[this.active];
    this.inputs.sort.disabled = !this.wanted.metric;
    this.found = this.cases.select(this.wanted);
    this.count.textContent = `${whole(this.found.length)} of ${whole(this.cases.n)} case${this.cases.n === 1 ? "" : "s"}`;
    this.rows.style.height = `${this.found.length * ROW}px`;
    this.choose(Math.max(this.found.indexOf(open), 0));
  }

  /* Make the case at a place of the list the one that is shown. */
  choose(place) {
    this.active = clamp(place, 0, Math.max(this.found.length - 1, 0));
    const top = this.active * ROW;
    if (top < this.list.scrollTop) this.list.scrollTop = top;
    const below = top + ROW - this.list.clientHeight;
    if (below > this.list.scrollTop) this.list.scrollTop = below;
    this.draw();
    this.detail.replaceChildren(...(this.found.length ? caseInFull(this, this.found[this.active])
      : [el("p", { class: "quiet" }, "No case fits these filters.")]));
    this.detail.scrollTop = 0;
  }

  key(event) {
    const page = Math.max(Math.floor(this.list.clientHeight / ROW) - 1, 1);
    const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity };
    if (event.key in steps) this.choose(this.active + steps[event.key]);
    else if (event.key === "Enter") this.detail.focus();
    else return;
    event.preventDefault();
  }

  draw() {
    const first = Math.max(Math.floor(this.list.scrollTop / ROW) - 4, 0);
    const last = Math.min(Math.ceil((this.list.scrollTop + this.list.clientHeight) / ROW) + 4, this.found.length);
    const rows = [];
    for (let place = first; place < last; place += 1) rows.push(this.row(place));
    this.rows.replaceChildren(...rows);
    if (this.active >= first && this.active < last) this.list.setAttribute("aria-activedescendant", `row-${this.active}`);
    else this.list.removeAttribute("aria-activedescendant");
  }

  row(place) {
    const { cases } = this;
    const index = this.found[place];
    const flags = cases.readingsOf(index).filter((column) => column.traits.kind === "flag"
      && cases.read(column, index) === 1).map((column) => column.metric);
    const answer = cases.columns.answer[index];
    const code = cases.of("language", index);
    const row = el("div", { class: "row", id: `row-${place}`, role: "option", "aria-selected": place === this.active,
      "aria-setsize": this.found.length, "aria-posinset": place + 1, onclick: () => this.choose(place) },
    el("div", { class: "line" }, el("code", null, cases.columns.id[index]),
      this.wanted.metric ? this.readingChip(index) : null,
      flags.slice(0, 2).map((name) => el("span", { class: "chip" }, `⚑ ${name}`)),
      flags.length > 2 ? el("span", { class: "chip" }, `+${flags.length - 2}`) : null),
    answer === null ? el("div", { class: "snippet none" }, "(no answer)")
      : el("div", { class: "snippet", dir: "auto", lang: code }, answer.slice(0, 160)));
    row.style.transform = `translateY(${place * ROW}px)`;
    return row;
  }

  readingChip(index) {
    const column = this.cases.readingsOf(index).find((one) => one.metric === this.wanted.metric);
    if (column.traits.kind === "flag") return null;
    return el("span", { class: "chip number" }, this.cases.worded(column, index));
  }
}

/* One case: what was asked and known, all answers, and what was detected, side by side. */
function caseInFull(browser, index) {
  const { cases, report } = browser;
  const { columns } = cases;
  const code = cases.of("language", index);
  const known = cases.factsOf(index);
  const pivot = cases.pivotOf(index);
  const english = pivot === undefined ? "" : cases.of("language", pivot);
  const step = (by, word) => el("button", { type: "button", disabled: !browser.found[browser.active + by] && browser.found[browser.active + by] !== 0,
    onclick: () => { browser.choose(browser.active + by); browser.detail.focus(); } }, word);
  const stop = STOPS[cases.of("stop", index)] ?? cases.of("stop", index);
  return [
    el("header", null, el("h3", null, columns.id[index]),
      el("div", { class: "actions" }, step(-1, "previous"), step(1, "next"))),
    facts([["language", languageName(report, code)], ["benchmark", cases.of("benchmark", index)],
      ["condition", cases.of("condition", index)],
      ["level", known.level === undefined ? "" : report.levels[known.level]],
      ["ended", stop], ["tokens", columns.tokens[index]],
      ["time", columns.time[index]], ["cost", cases.seldom("price", index)]]),
    el("div", { class: "texts" },
      panel("Question", cases.of("question", index), known.asked_in ?? code),
      claimPanel(cases, pivot, code, known),
      cases.told("reference", index) && !known.veracity ? panel("Reference", cases.told("reference", index), code) : null),
    el("div", { class: "texts" },
      answerPanel(cases, index, `Answer, ${wordAsked(browser, index)}`, code),
      translationPanel(cases, index),
      thoughtsPanel(cases, index),
      pivot === undefined ? null : answerPanel(cases, pivot, `Answer to the same question, ${wordAsked(browser, pivot)}`, english)),
    detected(report, cases, index, pivot),
  ];
}

/* "asked in Hindi (hi)"; where the answer was to be in another language: "asked in en for Hindi (hi)". */
function wordAsked({ cases, report }, index) {
  const code = cases.of("language", index);
  const asked = cases.factsOf(index).asked_in ?? code;
  return `asked in ${languageName(report, asked)}${asked === code ? "" : ` for ${languageName(report, code)}`}`;
}

function panel(title, text, language, note) {
  if (!text) return null;
  const shown = foreign(text.slice(0, FIRST), language);
  const more = text.length > FIRST ? el("button", { type: "button", onclick: () => {
    shown.textContent = text;
    more.remove();
  } }, "show all of it") : null;
  return el("section", { class: "panel" }, el("h4", null, title), shown, more,
    note ? el("p", { class: "sub" }, note) : null);
}

function claimPanel(cases, pivot, code, known) {
  if (!known.veracity) return null;
  const claim = known.claim;
  const english = pivot === undefined ? "" : cases.factsOf(pivot).claim;
  return el("section", { class: "panel" },
    el("h4", null, "Claim ", el("span", { class: "chip" }, known.veracity)),
    claim ? foreign(claim, code) : null,
    english && english !== claim ? foreign(english, cases.of("language", pivot)) : null,
    [known.reason, known.source].filter(Boolean).map((text) => el("p", { class: "sub", dir: "auto" }, text)));
}

function answerPanel(cases, index, title, code) {
  const answer = cases.columns.answer[index];
  if (answer !== null) {
    return panel(title, answer, code, cases.seldom("cut", index));
  }
  return el("section", { class: "panel" }, el("h4", null, title), el("div", { class: "text none" }, "(no answer)"),
    cases.seldom("error", index) ? el("p", { class: "sub", dir: "auto" }, cases.seldom("error", index)) : null);
}

/* What the model thought, folded: no metric but those of thoughts reads it. */
function thoughtsPanel(cases, index) {
  const thoughts = cases.seldom("thoughts", index);
  if (!thoughts) return null;
  return el("details", null,
    el("summary", null, "Thoughts before the answer"),
    panel("Thoughts, no part of the answer", thoughts, ""));
}

function translationPanel(cases, index) {
  const why = cases.seldom("untranslated", index);
  if (why === undefined) return panel("Answer, translated", cases.seldom("translation", index), "en");
  return el("section", { class: "panel" }, el("h4", null, "Answer, translated"),
    el("div", { class: "text none" }, "(no translation)"), el("p", { class: "sub", dir: "auto" }, why));
}

function detected(report, cases, index, pivot) {
  const rows = cases.readingsOf(index).map((column) => {
    const value = cases.read(column, index);
    const flagged = column.traits.kind === "flag" && value === 1;
    return el("tr", { class: flagged ? "flagged" : null }, el("th", { scope: "row", title: column.traits.about }, column.metric),
      el("td", null, cases.worded(column, index)),
      el("td", { dir: "auto" }, cases.reason(column, index)),
      pivot === undefined ? null : el("td", { dir: "auto" }, cases.worded(column, pivot),
        cases.reason(column, pivot) ? el("div", { class: "sub" }, cases.reason(column, pivot)) : null));
  });
  if (!rows.length) return el("p", { class: "quiet" }, "No metric has scored this answer.");
  const code = pivot === undefined ? "" : cases.of("language", pivot);
  return scrolled("What was detected", el("table", { class: "plain detected" },
    el("caption", null, el("strong", null, "What was detected")),
    el("thead", null, el("tr", null, ["metric", "reading", "reason"].map((name) => el("th", { scope: "col" }, name)),
      pivot === undefined ? null : el("th", { scope: "col" }, `in ${languageName(report, code)}`))),
    el("tbody", null, rows)));
}
