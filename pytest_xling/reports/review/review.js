// What the rater does: going from item to item, labelling, keys.

// Going from item to item

function countDone(items) {
  return items.filter((item) => isDone(said.get(item.case))).length;
}

function inLanguage() {
  const language = byId("language").value;
  return review.items.filter((item) => !language || item.language === language);
}

function choose() {
  const open = byId("open").checked;
  visible = inLanguage().filter((item) => !open || !isDone(said.get(item.case)));
}

function refresh() {
  choose();
  if (!visible.includes(current)) current = visible[0] || null;
  show();
}

function go(step) {
  const from = current;
  const all = inLanguage();
  choose();
  if (!visible.length) return refresh();
  let at = all.indexOf(from);
  do at += step;
  while (at >= 0 && at < all.length && !visible.includes(all[at]));
  if (at < 0 || at >= all.length) {
    tell(step > 0 ? "This was the last one." : "This is the first one.");
    return;
  }
  move(all[at]);
}

function goOpen() {
  const all = inLanguage();
  const at = all.indexOf(current);
  const next = [...all.slice(at + 1), ...all.slice(0, at + 1)].find(
    (item) => !isDone(said.get(item.case))
  );
  if (!next) {
    tell("All is labelled here. Save your labels.");
    return;
  }
  move(next);
}

function move(item) {
  current = item;
  tell("");
  show();
  keepPlace();
  main.focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

function keepPlace() {
  const old = fileIsOld;
  keep();
  fileIsOld = old;
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
  return current !== null && byId("judge-switch").checked;
}

// Keys

function isWriting(target) {
  return target.matches("textarea, select, input:not([type=radio]):not([type=checkbox])");
}

function toggleKeys() {
  byId("keys").hidden = !byId("keys").hidden;
  byId("help").setAttribute("aria-expanded", String(!byId("keys").hidden));
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Escape" && isWriting(event.target)) {
    event.target.blur();
    main.focus({ preventScroll: true });
    return;
  }
  if (isWriting(event.target)) return;
  const number = /^[0-9]$/.test(event.key) ? Number(event.key) : -1;
  const actions = {
    j: () => go(1),
    k: () => go(-1),
    n: goOpen,
    r: () => byId("reason") && byId("reason").focus(),
    v: () => byId("judge-switch").click(),
    a: agree,
    d: disagree,
    "?": toggleKeys,
  };
  if (number === 0 && current) setLabel(null);
  else if (number > 0 && number <= LABELS.length && current) setLabel(LABELS[number - 1]);
  else if (Object.hasOwn(actions, event.key)) actions[event.key]();
  else return;
  event.preventDefault();
}

function start() {
  const select = byId("language");
  const codes = Object.keys(review.languages);
  const many = (code) => review.items.filter((item) => item.language === code).length;
  select.append(make("option", { value: "", text: `all (${review.items.length})` }));
  for (const code of codes) {
    const text = `${review.languages[code].name} (${many(code)})`;
    select.append(make("option", { value: code, text }));
  }
  byId("keys").append(
    make("dl", {}, ...KEYS.flatMap(([keys, does]) => [make("dt", { text: keys }), make("dd", { text: does })]))
  );
  current = restore();
  byId("labeller").textContent = review.labeller;
  byId("judge-switch").checked = false;
  byId("open").checked = false;
  select.value = "";
  select.addEventListener("change", refresh);
  byId("open").addEventListener("change", refresh);
  byId("judge-switch").addEventListener("change", show);
  byId("rater").addEventListener("input", keepPlace);
  byId("save").addEventListener("click", save);
  byId("help").addEventListener("click", toggleKeys);
  byId("load").addEventListener("change", (event) => {
    const [file] = event.target.files;
    if (file) load(file);
    event.target.value = "";
  });
  document.addEventListener("keydown", onKey);
  window.addEventListener("beforeunload", (event) => {
    if (!kept && fileIsOld) event.preventDefault();
  });
  refresh();
  const done = countDone(review.items);
  if (done) tell(`This browser has kept ${done} of your labels.`);
}

start();
