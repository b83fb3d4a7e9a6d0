/* Put the page together. */

function costSection(report) {
  const heads = ["answers", "tokens in", "tokens out", "price", "median time", "95% within"];
  return section("cost", "Cost and time",
    facts(report.cost.facts),
    el("details", { class: "more" }, el("summary", null, "by language"),
      scrolled("Cost by language", el("table", { class: "plain" },
        el("thead", null, el("tr", null, el("th", { scope: "col" }, "benchmark"), el("th", { scope: "col" }, "language"),
          heads.map((name) => el("th", { scope: "col", class: "n" }, name)))),
        el("tbody", null, report.cost.rows.map(([benchmark, language, ...cells]) => el("tr", null,
          el("td", null, benchmark), el("th", { scope: "row" }, language),
          cells.map((text) => el("td", { class: "n" }, text)))))))));
}

function madeSection(report) {
  const { made } = report;
  return section("made", "How these numbers were made",
    facts(made.facts),
    el("details", { class: "more" }, el("summary", null, "signatures of all numbers"),
      el("p", { class: "sub" }, "Numbers are only compared where these are equal."),
      scrolled("Signatures", el("table", { class: "plain" },
        el("thead", null, el("tr", null, ["benchmark", "metric", "signature"].map((name) => el("th", { scope: "col" }, name)))),
        el("tbody", null, report.signatures.map((one) => el("tr", null, el("td", null, one.benchmark),
          el("th", { scope: "row" }, one.metric), el("td", { class: "signature" }, one.signature))))))),
    el("details", { class: "more" }, el("summary", null, "settings and versions"),
      facts(made.settings), facts(made.versions)));
}

function start() {
  const report = JSON.parse(document.getElementById("data").textContent);
  const browser = new Browser(report);
  document.getElementById("run-line").textContent = report.run.facts.join(" · ");
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
