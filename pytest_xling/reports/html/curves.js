/* Curves over levels of presupposition and over temperatures, a line for each language. */

const CHART = { width: 760, height: 320, left: 56, right: 150, top: 16, bottom: 44 };
const KINDS = 6; /* of dashes and colours */

function curvesSection(report) {
  const parts = report.benchmarks.flatMap((bench) => [
    ...["level", "temperature"].map((axis) => chooser(report, bench, axis)),
    ...bench.stances.map((figure) => stances(report, bench, figure)),
  ]).filter(Boolean);
  return parts.length ? section("curves", "Levels and temperatures", parts) : null;
}

function chooser(report, bench, axis) {
  const curves = bench.curves.filter((curve) => curve.axis === axis);
  if (!curves.length) return null;
  const place = el("div");
  const id = `curve-${bench.name}-${axis}`;
  const draw = (curve) => place.replaceChildren(chart(report, bench, curve), curveTable(report, bench, curve));
  const select = el("select", { id, onchange: () => draw(curves[Number(select.value)]) },
    curves.map((curve, index) => el("option", { value: index }, curve.metric)));
  draw(curves[0]);
  return el("figure", null,
    el("figcaption", null, el("strong", null, bench.name), ` by ${axis}: `,
      el("label", { for: id }, "metric "), select), place);
}

function chart(report, bench, curve) {
  const codes = bench.languages.filter((code) => curve.lines[code]);
  const values = codes.flatMap((code) => curve.lines[code]).map((made) => made?.v).filter((v) => v !== undefined);
  if (!values.length) return el("p", { class: "quiet" }, `No answer has a value of ${curve.metric}.`);
  const { ticks } = curve;
  const [low, high] = [ticks[0][0], ticks.at(-1)[0]];
  const { width, height, left, right, top, bottom } = CHART;
  const x = (index) => left + (index * (width - left - right)) / (curve.x.length - 1);
  const y = (value) => top + ((high - value) * (height - top - bottom)) / (high - low);
  const ends = spread(codes.map((code) => ({ code, at: y(last(curve.lines[code])?.v ?? low) })), height - bottom);
  const drawing = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "group",
    "aria-label": `${curve.metric} by ${curve.axis}, a line for each language` },
  ticks.map(([tick, label]) => [
    svg("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
    svg("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, label)]),
  curve.labels.map((label, index) => svg("text", { x: x(index), y: height - bottom + 20, "text-anchor": "middle" }, label)),
  svg("text", { class: "axis", x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" },
    curve.axis === "level" ? "level of presupposition" : "temperature"),
  codes.map((code, order) => {
    const points = curve.lines[code].map((made, index) => made?.v === undefined ? null : [x(index), y(made.v), made]);
    const shown = points.filter(Boolean);
    const band = shown.filter((point) => point[2].lo !== undefined);
    const path = (list) => list.map((point) => point.map((v) => v.toFixed(1)).join(" ")).join("L");
    const around = [...band.map((p) => [p[0], y(clamp(p[2].hi, low, high))]),
      ...band.reverse().map((p) => [p[0], y(clamp(p[2].lo, low, high))])];
    const label = ends.get(code);
    return svg("g", { class: `curve kind-${code === bench.pivot ? "pivot" : order % KINDS}`, tabindex: 0, role: "img",
      "aria-label": `${languageName(report, code)}: ${shown.map((point) => wordValue(point[2])).join(", ")}` },
    band.length > 1 ? svg("path", { class: "band", d: `M${path(around)}Z` }) : null,
    shown.length ? svg("path", { class: "line", d: `M${path(shown.map((point) => point.slice(0, 2)))}` }) : null,
    shown.map((point) => mark(order, point[0], point[1])),
    svg("text", { class: "label", x: width - right + 10, y: label + 4 },
      `${languageName(report, code)} ${wordValue(last(curve.lines[code]))}`));
  }));
  return el("div", { class: "scroll" }, drawing);
}

function last(line) {
  return line.findLast((made) => made?.v !== undefined);
}

/* Dots, squares and diamonds in turn: lines can be told apart without colour. */
function mark(order, x, y) {
  if (order % 3 === 0) return svg("circle", { class: "mark", cx: x, cy: y, r: 3.5 });
  const rect = { class: "mark", x: x - 3.2, y: y - 3.2, width: 6.4, height: 6.4 };
  if (order % 3 === 1) return svg("rect", rect);
  return svg("rect", { ...rect, transform: `rotate(45 ${x} ${y})` });
}

/* Places for labels, pushed apart where they would lie on each other. */
function spread(ends, lowest) {
  const gap = Math.min(15, lowest / Math.max(ends.length, 1));
  const sorted = ends.sort((a, b) => a.at - b.at);
  sorted.forEach((end, index) => {
    if (index) end.at = Math.max(end.at, sorted[index - 1].at + gap);
  });
  let limit = lowest;
  for (const end of [...sorted].reverse()) {
    end.at = Math.min(end.at, limit);
    limit = end.at - gap;
  }
  return new Map(sorted.map((end) => [end.code, end.at]));
}

function curveTable(report, bench, curve) {
  const head = curve.x.map((at, index) => el("th", { scope: "col" },
    curve.axis === "level" ? report.levels[at] : curve.labels[index]));
  const rows = bench.languages.filter((code) => curve.lines[code]).map((code) => el("tr", null,
    el("th", { scope: "row" }, languageName(report, code)),
    curve.lines[code].map((made) => el("td", null, made ? wordValue(made) : "",
      made ? el("div", { class: "sub" }, wordInterval(made)) : null))));
  return el("details", { class: "more" }, el("summary", null, "the same as a table, with intervals"),
    scrolled(`${curve.metric} by ${curve.axis}`, el("table", { class: "plain" },
      el("thead", null, el("tr", null, el("th", { scope: "col" }, "language"), head)), el("tbody", null, rows))));
}

function stances(report, bench, figure) {
  const at = bench.stances.length > 1 && figure.temperature !== null ? ` at temperature ${figure.temperature}` : "";
  return el("details", { class: "more", open: bench.languages.length <= 4 },
    el("summary", null, `${bench.name}: stances by level${at}`),
    figure.source ? el("div", { class: "scroll" }, el("img", { src: figure.source, alt: figure.description, class: "stances" }))
      : el("p", { class: "note" }, figure.why));
}
