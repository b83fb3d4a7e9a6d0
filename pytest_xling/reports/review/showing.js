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
    main.append(make("p", { class: "empty", text: "All is labelled here. Save your labels." }));
  } else {
    main.append(texts(), controls());
    main.setAttribute("aria-label", `Item ${place()}`);
  }
  if (focused && byId(focused)) byId(focused).focus({ preventScroll: true });
  count();
}

function place() {
  const all = inLanguage();
  return `${all.indexOf(current) + 1} of ${all.length}`;
}

function count() {
  const items = inLanguage();
  const done = countDone(items);
  const unsure = items.filter((item) => said.get(item.case).cannot_tell).length;
  byId("progress").max = items.length;
  byId("progress").value = done;
  byId("count").textContent =
    `${done} of ${items.length} labelled` + (unsure ? `, ${unsure} of them “cannot tell”` : "");
}

function texts() {
  const language = review.languages[current.language];
  const part = make("section", { class: "texts" });
  part.append(
    make(
      "h2",
      {},
      make("span", { text: `Item ${place()}` }),
      make("span", { class: "language", text: language.name }),
      make("span", { class: "case", text: current.case })
    )
  );
  const shown = [
    ["Question", current.question],
    ["Claim", current.claim],
    ["The claim is", current.veracity],
    ["Reference", current.reference],
  ];
  for (const [name, text] of shown) if (text) part.append(...block(name, text, language));
  part.append(...block("Answer", current.answer, language, "answer"));
  return part;
}

function block(name, text, language, kind = "") {
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

function controls() {
  const record = said.get(current.case);
  const part = make("section", { class: "controls" });
  if (judgeIsShown()) {
    record.seen = true;
    keepPlace();
    part.append(judge(record));
  }
  part.append(choices(record), reason(record), navigation());
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

function choices(record) {
  const box = make("fieldset", {}, make("legend", { text: review.asked }));
  const option = (id, key, name, meaning, checked, action) => {
    const input = make("input", { type: "radio", name: "label", id, onchange: action });
    input.checked = checked;
    const text = make("span", {}, make("b", { text: words(name) }), ` ${meaning}`);
    box.append(make("label", { class: "option" }, input, make("kbd", { text: key }), text));
  };
  review.labels.forEach((label, number) => {
    const { name, meaning } = label;
    const key = String(number + 1);
    option(`label-${key}`, key, name, meaning, record.label === name, () => setLabel(name));
  });
  option("label-0", "0", "cannot tell", "", record.cannot_tell, () => setLabel(null));
  return box;
}

function reason(record) {
  const input = make("textarea", {
    id: "reason",
    rows: "3",
    maxlength: String(LONGEST_REASON),
    dir: "auto",
    oninput: () => {
      record.reason = input.value;
      keep();
    },
  });
  input.value = record.reason;
  return make("label", { class: "reason" }, make("span", {}, "Reason, if you like ", make("kbd", { text: "r" })), input);
}

function navigation() {
  const button = (id, text, key, action, kind = "") =>
    make("button", { type: "button", id, class: kind, onclick: action }, `${text} `, make("kbd", { text: key }));
  return make(
    "nav",
    { "aria-label": "Items" },
    button("previous", "Previous", "k", () => go(-1)),
    button("next", "Next", "j", () => go(1)),
    button("next-open", "Next not labelled", "n", goOpen, "main")
  );
}
