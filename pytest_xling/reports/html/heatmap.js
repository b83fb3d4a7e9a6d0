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
  const head = el("tr", null, el("th", { scope: "col" }, "language"),
    el("th", { scope: "col", class: "n" }, "n"),
    bench.metrics.map((metric) => el("th", { scope: "col", title: metric.about }, breakable(metric.name))));
  const body = bench.languages.map((code) => el("tr", null,
    el("th", { scope: "row" }, languageName(report, code)),
    el("td", { class: "n" }, bench.answers[code]),
    bench.metrics.map((metric) => cell(report, bench, metric, code, browser))));
  const table = el("table", { class: "heat" }, el("thead", null, head), el("tbody", null, body));
  roam(table);
  return [
    el("h3", null, bench.name),
    el("p", { class: "legend" }, bench.legend),
    scrolled(`${bench.name}: languages by metrics`, table)];
}

/* A name that may break after its underscores. */
function breakable(name) {
  return name.split(/(?<=_)/u).flatMap((part, index) => (index ? [el("wbr"), part] : [part]));
}

function cell(report, bench, metric, code, browser) {
  const made = bench.cells[metric.name][code];
  if (!made) return el("td", { class: "empty" }, code === "all" ? null : el("span", { class: "quiet" }, "no score"));
  const at = (place) => made.gates.find((gate) => gate.place === place);
  const [main, gap, drop] = ["limit", "gap", "drop"].map(at);
  const others = made.gates.filter((gate) => !gate.place);
  const button = el("button", { type: "button", tabindex: -1 },
    el("span", { class: "spoken" }, `${languageName(report, code)}, ${metric.name}: `),
    el("span", { class: "value" }, wordValue(made)), main ? badge(main.outcome) : null,
    el("span", { class: "interval" }, wordInterval(made)),
    made.gap?.v !== undefined ? el("span", { class: isClear(made.gap) ? "line clear" : "line" },
      `gap ${wordValue(made.gap)} `, gap ? badge(gap.outcome) : null) : null,
    made.change ? el("span", { class: isClear(made.change) ? "line clear" : "line" },
      `Δ ${wordValue(made.change)} `,
      drop ? badge(drop.outcome) : null) : null,
    others.map((gate) => el("span", { class: "line" },
      `${gate.kind} `, badge(gate.outcome))));
  button.append(el("span", { class: "spoken" }, `; ${made.lines.join("; ")}`));
  button.addEventListener("click", () => openCell(report, bench, metric, code, browser));
  tip.attach(button, () => told(report, metric, code, made));
  const td = el("td", { class: main ? main.outcome : null }, button);
  td.style.setProperty("--heat", String(made.heat));
  return td;
}

function told(report, metric, code, made) {
  return [el("strong", null, `${metric.name}, ${languageName(report, code)}`),
    made.lines.map((line) => el("div", null, line)),
    made.gates.map((gate) => el("div", null, badge(gate.outcome), ` ${gate.gate}: ${gate.limit}`))].flat();
}

function openCell(report, bench, metric, code, browser) {
  const made = bench.cells[metric.name][code];
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
    el("ul", null, made.lines.map((line) => el("li", null, line))),
    el("ul", { class: "gates" }, made.gates.map((gate) => el("li", { class: gate.outcome },
      badge(gate.outcome), " ", el("strong", null, gate.gate), `: ${gate.limit}`,
      el("div", { dir: "auto" }, gate.reason),
      el("div", { class: "sub" }, gate.origin)))),
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
