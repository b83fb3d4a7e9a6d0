// What the rater does, whatever is asked: going from item to item, keys.

// Going from item to item

function countDone(some) {
  return some.filter((item) => isDone(said.get(item.case))).length;
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
    tell(allIsDone());
    return;
  }
  move(next);
}

function move(item) {
  current = item;
  tell("");
  main.focus({ preventScroll: true }); // before anything of the next item could take the focus
  show();
  keepPlace();
  window.scrollTo(0, 0);
}

function keepPlace() {
  const old = fileIsOld;
  keep();
  fileIsOld = old;
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
  const actions = { j: () => go(1), k: () => go(-1), n: goOpen, "?": toggleKeys };
  if (Object.hasOwn(actions, event.key)) actions[event.key]();
  else if (current !== null && Object.hasOwn(ACTIONS, event.key)) ACTIONS[event.key]();
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
  const keys = [...KEYS, ["j k", "next, previous"], ["n", `next that is not ${DONE}`], ["?", "show or hide these keys"]];
  byId("keys").append(
    make("dl", {}, ...keys.flatMap(([keys, does]) => [make("dt", { text: keys }), make("dd", { text: does })]))
  );
  current = restore();
  for (const [name, text] of [["things", THINGS], ["done", DONE]]) {
    for (const part of document.querySelectorAll(`header .${name}`)) part.textContent = text;
  }
  prepare();
  byId("open").checked = false;
  select.value = "";
  select.addEventListener("change", refresh);
  byId("open").addEventListener("change", refresh);
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
  if (done) tell(`This browser has kept ${done} of your ${THINGS}.`);
}

start();
