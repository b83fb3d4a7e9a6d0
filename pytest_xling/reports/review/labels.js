// What the review holds and what the rater has said: kept in this browser, saved and loaded.

const review = JSON.parse(document.getElementById("data").textContent);
const LABELS = review.labels.map((label) => label.name);
const LABELS_FORMAT = "xling-review-labels";
const SHOWN = 20000; // characters of a text until more is asked for
const MORE = 100000;
const LONGEST_REASON = 10000;
const RTL = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/gu;
const LABELLER = review.labeller[0].toUpperCase() + review.labeller.slice(1);
const VERDICTS = { agree: `${LABELLER} is right`, disagree: `${LABELLER} is wrong` };
const KEYS = [
  [LABELS.map((_, number) => number + 1).join(" "), "choose a label"],
  ["0", "cannot tell"],
  ["j k", "next, previous"],
  ["n", "next that is not labelled"],
  ["r", "write a reason; Esc leaves it"],
  ["v", `show or hide ${review.labeller}`],
  ["a d", `agree or disagree with ${review.labeller}, while it is shown`],
  ["?", "show or hide these keys"],
];
const STORE = `xling-review:${review.id}`;

const byId = (id) => document.getElementById(id);
const main = byId("main");
const said = new Map(review.items.map((item) => [item.case, blank()]));
let visible = [];
let current = null;
let kept = true; // whether this browser keeps what is said
let fileIsOld = false;

function blank() {
  return { label: null, cannot_tell: false, verdict: "", reason: "", saw_judge: false, seen: false };
}

function isDone(record) {
  return record.label !== null || record.cannot_tell;
}

// What is kept in this browser

function keep() {
  fileIsOld = true;
  const state = {
    rater: byId("rater").value,
    at: current && current.case,
    said: [...said].filter(([, record]) => isTouched(record)),
  };
  try {
    localStorage.setItem(STORE, JSON.stringify(state));
    kept = true;
  } catch (error) {
    if (kept) tell("This browser keeps nothing: save your labels before you leave the page.", true);
    kept = false;
  }
}

function isTouched(record) {
  return isDone(record) || record.seen || record.verdict !== "" || record.reason !== "";
}

function restore() {
  let state = null;
  try {
    state = JSON.parse(localStorage.getItem(STORE) || "null");
  } catch (error) {
    kept = false;
  }
  if (state === null || typeof state !== "object" || !Array.isArray(state.said)) return null;
  for (const [name, record] of state.said) {
    const read = readRecord(record);
    if (said.has(name) && read) said.set(name, read);
  }
  if (typeof state.rater === "string") byId("rater").value = state.rater;
  return review.items.find((item) => item.case === state.at) || null;
}

function readRecord(record) {
  if (record === null || typeof record !== "object") return null;
  const { label = null, cannot_tell = false, verdict = "", reason = "" } = record;
  if (label !== null && !LABELS.includes(label)) return null;
  if (typeof reason !== "string") return null;
  return {
    label,
    cannot_tell: label === null && cannot_tell === true,
    verdict: ["agree", "disagree"].includes(verdict) ? verdict : "",
    reason: reason.slice(0, LONGEST_REASON),
    saw_judge: record.saw_judge === true,
    seen: record.seen === true || record.saw_judge === true,
  };
}

// What is saved as a file, and loaded

function saved() {
  return {
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
    rater: byId("rater").value.trim(),
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
}

function save() {
  const rater = byId("rater").value.trim();
  if (!rater) {
    tell("Write your name first: it tells your labels from those of others.", true);
    byId("rater").focus();
    return;
  }
  const text = JSON.stringify(saved(), null, 1) + "\n";
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const slug = rater.replace(/[^\p{L}\p{M}\p{N}._-]+/gu, "_").slice(0, 60);
  const link = make("a", { href: url, download: `labels-${review.metric}-${slug}.json` });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  fileIsOld = false;
  tell(`Saved: ${countDone(review.items)} of ${review.items.length} labelled, as ${link.download}`);
}

async function load(file) {
  let read;
  try {
    read = JSON.parse(await file.text());
  } catch (error) {
    tell(`${file.name} is not JSON: choose a file this page has saved.`, true);
    return;
  }
  const wrong = whyNot(read);
  if (wrong) {
    tell(`${file.name}: ${wrong}`, true);
    return;
  }
  let count = 0;
  for (const item of read.items) {
    const record = readRecord(item);
    if (item && said.has(item.case) && record && isTouched(record)) {
      said.set(item.case, record);
      count += isDone(record);
    }
  }
  byId("rater").value = read.rater;
  keep();
  fileIsOld = false;
  refresh();
  tell(`Loaded ${count} label${count === 1 ? "" : "s"} of ${read.rater}`);
}

function whyNot(read) {
  if (read === null || typeof read !== "object" || read.format !== LABELS_FORMAT) {
    return "is no file of labels; choose one this page has saved.";
  }
  if (read.review !== review.id) {
    const of = `metric ${read.metric} of run ${read.run}`;
    return `holds the labels of another review (${of}); open the page they were made on.`;
  }
  if (!Array.isArray(read.items) || typeof read.rater !== "string") return "is damaged.";
  const rater = byId("rater").value.trim();
  if (rater && rater !== read.rater) {
    return `holds the labels of ${read.rater}, and you are ${rater}; change your name first.`;
  }
  return "";
}
