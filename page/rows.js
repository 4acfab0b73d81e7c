// The rows of an entity: a predicate, an order, pages, chosen columns.

import { byID, button, counted, element, ask, say } from "./dom.js";
import { get, post, state } from "./api.js";
import { step, table } from "./table.js";
import { explanation } from "./views.js";
import { draw, recount } from "./app.js";

const size = 100;

function move(name, query) {
  const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== "" && value !== undefined && value !== 0));
  const text = parameters.toString();
  location.hash = `#/entity/${encodeURIComponent(name)}${text ? `?${text}` : ""}`;
}

export async function showRows(name, query) {
  const asked = { entity: name, where: query.where, sort: query.sort, columns: query.columns };
  const offset = Math.max(0, Number(query.offset) || 0);
  const entity = await get("entity", { name });
  let answer = { columns: [], rows: [] };
  let failure = null;
  try { answer = await get("rows", { ...asked, offset, limit: size }); } catch (error) { failure = error; }
  const go = (changes) => move(name, { ...query, ...changes });

  const picked = new Set();
  const removal = button("Delete", () => remove(picked), { disabled: true, class: "danger" });
  picked.changed = () => { removal.disabled = picked.size === 0; removal.textContent = picked.size === 0 ? "Delete" : `Delete ${picked.size}`; };
  const writable = state.writable;

  const pages = pager(asked, offset, answer.rows.length, (to) => go({ offset: to }));
  const content = [
    element("div", { class: "bar" },
      element("h1", {}, name, entity.abstract ? element("span", { class: "quiet" }, " abstract") : ""),
      writable && !entity.abstract && button("New", () => insert(name), { "data-focus": "new" }), writable && removal),
    element("form", { class: "bar", onsubmit: (event) => { event.preventDefault(); go({ where: byID("where").value.trim(), offset: 0 }); } },
      element("label", { for: "where" }, "Where"),
      element("input", { id: "where", type: "text", value: query.where ?? "", autocomplete: "off", spellcheck: "false", class: "wide code",
        placeholder: example(entity), list: "names", "aria-describedby": "problem", "aria-invalid": failure ? "true" : "false" }),
      element("datalist", { id: "names" }, entity.properties.slice(0, 200).map((property) => element("option", { value: property.name }))),
      element("button", { type: "submit" }, "Show"),
      button("Columns", () => columns(entity, query, answer, go), { "aria-haspopup": "dialog" }), explanation(asked)),
    element("p", { id: "problem", class: failure ? "problem" : "", role: failure ? "alert" : null }, failure ? failure.message : ""),
    failure ? "" : answer.rows.length === 0 && offset === 0 ? element("p", { class: "quiet" }, query.where ? "No object matches." : "There are no objects.")
      : table(answer, { caption: `Rows of ${name}`, sort: query.sort, sorted: (key) => go({ sort: key, offset: 0 }), picked: writable ? picked : undefined }),
    failure ? "" : pages.bar,
  ];
  const root = element("div", { class: "view" }, content);
  return {
    title: name, content: [root],
    leave: pages.leave,
    entered: () => pages.count(),
    keys: {
      f: () => byID("where").focus(), j: () => step(root, 1), k: () => step(root, -1),
      "[": () => { if (offset > 0) go({ offset: Math.max(0, offset - size) }); },
      "]": () => { if (answer.rows.length === size) go({ offset: offset + size }); },
    },
  };
}

function example(entity) {
  const text = entity.properties.find((property) => property.type === "string");
  const number = entity.properties.find((property) => property.type.startsWith("integer"));
  return text ? `${text.name} BEGINSWITH "A"` : number ? `${number.name} > 10` : "a predicate, as in name == \"Ann\"";
}

// Pages. The number of all is counted when the rows are there.

function pager(asked, offset, number, go) {
  const total = element("span", { class: "quiet" }, "counting…");
  const cancel = new AbortController();
  const last = button("Last", () => {}, { disabled: true, "data-focus": "last" });
  const next = button("Next", () => go(offset + size), { disabled: number < size, "data-focus": "next" });
  const bar = element("nav", { class: "bar pages", "aria-label": "Pages" },
    button("First", () => go(0), { disabled: offset === 0, "data-focus": "first" }),
    button("Previous", () => go(Math.max(0, offset - size)), { disabled: offset === 0, "data-focus": "previous" }),
    element("span", {}, number === 0 ? "no rows here" : `${counted(offset + 1)} to ${counted(offset + number)}`), total, next, last);
  async function count() {
    try {
      const answer = await get("count", asked, cancel.signal);
      total.textContent = `of ${counted(answer.count)}`;
      const start = Math.max(0, Math.floor((answer.count - 1) / size) * size);
      next.disabled = offset + number >= answer.count;
      last.disabled = offset >= start;
      last.onclick = () => go(start);
    } catch (error) { if (error.name !== "AbortError") total.textContent = "of an unknown number"; }
  }
  return { bar, count, leave: () => cancel.abort() };
}

// Columns

async function columns(entity, query, answer, go) {
  const chosen = new Set(answer.columns.map((column) => column.name));
  const list = element("ul", { class: "choice" });
  const filter = element("input", { type: "search", placeholder: "Filter", "aria-label": "Filter the columns", oninput: fill });
  function fill() {
    const wanted = filter.value.toLowerCase();
    const found = entity.properties.filter((property) => property.name.toLowerCase().includes(wanted));
    list.replaceChildren(...found.slice(0, 300).map((property) => element("li", {}, element("label", {},
      element("input", { type: "checkbox", checked: chosen.has(property.name), onchange: (event) => { if (event.target.checked) chosen.add(property.name); else chosen.delete(property.name); } }),
      ` ${property.name} `, element("span", { class: "quiet" }, property.destination ? `${property.kind === "toMany" ? "to many" : "to one"} ${property.destination}` : property.type)))));
    if (found.length > 300) list.append(element("li", { class: "quiet" }, `and ${found.length - 300} more: filter them`));
  }
  fill();
  const path = element("input", { type: "text", class: "code wide", placeholder: "a key path, as in department.name", "aria-label": "A key path", spellcheck: "false" });
  const done = await ask("Columns", [filter, list, path], [["Usual ones", "usual"], ["Cancel", null], ["Show", "show", "main"]]);
  if (done === "usual") go({ columns: "" });
  if (done !== "show") return;
  if (path.value.trim()) chosen.add(path.value.trim());
  go({ columns: [...chosen].join(",") });
}

// Changes

async function insert(name) {
  try {
    const answer = await post("insert", { entity: name });
    say(`A new ${name}. It is saved with the other changes.`);
    recount();
    location.hash = `#/object/${encodeURIComponent(answer.id)}`;
  } catch (error) { say(error.message, "bad"); }
}

async function remove(picked) {
  try {
    const answer = await post("delete", { ids: [...picked] });
    say(`${answer.deleted} deleted. Undo takes it back.`);
    recount();
    await draw(true);
  } catch (error) { say(error.message, "bad"); }
}
