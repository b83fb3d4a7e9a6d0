// What the review holds and what the rater has said: kept in this browser, saved and loaded.
//
// What a record holds depends on what is asked: labels.js, or ratings.js, has THINGS and DONE (its
// words), KEYS and ACTIONS, and blank, isDone, isHalf, isTouched, readRecord (of a record), fileName,
// fileText, readFile (of what is saved), countMore, prepare and shown (of the page).

const review = JSON.parse(document.getElementById("data").textContent);
const SHOWN = 20000; // characters of a text until more is asked for
const MORE = 100000;
const LONGEST_REASON = 10000;
const RTL = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/gu;
const STORE = `xling-review:${review.id}`;

const byId = (id) => document.getElementById(id);
const main = byId("main");
const items = new Map(review.items.map((item) => [item.case, item]));
const said = new Map(review.items.map((item) => [item.case, blank(item)]));
let visible = [];
let current = null;
let kept = true; // whether this browser keeps what is said
let fileIsOld = false;

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
    if (kept) tell(`This browser keeps nothing: save your ${THINGS} before you leave the page.`, true);
    kept = false;
  }
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
    const read = items.has(name) && readRecord(record, items.get(name));
    if (read) said.set(name, read);
  }
  if (typeof state.rater === "string") byId("rater").value = state.rater;
  return items.get(state.at) || null;
}

// Files of earlier pages have no digest.
function isOfAnother(record, digest) {
  return record.digest !== undefined && record.digest !== digest;
}

function readReason(text) {
  return typeof text === "string" ? text.slice(0, LONGEST_REASON) : null;
}

// What is saved as a file, and loaded

function save() {
  const rater = byId("rater").value.trim();
  if (!rater) {
    tell(`Write your name first: it tells your ${THINGS} from those of others.`, true);
    byId("rater").focus();
    return;
  }
  const url = URL.createObjectURL(new Blob([fileText(rater)], { type: "application/json" }));
  const slug = rater.replace(/[^\p{L}\p{M}\p{N}._-]+/gu, "_").slice(0, 60);
  const link = make("a", { href: url, download: fileName(slug) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  fileIsOld = false;
  const half = review.items.filter((item) => isHalf(said.get(item.case))).length;
  tell(
    `Saved: ${countDone(review.items)} of ${review.items.length} ${DONE}, as ${link.download}` +
      (half ? `. Begun, but not complete: ${half}. Complete and save again.` : "")
  );
}

async function load(file) {
  let read;
  try {
    read = readFile(await file.text());
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
  for (const [name, saved] of read.said) {
    const record = items.has(name) && readRecord(saved, items.get(name));
    if (record && isTouched(record)) {
      said.set(name, record);
      count += isDone(record);
    }
  }
  byId("rater").value = read.rater;
  keep();
  fileIsOld = false;
  refresh();
  tell(`Loaded ${count} ${count === 1 ? THINGS.slice(0, -1) : THINGS} of ${read.rater}`);
}

function whyNot(read) {
  if (read === null) return `is no file of ${THINGS}; choose one this page has saved.`;
  if (read.review !== review.id) {
    return `holds the ${THINGS} of another review (${read.of}); open the page they were made on.`;
  }
  if (!Array.isArray(read.said) || typeof read.rater !== "string") return "is damaged.";
  const rater = byId("rater").value.trim();
  if (rater && rater !== read.rater) {
    return `holds the ${THINGS} of ${read.rater}, and you are ${rater}; change your name first.`;
  }
  return "";
}
