// The frame of the page: entities at the side, views in the middle, changes at the top.

import { byID, button, counted, drawing, element, ask, say } from "./dom.js";
import { get, giveUp, onState, post, state } from "./api.js";
import { showRows } from "./rows.js";
import { forgetRefused, showObject } from "./object.js";
import { showDoctor, showHistory, showModel, showStart } from "./views.js";
import { showLua } from "./lua.js";

const main = byID("main");
let store = null;
let shown = 0;
let current = null;

/** The parts of the address behind `#/`, and its parameters. */
export function place() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { parts: path.split("/").filter(Boolean).map(decodeURIComponent), query: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

export const link = (...parts) => `#/${parts.map(encodeURIComponent).join("/")}`;

const views = {
  entity: (parts, query) => showRows(parts[0], query),
  object: (parts, query) => showObject(parts.join("/"), query),
  model: () => showModel(),
  history: () => showHistory(),
  doctor: () => showDoctor(),
  lua: () => showLua(),
};

/** Draws the view of the address. `keepsFocus`: the view is drawn anew after a change. */
export async function draw(keepsFocus = false) {
  const number = ++shown;
  giveUp();
  const { parts, query } = place();
  main.setAttribute("aria-busy", "true");
  mark(parts);
  let view;
  try {
    view = await (views[parts[0]] ?? (() => showStart(store)))(parts.slice(1), query);
  } catch (error) {
    if (error.name === "AbortError") return;
    view = { title: "Problem", content: [element("p", { class: "problem", role: "alert" }, error.message)] };
  }
  if (number !== shown) return;
  current?.leave?.();
  current = view;
  const position = keepsFocus ? main.scrollTop : 0;
  const typed = keepsFocus ? focusedField() : null;
  drawing.now = true;
  main.replaceChildren(...view.content);
  drawing.now = false;
  main.removeAttribute("aria-busy");
  main.scrollTop = position;
  document.title = `${view.title} – Moonbase`;
  const again = typed && [...main.querySelectorAll("[data-focus]")].find((found) => found.dataset.focus === typed.focus);
  if (again) focusAgain(again, typed);
  else if (!keepsFocus && number > 1) main.focus({ preventScroll: true });
  view.entered?.();
}

/** What has the focus, with the text that was typed into it meanwhile. */
function focusedField() {
  const found = document.activeElement;
  if (!found?.dataset?.focus) return null;
  const isTyped = found.matches("input[type=text], textarea") && found.value !== found.dataset.begun;
  return { focus: found.dataset.focus, text: isTyped ? found.value : null, start: found.selectionStart, end: found.selectionEnd };
}

function focusAgain(field, typed) {
  if (typed.text !== null && "value" in field) field.value = typed.text;
  field.focus();
  if (field.matches("input[type=text], textarea") && typed.start !== null) field.setSelectionRange(typed.start, typed.end);
}

function mark(parts) {
  for (const each of byID("tabs").children) {
    if (each.getAttribute("href") === `#/${parts[0]}`) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  }
  const name = parts[0] === "entity" ? parts[1] : parts[0] === "object" ? (parts[1] ?? "").split("/")[0] : null;
  for (const each of byID("entities").querySelectorAll("a")) {
    if (each.dataset.name === name) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  }
  openSide(false);
}

// Entities

const waiting = [];
let counting = false;

/** Counts those entities that can be seen, one after the other. */
async function count() {
  if (counting) return;
  counting = true;
  while (waiting.length > 0) {
    const place = waiting.shift();
    try {
      const answer = await get("count", { entity: place.dataset.count }, null);
      place.textContent = counted(answer.count);
    } catch { place.textContent = "?"; }
  }
  counting = false;
}

const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    watcher.unobserve(entry.target);
    waiting.push(entry.target);
  }
  count();
});

export function recount() {
  for (const each of byID("entities").querySelectorAll("[data-count]")) {
    watcher.unobserve(each);
    watcher.observe(each);
  }
}

function listEntities() {
  const wanted = byID("filter").value.toLowerCase();
  const found = store.entities.filter((entity) => entity.name.toLowerCase().includes(wanted));
  byID("entities").replaceChildren(...found.map((entity) => {
    const number = element("span", { class: "number", "data-count": entity.name }, "");
    watcher.observe(number);
    const made = element("a", { href: link("entity", entity.name), "data-name": entity.name, class: entity.abstract ? "abstract" : "" },
      element("span", {}, entity.name), number);
    if (!wanted) made.style.paddingLeft = `${0.75 + 0.75 * Math.min(6, entity.depth)}rem`;
    return element("li", {}, made);
  }));
  if (found.length === 0) byID("entities").append(element("li", { class: "quiet" }, "No entity has such a name."));
  mark(place().parts);
}

function openSide(isOpen) {
  byID("side").classList.toggle("open", isOpen);
  byID("menu").setAttribute("aria-expanded", String(isOpen));
}

// Changes

async function change(path, done) {
  try {
    const answer = await post(path);
    if (path !== "save") forgetRefused();
    say(done(answer));
    recount();
    await draw(true);
  } catch (error) { await tell(error); }
}

/** Tells of a save that failed: each problem with the way to its object. */
async function tell(error) {
  const conflicts = (error.problems ?? []).filter((problem) => problem.conflict && problem.id);
  if (conflicts.length > 0) await resolve(conflicts);
  else if (error.problems?.length > 0) {
    const list = element("ul", { class: "problems" }, error.problems.map((problem) => element("li", {},
      problem.id ? element("a", { href: link("object", problem.id), onclick: () => byID("dialog").close() }, problem.id) : "",
      problem.property ? ` ${problem.property} ` : " ", problem.message)));
    await ask("Not saved", [element("p", {}, error.message), list], [["Close", true]]);
    await draw(true);
  } else say(error.message, "bad");
}

/** Asks which side of a conflict stays. */
async function resolve(conflicts) {
  const ids = [...new Set(conflicts.map((problem) => problem.id))];
  const list = element("ul", { class: "problems" }, conflicts.map((problem) => element("li", {}, problem.message)));
  const keep = await ask("Not saved: saved elsewhere meanwhile", [
    element("p", {}, `Another process saved ${ids.length === 1 ? "an object that has" : `${ids.length} objects that have`} changes here.`), list],
  [["Keep my changes and save", "own"], ["Take what is saved", "stored", "danger"], ["Cancel", null]]);
  if (!keep) return;
  try {
    await post("resolve", { ids, keep });
    if (keep === "own") { await save(); return; }
    forgetRefused();
    await draw(true);
  } catch (error) { say(error.message, "bad"); }
}

const save = () => change("save", (answer) => answer.saved === 0 ? "There is nothing to save."
  : `Saved ${answer.saved} object${answer.saved === 1 ? "" : "s"}.${answer.warnings.length ? ` ${answer.warnings.join(" ")}` : ""}`);
const undo = () => change("undo", (answer) => answer.done === null ? "There is nothing to undo." : `Undone: ${answer.done}`);
const redo = () => change("redo", (answer) => answer.done === null ? "There is nothing to redo." : `Done again: ${answer.done}`);

async function discard() {
  const count = state.unsaved;
  const answer = await ask("Discard changes?", [element("p", {}, `The changes of ${count} object${count === 1 ? "" : "s"} are lost.`)],
    [["Discard", true, "danger"], ["Cancel", null]]);
  if (answer) change("discard", () => "The changes were discarded.");
}

async function review() {
  const answer = await get("changes");
  const list = element("ul", { class: "problems" }, answer.changes.map((each) => element("li", {},
    element("span", { class: `badge ${each.state}` }, each.state ?? ""), " ",
    each.state === "deleted" ? each.short
      : element("a", { href: link("object", each.id), onclick: () => byID("dialog").close() }, each.short),
    each.label ? ` ${each.label}` : "",
    each.problems.map((problem) => element("div", { class: "problem" }, `${problem.property ?? ""} ${problem.message}`)))));
  await ask("Unsaved changes", answer.total === 0 ? element("p", {}, "There are none.")
    : [list, answer.total > answer.changes.length ? element("p", {}, `and ${answer.total - answer.changes.length} more`) : ""], [["Close", true]]);
}

onState(() => {
  const box = byID("changes");
  box.hidden = !state.writable;
  document.body.classList.toggle("unsaved", state.unsaved > 0);
  if (!state.writable) return;
  const key = JSON.stringify(state);
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  const focused = document.activeElement?.dataset?.focus;
  box.replaceChildren(
    button(state.unsaved === 0 ? "No changes" : `${state.unsaved} unsaved`, review, { class: "quiet", "data-focus": "review", disabled: state.unsaved === 0 }),
    button("Undo", undo, { disabled: state.undo === null, title: state.undo === null ? "Nothing to undo" : `Undo: ${state.undo}`, "data-focus": "undo" }),
    button("Redo", redo, { disabled: state.redo === null, title: state.redo === null ? "Nothing to redo" : `Redo: ${state.redo}`, "data-focus": "redo" }),
    button("Discard", discard, { disabled: state.unsaved === 0, "data-focus": "discard" }),
    button("Save", save, { disabled: state.unsaved === 0, class: "main", "data-focus": "save" }));
  if (focused) [...box.children].find((each) => each.dataset.focus === focused && !each.disabled)?.focus();
});

window.addEventListener("beforeunload", (event) => {
  if (state.unsaved > 0) event.preventDefault();
});

// Keys

const shortcuts = [
  ["?", "these shortcuts"], ["/", "filter the entities"], ["f", "the predicate of the rows"],
  ["m  h  d  l", "model, history, doctor, Lua"], ["j  k", "next and previous row"], ["Enter", "open the row"],
  ["[  ]", "previous and next page"], ["u", "back"], ["Ctrl+S", "save"], ["Ctrl+Z  Ctrl+Shift+Z", "undo and redo, outside of fields"],
  ["Ctrl+Enter", "run Lua"], ["Esc", "leave a field, or close"],
];

function help() {
  return ask("Keyboard", element("table", { class: "keys" }, element("tbody", {}, shortcuts.map(([keys, text]) => element("tr", {},
    element("th", { scope: "row" }, keys.split("  ").map((key) => [element("kbd", {}, key), " "])), element("td", {}, text))))), [["Close", true]]);
}

const simple = {
  "?": help, "/": () => { openSide(true); byID("filter").focus(); }, u: () => history.back(),
  m: () => { location.hash = "#/model"; }, h: () => { location.hash = "#/history"; },
  d: () => { location.hash = "#/doctor"; }, l: () => { location.hash = "#/lua"; },
};

document.addEventListener("keydown", (event) => {
  const isField = event.target.matches?.("input, textarea, select");
  if (event.key === "Escape" && isField) { event.target.blur(); main.focus({ preventScroll: true }); return; }
  if (event.key === "Escape") openSide(false);
  if (byID("dialog").open) return;
  if ((event.ctrlKey || event.metaKey) && !event.altKey) {
    const key = event.key.toLowerCase();
    if (key === "s" && state.writable) { event.preventDefault(); document.activeElement?.blur?.(); setTimeout(save); }
    if (key === "z" && state.writable && !isField) { event.preventDefault(); if (event.shiftKey) redo(); else undo(); }
    return;
  }
  if (isField || event.altKey) return;
  const action = current?.keys?.[event.key] ?? simple[event.key];
  if (action) { event.preventDefault(); action(); }
});

// Begin

byID("menu").addEventListener("click", () => openSide(!byID("side").classList.contains("open")));
main.addEventListener("click", () => openSide(false));
byID("help").addEventListener("click", help);
byID("filter").addEventListener("input", listEntities);
window.addEventListener("hashchange", () => draw());

try {
  store = await get("store", {}, null);
  byID("store").textContent = store.name.split("/").pop();
  byID("store").title = store.name;
  listEntities();
  await draw();
} catch (error) {
  main.replaceChildren(element("p", { class: "problem", role: "alert" }, error.message));
}
