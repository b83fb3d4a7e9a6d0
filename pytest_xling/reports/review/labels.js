// Labelling: one answer at a time, beside it the judge's label where the rater wants to see it.

const THINGS = "labels";
const DONE = "labelled";
const LABELS = review.labels.map((label) => label.name);
const LABELS_FORMAT = "xling-review-labels";
const LABELLER = review.labeller[0].toUpperCase() + review.labeller.slice(1);
const VERDICTS = { agree: `${LABELLER} is right`, disagree: `${LABELLER} is wrong` };
const KEYS = [
  [LABELS.map((_, number) => number + 1).join(" "), "choose a label"],
  ["0", "cannot tell"],
  ["r", "write a reason; Esc leaves it"],
  ["v", `show or hide ${review.labeller}`],
  ["a d", `agree or disagree with ${review.labeller}, while it is shown`],
];
const ACTIONS = {
  ...Object.fromEntries(LABELS.map((label, number) => [number + 1, () => setLabel(label)])),
  0: () => setLabel(null),
  r: () => byId("reason").focus(),
  v: () => byId("judge-switch").click(),
  a: agree,
  d: disagree,
};

function blank({ digest }) {
  return { label: null, cannot_tell: false, verdict: "", reason: "", saw_judge: false, seen: false, digest };
}

function isDone(record) {
  return record.label !== null || record.cannot_tell;
}

function isHalf() {
  return false;
}

function isTouched(record) {
  return isDone(record) || record.seen || record.verdict !== "" || record.reason !== "";
}

function readRecord(record, { digest }) {
  if (record === null || typeof record !== "object") return null;
  if (isOfAnother(record, digest)) return null;
  const { label = null, cannot_tell = false, verdict = "", reason = "" } = record;
  if (label !== null && !LABELS.includes(label)) return null;
  if (readReason(reason) === null) return null;
  return {
    label,
    cannot_tell: label === null && cannot_tell === true,
    verdict: ["agree", "disagree"].includes(verdict) ? verdict : "",
    reason: readReason(reason),
    saw_judge: record.saw_judge === true,
    seen: record.seen === true || record.saw_judge === true,
    digest,
  };
}

function fileName(slug) {
  return `labels-${review.metric}-${slug}.json`;
}

function fileText(rater) {
  const saved = {
    format: LABELS_FORMAT,
    version: review.version,
    review: review.id,
    run: review.run,
    model: review.model,
    benchmark: review.benchmark,
    metric: review.metric,
    kind: review.kind,
    signature: review.signature,
    seed: review.seed,
    rater,
    saved_at: new Date().toISOString(),
    items: review.items.map((item) => {
      const { seen, ...record } = said.get(item.case);
      return {
        case: item.case,
        language: item.language,
        weight: item.weight,
        judge: item.judge,
        ...record,
      };
    }),
  };
  return JSON.stringify(saved, null, 1) + "\n";
}

function readFile(text) {
  const read = JSON.parse(text);
  if (read === null || typeof read !== "object" || read.format !== LABELS_FORMAT) return null;
  return {
    review: read.review,
    of: `metric ${read.metric} of run ${read.run}`,
    rater: read.rater,
    said: Array.isArray(read.items) ? read.items.map((item) => [item && item.case, item]) : null,
  };
}

// The page

function prepare() {
  byId("labeller").textContent = review.labeller;
  byId("judge-switch").checked = false;
  byId("judge-switch").addEventListener("change", show);
}

function countMore(some) {
  const unsure = some.filter((item) => said.get(item.case).cannot_tell).length;
  return unsure ? `, ${unsure} of them “cannot tell”` : "";
}

function shown() {
  const texts = textsOf([
    ["Question", current.question],
    ["Claim", current.claim],
    ["The claim is", current.veracity],
    ["Reference", current.reference],
  ]);
  texts.append(...block("Answer", current.answer, "answer"));
  return [texts, controls()];
}

function controls() {
  const record = said.get(current.case);
  const part = make("section", { class: "controls" });
  if (judgeIsShown()) {
    record.seen = true;
    keepPlace();
    part.append(judge(record));
  }
  const labels = [...review.labels, { name: null, meaning: "" }];
  const options = labels.map(({ name, meaning }, number) => {
    const key = name === null ? "0" : String(number + 1);
    const chosen = name === null ? record.cannot_tell : record.label === name;
    const choose = () => setLabel(name);
    return { id: `label-${key}`, key, text: name === null ? "cannot tell" : name, meaning, chosen, choose };
  });
  const reason = remark("reason", "Reason, if you like", "r", record.reason, (text) => {
    record.reason = text;
  });
  part.append(choices(review.asked, "label", options), reason, navigation());
  return part;
}

function judge(record) {
  const box = make("section", { class: "judge", "aria-label": LABELLER }, make("h3", { text: LABELLER }));
  if (current.judge === null) {
    box.append(make("p", { text: "gave no label" }));
  } else {
    box.append(make("p", { class: "label", text: words(current.judge) }));
  }
  if (current.reasoning) {
    const text = make("p", { class: "text", dir: "auto", text: current.reasoning });
    box.append(text);
  }
  if (current.judge !== null) {
    const button = (name, key, action) =>
      make(
        "button",
        {
          type: "button",
          id: `judge-${name}`,
          "aria-pressed": String(record.verdict === name),
          onclick: action,
        },
        `${VERDICTS[name]} `,
        make("kbd", { text: key })
      );
    box.append(make("p", {}, button("agree", "a", agree), " ", button("disagree", "d", disagree)));
  }
  box.append(make("p", { class: "source", text: review.signature }));
  return box;
}

// Labelling

function setLabel(label) {
  const record = said.get(current.case);
  record.label = label;
  record.cannot_tell = label === null;
  record.verdict = label === null || current.judge === null ? "" : verdictOf(label);
  record.saw_judge = record.seen;
  keep();
  show();
}

function verdictOf(label) {
  return label === current.judge ? "agree" : "disagree";
}

function agree() {
  if (judgeIsShown() && current.judge !== null) setLabel(current.judge);
}

function disagree() {
  if (!judgeIsShown() || current.judge === null) return;
  const others = LABELS.filter((label) => label !== current.judge);
  if (others.length === 1) return setLabel(others[0]);
  const record = said.get(current.case);
  if (record.label === current.judge || record.cannot_tell) {
    record.label = null;
    record.cannot_tell = false;
  }
  record.verdict = "disagree";
  keep();
  show();
  if (record.label === null) tell("Which label is right?");
  const first = main.querySelector("input[name=label]");
  if (first) first.focus();
}

function judgeIsShown() {
  return byId("judge-switch").checked;
}
