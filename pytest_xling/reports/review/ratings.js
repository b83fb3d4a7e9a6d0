// Rating: several models' answers to a question side by side, in an order that hides the models.

const THINGS = "ratings";
const DONE = "rated";
const [RATING] = review.aspects;
const DIGITS = RATING.choices.map(({ name }) => name).sort();
const KEYS = [
  ["a", "go to the question's next answer"],
  [DIGITS.join(" "), "rate this answer"],
  ...review.aspects
    .filter(({ key }) => key)
    .map(({ name, key, choices }) => [key, `${words(name)}: ${choices.map((choice) => choice.name).join(", ")}`]),
  ["b", "rank it next best, or take its rank away"],
  ["r w", "write a remark on it, or why you rank so; Esc leaves it"],
];
const ACTIONS = {
  ...Object.fromEntries(DIGITS.map((digit) => [digit, () => give(at, RATING.name, digit)])),
  ...Object.fromEntries(review.aspects.filter(({ key }) => key).map((aspect) => [aspect.key, () => goRound(aspect)])),
  a: () => turnTo((at + 1) % current.answers.length),
  b: rankNext,
  r: () => byId(`text-${at}`).focus(),
  w: () => byId("rank-reason") && byId("rank-reason").focus(),
};
let at = 0; // the answer that keys are about

function blank(item) {
  const unsaid = Object.fromEntries(review.aspects.map(({ name }) => [name, null]));
  return { answers: item.answers.map(({ digest }) => ({ ...unsaid, rank: null, text: "", digest })), rank_reason: "" };
}

function isDone({ answers }) {
  const isRanked = answers.length < 2 || answers.every(({ rank }) => rank !== null);
  return isRanked && answers.every((answer) => review.aspects.every(({ name }) => answer[name] !== null));
}

function isHalf(record) {
  return isTouched(record) && !isDone(record);
}

function isTouched({ answers, rank_reason }) {
  return rank_reason !== "" || answers.some(({ digest, ...given }) => Object.values(given).some(Boolean));
}

function readRecord(record, item) {
  if (record === null || typeof record !== "object" || !Array.isArray(record.answers)) return null;
  const read = blank(item);
  read.rank_reason = readReason(record.rank_reason) || "";
  const free = new Set(item.answers.map((_, place) => place + 1));
  read.answers.forEach((answer, place) => {
    const given = record.answers[place] || {};
    if (isOfAnother(given, answer.digest)) return;
    for (const { name, choices } of review.aspects) {
      if (choices.some((choice) => choice.name === String(given[name]))) answer[name] = String(given[name]);
    }
    answer.text = readReason(given.text) || "";
    if (free.delete(given.rank)) answer.rank = given.rank;
  });
  return read;
}

function fileName(slug) {
  return `ratings-${review.benchmark}-${slug}.jsonl`;
}

// A row for each answer, as `xling ratings` reads it.
function fileText(rater) {
  const saved_at = new Date().toISOString();
  const touched = review.items.filter((item) => isTouched(said.get(item.case)));
  const rows = touched.flatMap((item) => {
    const { answers, rank_reason } = said.get(item.case);
    return item.answers.map(({ model }, place) => ({
      review: review.id,
      benchmark: review.benchmark,
      question: item.case,
      language: item.language,
      set: item.set,
      annotator: rater,
      model,
      position: place + 1,
      ...answers[place],
      [RATING.name]: answers[place][RATING.name] && Number(answers[place][RATING.name]),
      rank_reason,
      seed: review.seed,
      saved_at,
    }));
  });
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

function readFile(text) {
  const rows = text.split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line));
  if (!rows.length || rows.some((row) => row === null || typeof row !== "object")) return null;
  const [{ review: id, benchmark, annotator }] = rows;
  if (typeof id !== "string" || rows.some((row) => row.review !== id || row.annotator !== annotator)) return null;
  const records = new Map();
  for (const row of rows) {
    const item = items.get(row.question);
    const place = item ? item.answers.findIndex(({ model }) => model === row.model) : -1;
    if (place < 0) continue;
    if (!records.has(item.case)) records.set(item.case, { answers: [], rank_reason: row.rank_reason });
    records.get(item.case).answers[place] = row;
  }
  return { review: id, of: `benchmark ${benchmark}`, rater: annotator, said: [...records] };
}

// The page

function prepare() {
  byId("judge-switch").parentElement.remove();
  main.classList.add("side-by-side");
}

function countMore() {
  return "";
}

function shown() {
  at = 0;
  const texts = textsOf([
    ["Question", current.question],
    ["Reference", current.reference],
  ]);
  const { answers, rank_reason } = said.get(current.case);
  const candidates = make("div", { class: "candidates" }, ...answers.map(candidate));
  const controls = make("section", { class: "controls" });
  if (answers.length > 1) {
    controls.append(
      remark("rank-reason", "Why do you rank them so?", "w", rank_reason, (text) => {
        said.get(current.case).rank_reason = text;
        count();
      })
    );
  }
  controls.append(navigation());
  return [texts, candidates, controls];
}

function candidate(answer, place) {
  const name = `Answer ${place + 1}`;
  const article = make("article", { "aria-label": name, onfocusin: () => turnTo(place, false) });
  article.classList.toggle("current", place === at);
  article.append(...block(name, current.answers[place].text, "answer"));
  const options = (aspect, pairs) =>
    pairs.map(([value, meaning]) => ({
      id: `${aspect}-${place}-${value}`,
      text: String(value),
      meaning,
      chosen: answer[aspect] === value,
      choose: () => give(place, aspect, value),
    }));
  for (const { name: aspect, asked, key, choices: some } of review.aspects) {
    const pairs = some.map((choice) => [choice.name, choice.meaning]);
    const keys = make("kbd", { text: key || `${DIGITS[0]}–${DIGITS.at(-1)}` });
    article.append(choices(asked, `${aspect}-${place}`, options(aspect, pairs), keys));
  }
  if (current.answers.length > 1) {
    const pairs = current.answers.map((_, number) => [number + 1, number ? "" : "best"]);
    const keys = make("kbd", { text: "b" });
    article.append(choices("Its rank among these answers", `rank-${place}`, options("rank", pairs), keys));
  }
  article.append(
    remark(`text-${place}`, "Remarks, if you like", "r", answer.text, (text) => {
      answer.text = text;
    })
  );
  return article;
}

// Rating

function turnTo(place, move = true) {
  at = place;
  const articles = [...main.querySelectorAll("article")];
  articles.forEach((article, number) => article.classList.toggle("current", number === at));
  if (move) articles[at].querySelector(".answer").focus({ preventScroll: true });
}

function give(place, aspect, value) {
  const { answers } = said.get(current.case);
  if (aspect === "rank" && value !== null) {
    // Two that would have one rank change places.
    const other = answers.find((answer, number) => number !== place && answer.rank === value);
    if (other) other.rank = answers[place].rank;
  }
  answers[place][aspect] = value;
  keep();
  // Nothing is laid out anew: long answers stay where they were scrolled to.
  for (const input of main.querySelectorAll("input[type=radio]")) {
    const [, name, number, option] = input.id.match(/^(\w+)-(\d+)-(\w+)$/);
    input.checked = String(answers[number][name]) === option;
  }
  count();
}

function goRound({ name, choices: some }) {
  const values = some.map((choice) => choice.name);
  const now = said.get(current.case).answers[at][name];
  give(at, name, values[(values.indexOf(now) + 1) % values.length]);
}

function rankNext() {
  const { answers } = said.get(current.case);
  if (answers.length < 2) return;
  const taken = answers.map(({ rank }) => rank);
  const free = answers.map((_, place) => place + 1).find((rank) => !taken.includes(rank));
  give(at, "rank", answers[at].rank === null ? free : null);
}
