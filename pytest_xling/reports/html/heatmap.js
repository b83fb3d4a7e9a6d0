/* Languages by metrics: value and gate, gap to the pivot language, change against the baseline. */

function tablesSection(report, browser) {
  return section("tables", "Languages and metrics",
    el("p", { class: "legend" },
      Object.keys(OUTCOMES).map((outcome) => [badge(outcome), " "]),
      el("span", { class: "swatch", "aria-hidden": "true" }),
      " the warmer, the worse than the metric's best language. ",
      el("span", { class: "screen" }, "Hover or focus a cell for its interval; open it for its gates. ",
        "Arrow keys move between cells.")),
    report.benchmarks.map((bench) => heatmap(report, bench, browser)));
}

function heatmap(report, bench, browser) {
  const answers = Object.values(bench.answers).reduce((sum, count) => sum + count, 0);
  const head = el("tr", null, el("th", { scope: "col" }, "language"),
    el("th", { scope: "col", class: "n" }, "n"),
    bench.metrics.map((metric) => el("th", { scope: "col", title: metric.about }, breakable(metric.name))));
  const body = bench.languages.map((code) => el("tr", null,
    el("th", { scope: "row" }, languageName(report, code)),
    el("td", { class: "n" }, (code === "all" ? answers : bench.answers[code] ?? 0).toLocaleString("en")),
    bench.metrics.map((metric) => cell(report, bench, metric, code, browser))));
  const table = el("table", { class: "heat" }, el("thead", null, head), el("tbody", null, body));
  roam(table);
  return [
    el("h3", null, bench.name),
    el("p", { class: "legend" }, `${plural(answers, "answer")} in ${plural(bench.languages.filter((code) => code !== "all").length, "language")}`,
      bench.pivot ? `; gap: how much worse than ${languageName(report, bench.pivot)} on the same questions` : "",
      report.baseline ? `; Δ: against ${report.baseline} on the same cases` : "",
      bench.pivot || report.baseline ? "; bold where the interval leaves no difference out" : ""),
    scrolled(`${bench.name}: languages by metrics`, table)];
}

/* A name that may break after its underscores. */
function breakable(name) {
  return name.split(/(?<=_)/u).flatMap((part, index) => (index ? [el("wbr"), part] : [part]));
}

function gatesOf(report, bench, metric, code) {
  return report.verdict.gates.filter((gate) => gate.benchmark === bench.name
    && gate.metric === metric.name && gate.language === code);
}

function cell(report, bench, metric, code, browser) {
  const made = bench.cells[metric.name][code];
  if (!made) return el("td", { class: "empty" }, code === "all" ? null : el("span", { class: "quiet" }, "no score"));
  const gates = gatesOf(report, bench, metric, code);
  const main = gates.find((gate) => gate.about === "limit" && gate.level === null);
  const gap = gates.find((gate) => gate.about === "gap" && gate.level === null);
  const drop = gates.find((gate) => gate.about === "drop" && gate.level === null);
  const others = gates.filter((gate) => gate !== main && gate !== gap && gate !== drop);
  const button = el("button", { type: "button", tabindex: -1 },
    el("span", { class: "spoken" }, `${languageName(report, code)}, ${metric.name}: `),
    el("span", { class: "value" }, wordValue(made)), main ? badge(main.outcome) : null,
    el("span", { class: "interval" }, wordInterval(made)),
    made.gap?.v !== undefined ? el("span", { class: isClear(made.gap) ? "line clear" : "line" },
      `gap ${wordValue(made.gap)} `, gap ? badge(gap.outcome) : null) : null,
    made.change ? el("span", { class: isClear(made.change) ? "line clear" : "line" },
      `Δ ${made.change.v === undefined ? "not compared" : wordValue(made.change)} `,
      drop ? badge(drop.outcome) : null) : null,
    others.map((gate) => el("span", { class: "line" },
      `${gateName(gate).slice(metric.name.length)} `, badge(gate.outcome))));
  button.append(el("span", { class: "spoken" }, `; ${lines(report, bench, metric, made, gates).join("; ")}`));
  button.addEventListener("click", () => openCell(report, bench, metric, code, browser));
  tip.attach(button, () => told(report, bench, metric, code, made, gates));
  const td = el("td", { class: main ? main.outcome : null }, button);
  td.style.setProperty("--heat", heat(bench, metric, made.v).toFixed(3));
  return td;
}

/* How much worse than the best language of the metric, from 0 to 1. */
function heat(bench, metric, value) {
  if (value === undefined || metric.better === null) return 0;
  const values = Object.values(bench.cells[metric.name]).map((one) => one.v).filter((v) => v !== undefined);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const least = metric.share ? 0.25 : 0.2 * Math.max(Math.abs(low), Math.abs(high));
  const away = metric.better === "lower" ? value - low : high - value;
  return Math.min(away / Math.max(high - low, least, 1e-9), 1);
}

/* What a cell says, line by line. */
function lines(report, bench, metric, made, gates) {
  const level = gates.find((gate) => gate.about === "limit" && gate.level === null)?.alpha ?? 0.05;
  const counted = [plural(made.n, "answer")];
  if (made.flagged) counted.push(`${made.flagged} ${metric.kind === "flag" ? "flagged" : "with 1"}`);
  if (made.unscored) counted.push(`${made.unscored} unscored`);
  if (made.labelled) counted.push(`corrected by ${made.labelled} labels of people`);
  const interval = wordInterval(made);
  const said = [`${wordValue(made)}${interval ? `, ${100 * (1 - level)}% interval ${interval}` : ""}`,
    counted.join(", ")];
  if (made.why) said.push(made.why);
  if (made.gap) {
    const amount = made.gap.v === undefined ? made.gap.why : `${wordValue(made.gap)}${
      wordInterval(made.gap) ? ` (${wordInterval(made.gap)})` : ""} on ${plural(made.gap.n, "question")}`;
    said.push(`against ${languageName(report, bench.pivot)}: ${amount}`);
  }
  if (made.change) {
    const amount = made.change.v === undefined ? made.change.why : `${wordValue(made.change)}${
      wordInterval(made.change) ? ` (now minus then ${wordInterval(made.change)})` : ""
    } on ${plural(made.change.n, "question")}`;
    said.push(`against ${report.baseline}: ${amount}`);
  }
  return said;
}

function told(report, bench, metric, code, made, gates) {
  return [el("strong", null, `${metric.name}, ${languageName(report, code)}`),
    lines(report, bench, metric, made, gates).map((line) => el("div", null, line)),
    gates.map((gate) => el("div", null, badge(gate.outcome), ` ${gateName(gate)}: ${gate.limit}`))].flat();
}

function openCell(report, bench, metric, code, browser) {
  const made = bench.cells[metric.name][code];
  const gates = gatesOf(report, bench, metric, code);
  const dialog = document.getElementById("cell");
  const signed = report.signatures.find((one) => one.benchmark === bench.name && one.metric === metric.name);
  const show = (outcome) => () => {
    dialog.close();
    browser.filter({ benchmark: bench.name, language: code, metric: metric.name, outcome });
  };
  tip.hide();
  dialog.replaceChildren(
    el("h2", { id: "cell-title" }, `${metric.name}, ${languageName(report, code)}`),
    metric.about ? el("p", { class: "sub" }, metric.about) : "",
    el("ul", null, lines(report, bench, metric, made, gates).map((line) => el("li", null, line))),
    el("ul", { class: "gates" }, gates.map((gate) => el("li", { class: gate.outcome },
      badge(gate.outcome), " ", el("strong", null, gateName(gate)), `: ${gate.limit}`,
      el("div", { dir: "auto" }, gate.reason),
      el("div", { class: "sub" }, [gate.p ?? "", gate.origin].filter(Boolean).join(" · "))))),
    signed ? el("p", { class: "signature" }, signed.signature) : "",
    el("div", { class: "actions" },
      metric.kind === "flag" ? el("button", { type: "button", onclick: show("flagged") }, "flagged cases") : "",
      el("button", { type: "button", onclick: show("") }, "all cases"),
      el("button", { type: "button", onclick: () => dialog.close() }, "close")));
  dialog.showModal();
}

/* One stop in the tab order for a table; arrow keys, Home and End move inside. */
function roam(table) {
  const rows = [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("button")])
    .filter((row) => row.length);
  if (rows.length) rows[0][0].tabIndex = 0;
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
    Home: [0, -Infinity], End: [0, Infinity] };
  table.addEventListener("keydown", (event) => {
    const step = steps[event.key];
    const y = rows.findIndex((row) => row.includes(event.target));
    if (!step || y < 0) return;
    event.preventDefault();
    const row = rows[clamp(y + step[0], 0, rows.length - 1)];
    const next = row[clamp(rows[y].indexOf(event.target) + step[1], 0, row.length - 1)];
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

/* Averages over languages of one script, and of one family. */
function groupsSection(report) {
  const tables = report.benchmarks.flatMap((bench) => ["script", "family"]
    .filter((trait) => bench.groups[trait].length > 1)
    .map((trait) => groupTable(report, bench, trait)));
  if (!tables.length) return null;
  return section("groups", "Scripts and families",
    el("p", { class: "sub" }, "Averages over all answers in languages of one script or family. Answers to one ",
      "question count as one cluster. Families are those of Found in Translation (2025), Table 12; languages it ",
      "does not place are left out there."), tables);
}

function groupTable(report, bench, trait) {
  const rows = bench.groups[trait].map((group) => el("tr", null,
    el("th", { scope: "row" }, group.name, el("div", { class: "sub" }, group.languages.join(" "))),
    bench.metrics.map((metric) => {
      const made = group.cells[metric.name];
      return el("td", null, made ? wordValue(made) : "",
        made ? el("div", { class: "sub" }, wordInterval(made)) : null);
    })));
  return scrolled(`${bench.name} by ${trait}`, el("table", { class: "plain" },
    el("caption", null, el("strong", null, bench.name), `: by ${trait}`),
    el("thead", null, el("tr", null, el("th", { scope: "col" }, trait),
      bench.metrics.map((metric) => el("th", { scope: "col" }, breakable(metric.name))))),
    el("tbody", null, rows)));
}
