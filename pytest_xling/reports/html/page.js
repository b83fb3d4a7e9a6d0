/* Put the page together. */

function costSection(report) {
  const { rows, spent_usd: spent, seconds, unpriced } = report.cost;
  const mine = unpriced.filter((model) => model === report.run.model);
  const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
  const number = (value) => el("td", { class: "n" }, value);
  const cells = (row) => [number(row.answers.toLocaleString("en")), number(row.in.toLocaleString("en")),
    number(row.out.toLocaleString("en")), number(row.usd || !mine.length ? wordDollars(row.usd) : "unknown"), number(wordSeconds(row.median_s)),
    number(wordSeconds(row.p95_s))];
  const heads = ["answers", "tokens in", "tokens out", "price", "median time", "95% within"];
  return section("cost", "Cost and time",
    facts([["spent in this run, with judges and translators", wordDollars(spent, unpriced)],
      ["price of all its answers, whenever paid", wordDollars(sum("usd"), mine)],
      ["time", wordSeconds(seconds)],
      ["tokens of answers", `${sum("in").toLocaleString("en")} in, ${sum("out").toLocaleString("en")} out`
        + (sum("estimated") ? `; of ${sum("estimated").toLocaleString("en")} counted by us: the server sent none that can be believed` : "")]]),
    el("details", { class: "more" }, el("summary", null, "by language"),
      scrolled("Cost by language", el("table", { class: "plain" },
        el("thead", null, el("tr", null, el("th", { scope: "col" }, "benchmark"), el("th", { scope: "col" }, "language"),
          heads.map((name) => el("th", { scope: "col", class: "n" }, name)))),
        el("tbody", null, rows.map((row) => el("tr", null, el("td", null, row.benchmark),
          el("th", { scope: "row" }, languageName(report, row.language)), cells(row))))))));
}

function madeSection(report) {
  const { run } = report;
  const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  const given = Object.entries(run.settings).filter(([, value]) => value !== null && value !== ""
    && !(typeof value === "object" && !Object.keys(value).length));
  return section("made", "How these numbers were made",
    facts([["run", run.id], ["made", `${run.created.slice(0, 16).replace("T", " ")} UTC`], ["status", run.status],
      ["code", run.git], ["seed", run.seed]]),
    el("details", { class: "more" }, el("summary", null, "signatures of all numbers"),
      el("p", { class: "sub" }, "Numbers are only compared where these are equal."),
      scrolled("Signatures", el("table", { class: "plain" },
        el("thead", null, el("tr", null, ["benchmark", "metric", "signature"].map((name) => el("th", { scope: "col" }, name)))),
        el("tbody", null, report.signatures.map((one) => el("tr", null, el("td", null, one.benchmark),
          el("th", { scope: "row" }, one.metric), el("td", { class: "signature" }, one.signature))))))),
    el("details", { class: "more" }, el("summary", null, "settings and versions"),
      facts(given.map(([name, value]) => [name.replaceAll("_", " "), shown(value)])),
      facts(Object.entries(run.versions))));
}

function start() {
  const report = JSON.parse(document.getElementById("data").textContent);
  const browser = new Browser(report);
  const { run } = report;
  document.getElementById("run-line").textContent = [`run ${run.id}`, run.status,
    `${run.created.slice(0, 16).replace("T", " ")} UTC`, run.git && `code ${run.git}`,
    `answers: ${run.answers}`, run.other_models,
    report.baseline && `compared with ${report.baseline}`].filter(Boolean).join(" · ");
  const sections = [verdictSection(report), findingsSection(report, browser), tablesSection(report, browser),
    curvesSection(report), groupsSection(report), browser.section(), costSection(report), madeSection(report)];
  document.getElementById("main").append(...sections.filter(Boolean));
  document.getElementById("sections").append(...sections.filter(Boolean).map((made) => el("li", null,
    el("a", { href: `#${made.id}` }, made.querySelector("h2").textContent))));
  browser.draw();
}

/* Paper shows what is folded on the screen. */
let unfolded = [];
window.addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("details:not([open])")];
  for (const one of unfolded) one.open = true;
});
window.addEventListener("afterprint", () => {
  for (const one of unfolded) one.open = false;
});

start();
