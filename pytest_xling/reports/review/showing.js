// Showing: everything a model, a judge or a file says goes through textContent, never as markup.

function make(tag, options = {}, ...children) {
  const { text, ...rest } = options;
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(rest)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && typeof value === "boolean") made[name] = value;
    else made.setAttribute(name, value);
  }
  if (text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}

function words(name) {
  return name.replaceAll("_", " ");
}

function tell(text, isError = false) {
  byId("message").textContent = text;
  byId("message").className = isError ? "error" : "";
}

function show() {
  const focused = document.activeElement && document.activeElement.id;
  main.replaceChildren();
  if (current === null) {
    main.append(make("p", { class: "empty", text: allIsDone() }));
  } else {
    main.append(...shown());
    main.setAttribute("aria-label", `Item ${place()}`);
  }
  if (focused && byId(focused)) byId(focused).focus({ preventScroll: true });
  count();
}

function allIsDone() {
  return `All is ${DONE} here. Save your ${THINGS}.`;
}

function place() {
  const all = inLanguage();
  return `${all.indexOf(current) + 1} of ${all.length}`;
}

function count() {
  const here = inLanguage();
  const done = countDone(here);
  byId("progress").max = here.length;
  byId("progress").value = done;
  byId("count").textContent = `${done} of ${here.length} ${DONE}${countMore(here)}`;
}

function textsOf(blocks) {
  const part = make("section", { class: "texts" });
  part.append(
    make(
      "h2",
      {},
      make("span", { text: `Item ${place()}` }),
      make("span", { class: "language", text: review.languages[current.language].name }),
      make("span", { class: "case", text: current.case })
    )
  );
  for (const [name, text] of blocks) if (text) part.append(...block(name, text));
  return part;
}

function block(name, text, kind = "") {
  const language = review.languages[current.language];
  const cut = firstOf(text, SHOWN);
  const box = make("div", { class: `text ${kind}`, dir: direction(cut, language) });
  if (kind === "answer") {
    // It may scroll, so it must be reached with the keyboard.
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", name);
  }
  if (cut) {
    box.textContent = cut;
    box.lang = current.language;
  } else {
    box.append(make("em", { text: "(there is no text)" }));
  }
  const parts = [make("h3", { text: name }), box];
  if (cut.length < text.length) parts.push(more(box, text, cut.length));
  return parts;
}

// A megabyte laid out at once would hold the page up.
function more(box, text, shown) {
  const left = make("span");
  const said = () => {
    left.textContent = `${shown.toLocaleString("en")} of ${text.length.toLocaleString("en")} characters are shown. `;
  };
  const button = make("button", {
    type: "button",
    text: "Show more",
    onclick: () => {
      const next = firstOf(text.slice(shown), MORE);
      box.append(next);
      shown += next.length;
      if (shown < text.length) said();
      else left.parentElement.remove();
    },
  });
  said();
  return make("p", { class: "more" }, left, button);
}

function firstOf(text, length) {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}

function direction(text, language) {
  const letters = (text.slice(0, 5000).match(/\p{L}/gu) || []).length;
  if (!letters) return language.dir;
  return 2 * (text.slice(0, 5000).match(RTL) || []).length > letters ? "rtl" : "ltr";
}

function choices(asked, name, options, hint = "") {
  const box = make("fieldset", {}, make("legend", {}, `${asked} `, hint));
  for (const { id, key, text, meaning, chosen, choose } of options) {
    const input = make("input", { type: "radio", name, id, onchange: choose });
    input.checked = chosen;
    const label = make("span", {}, make("b", { text: words(text) }), ` ${meaning}`);
    box.append(make("label", { class: "option" }, input, key ? make("kbd", { text: key }) : "", label));
  }
  return box;
}

function remark(id, asked, key, text, change) {
  const input = make("textarea", {
    id,
    rows: "3",
    maxlength: String(LONGEST_REASON),
    dir: "auto",
    oninput: () => {
      change(input.value);
      keep();
    },
  });
  input.value = text;
  return make("label", { class: "reason" }, make("span", {}, `${asked} `, make("kbd", { text: key })), input);
}

function navigation() {
  const button = (id, text, key, action, kind = "") =>
    make("button", { type: "button", id, class: kind, onclick: action }, `${text} `, make("kbd", { text: key }));
  return make(
    "nav",
    { "aria-label": "Items" },
    button("previous", "Previous", "k", () => go(-1)),
    button("next", "Next", "j", () => go(1)),
    button("next-open", `Next not ${DONE}`, "n", goOpen, "main")
  );
}
