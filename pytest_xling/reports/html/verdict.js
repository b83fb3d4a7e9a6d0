/* What was decided and why, first. */

const STATES = {
  open: ["✓", "Every gate passed or only reports: nothing here keeps the release back."],
  closed: ["✗", "At least one gate keeps the release back. Each is listed below with its reason."],
  undecided: ["?", "This decides nothing, for the reason above. Answers that are there are kept: run again to ask for the rest only."],
  none: ["–", "No gate was judged: the numbers below are for reading only."],
};
const MEANINGS = {
  fail: "beyond its limit, by more than chance explains",
  inconclusive: "too little data, or too near the limit, to tell; that is no pass",
  error: "answers are missing, so it could not be judged",
  pass: "within its limit",
};
const ORDER = ["error", "fail", "inconclusive", "pass"];

function verdictSection(report) {
  const { verdict } = report;
  document.getElementById("state-mark").textContent = STATES[verdict.state][0];
  const groups = gateGroups(report);
  const blocking = groups.filter((gates) => gates[0].blocks);
  const reported = groups.filter((gates) => !gates[0].blocks && gates[0].outcome !== "pass");
  const passed = groups.filter((gates) => gates[0].outcome === "pass");
  return section("verdict", "Verdict",
    el("p", null, STATES[verdict.state][1]),
    incomplete(report),
    verdict.before_labels ? el("p", { class: "note" }, verdict.before_labels) : null,
    counts(verdict),
    blocking.length ? el("ul", { class: "gates" }, blocking.map((gates) => gateItem(report, gates))) : null,
    folded(report, reported, "that did not pass, and only report"),
    folded(report, passed, "passed"),
    judges(report));
}

/* How good the annotators are whose labels the gates rest on. */
function judges(report) {
  const rows = report.verdict.judges;
  if (!rows.length) return null;
  const number = (value) => el("td", { class: "n" }, value);
  const cells = (row) => (row.n === undefined ? el("td", { colspan: 5 }, "not measured")
    : [number(row.n.toLocaleString("en")), number(row.f1), number(row.kappa),
      el("td", null, row.human ? "your own: " : "", el("span", { class: "signature" }, row.labels)), el("td", null, row.day)]);
  return el("details", { class: "more", open: rows.some((row) => row.n === undefined) },
    el("summary", null, "how good the judges and classifiers are that gates rest on"),
    el("p", { class: "sub" }, "Macro F1 with its 95% interval, and Cohen's κ, on labelled answers in each language."),
    scrolled("What the gates rest on", el("table", { class: "plain" },
      el("thead", null, el("tr", null, ["annotator", "language"].map((name) => el("th", { scope: "col" }, name)),
        ["n", "F1", "κ"].map((name) => el("th", { scope: "col", class: "n" }, name)),
        ["labels", "measured"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", null, rows.map((row) => el("tr", null, el("th", { scope: "row" }, row.annotator),
        el("td", null, languageName(report, row.language)), cells(row)))))));
}

function folded(report, groups, word) {
  if (!groups.length) return null;
  return el("details", { class: "more" }, el("summary", null, `${plural(groups.flat().length, "gate")} ${word}`),
    el("ul", { class: "gates" }, groups.map((gates) => gateItem(report, gates))));
}

function incomplete(report) {
  const { planned, faults, met, complete } = report.verdict;
  const answered = report.cost.rows.reduce((sum, row) => sum + row.answers, 0);
  if (complete && !faults) return null;
  const parts = [`${answered.toLocaleString("en")} of ${plural(Math.max(planned, answered), "case")} answered`];
  if (faults) parts.push(`${plural(faults, "case")} met a fault and ${faults === 1 ? "has" : "have"} no score`);
  return [
    el("p", { class: "note" }, complete ? "" : "The run is incomplete: ", parts.join("; "), "."),
    met.length ? el("ul", { class: "reasons" }, met.map((text) => el("li", { dir: "auto" }, text))) : null];
}

function counts(verdict) {
  const found = ORDER.filter((outcome) => verdict.counts[outcome]);
  return el("ul", { class: "counts" }, found.map((outcome) => el("li", null,
    el("span", { class: "number" }, verdict.counts[outcome]), badge(outcome),
    el("span", { class: "sub" }, MEANINGS[outcome]))));
}

/* Gates of one kind and outcome together; those that keep the release back first. */
function gateGroups(report) {
  const groups = new Map();
  const rank = (gate) => ORDER.indexOf(gate.outcome) + (gate.blocks ? 0 : ORDER.length);
  for (const gate of [...report.verdict.gates].sort((a, b) => rank(a) - rank(b))) {
    const key = JSON.stringify([gate.outcome, gate.blocks, gate.benchmark, gateName(gate), gate.limit]);
    groups.set(key, [...(groups.get(key) ?? []), gate]);
  }
  return [...groups.values()];
}

function gateItem(report, gates) {
  const [gate] = gates;
  const several = report.benchmarks.length > 1;
  const metric = report.benchmarks.find((bench) => bench.name === gate.benchmark)
    ?.metrics.find((one) => one.name === gate.metric);
  return el("li", { class: gate.outcome },
    badge(gate.outcome), " ",
    el("strong", null, several ? `${gate.benchmark}: ` : "", gateName(gate)),
    ` ${gate.limit} in ${gates.map((one) => languageName(report, one.language)).join(", ")}`,
    metric?.about ? el("div", { class: "sub" }, metric.about) : null,
    gates.length === 1 ? reasons(gates)
      : el("details", { class: "more", open: gate.outcome === "fail" },
        el("summary", null, `why, in ${gates.length} languages`), reasons(gates)));
}

function reasons(gates) {
  return el("ul", { class: "reasons" }, gates.map((one) => el("li", null,
    el("strong", null, one.language), " ", el("span", { dir: "auto" }, one.reason),
    one.origin ? el("span", { class: "sub" }, ` (${one.origin})`) : null)));
}

function findingsSection(report, browser) {
  if (!report.findings.length) return null;
  const words = { failed: "gate failed", undecided: "gate undecided", tolerated: "within the budget",
    ungated: "no gate" };
  return section("findings", "Worst findings",
    el("p", { class: "sub" }, "Flagged answers, those of failed gates first. The button opens the case."),
    el("ol", { class: "findings" }, report.findings.map((found) => {
      const index = browser.indexOf(found.benchmark, found.case);
      return el("li", null,
        el("div", { class: "line" },
          el("strong", null, found.metric), ` ${languageName(report, found.language)} `,
          el("span", { class: `standing ${found.standing}` }, words[found.standing]),
          index === undefined ? el("code", null, found.case) : el("button",
            { type: "button", onclick: () => browser.open(index) }, `open ${found.case}`)),
        found.reason ? el("div", { class: "reason", dir: "auto" }, found.reason) : null,
        found.answer ? foreign(found.answer, found.language)
          : el("div", { class: "text none" }, "(no answer)"));
    })));
}
