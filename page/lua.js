// The prompt for Lua. What was run stays on the page until it is loaded anew.

import { button, counted, element, say } from "./dom.js";
import { post, state } from "./api.js";
import { table } from "./table.js";
import { recount } from "./app.js";

const log = element("div", { class: "log", role: "log", "aria-label": "Results" });
const inputs = [];
let place = 0;
let draft = "";
let running = false;

const code = element("textarea", { id: "code", class: "code", rows: "4", spellcheck: "false", autocomplete: "off",
  placeholder: "context:fetch(\"Person\"):where(\"age > 30\")", "aria-describedby": "lua-hint" });
const go = button("Run", () => run(), { class: "main" });
const stop = button("Stop", () => post("stop").catch((error) => say(error.message, "bad")), { disabled: true });

code.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); }
  const isFirst = !code.value.slice(0, code.selectionStart).includes("\n");
  const isLast = !code.value.slice(code.selectionEnd).includes("\n");
  if (event.key === "ArrowUp" && isFirst && inputs.length > 0) { event.preventDefault(); recall(-1); }
  if (event.key === "ArrowDown" && isLast && place < inputs.length) { event.preventDefault(); recall(1); }
});

function recall(distance) {
  if (place === inputs.length) draft = code.value;
  place = Math.max(0, Math.min(inputs.length, place + distance));
  code.value = place === inputs.length ? draft : inputs[place];
}

async function run() {
  const text = code.value;
  if (running || text.trim() === "") return;
  running = true;
  go.disabled = true;
  stop.disabled = false;
  const box = element("section", {}, element("pre", { class: "code input" }, text));
  try {
    const answer = await post("lua", { code: text });
    if (answer.incomplete) { say("The input goes on: it is not complete.", "bad"); return; }
    log.prepend(box);
    box.append(...result(answer));
    inputs.push(text);
    place = inputs.length;
    code.value = draft = "";
    recount();
  } catch (error) {
    log.prepend(box);
    box.append(element("pre", { class: "problem" }, error.message));
  } finally {
    running = false;
    go.disabled = false;
    stop.disabled = true;
    code.focus();
  }
}

function result(answer) {
  return [
    answer.output && element("pre", { class: "code" }, answer.output),
    ...answer.values.map((value) => value.text !== undefined ? element("pre", { class: "code value" }, value.text)
      : element("div", {}, table(value, { caption: "Result" }), element("p", { class: "quiet" }, value.rows.length < value.total ? `${value.rows.length} of ${counted(value.total)}` : counted(value.total)))),
    answer.error && element("pre", { class: "code problem", role: "alert" }, answer.error),
    ...answer.notices.map((notice) => element("p", { class: "problem" }, notice)),
  ].filter(Boolean);
}

export function showLua() {
  return {
    title: "Lua",
    content: [element("div", { class: "view" },
      element("h1", {}, element("label", { for: "code" }, "Lua")), code,
      element("div", { class: "row" }, go, stop, element("span", { id: "lua-hint", class: "quiet" },
        state.writable ? "context is that of the page: changes wait for Save. Ctrl+Enter runs." : "The store is only read. Ctrl+Enter runs.")),
      log)],
    entered: () => code.focus(),
  };
}
