// A table of rows, in all views that have one.

import { element } from "./dom.js";
import { isNumeric, shown, short } from "./values.js";

const kindClass = (type) => (isNumeric(type) ? "number" : "");

/**
 * `answer`: columns and rows of the server. `sort`: the key that is sorted by, as `name` or `-name`; `sorted` is called with another one.
 * `picked`: a set of IDs, for rows that can be picked.
 */
export function table(answer, { caption, sort, sorted, picked, remove } = {}) {
  const hasIDs = answer.rows.some((row) => row.id);
  const head = element("tr", {},
    picked && element("th", { scope: "col", class: "pick" }, element("span", { class: "hidden" }, "Picked")),
    hasIDs && element("th", { scope: "col" }, "object"),
    answer.columns.map((column) => heading(column, sort, sorted)),
    remove && element("th", { scope: "col" }, element("span", { class: "hidden" }, "Remove")));
  const body = element("tbody", {}, answer.rows.map((row) => element("tr", { class: row.state ?? "", "data-id": row.id ?? "" },
    picked && element("td", { class: "pick" }, box(row, picked)),
    hasIDs && element("th", { scope: "row", class: "id" },
      element("a", { href: `#/object/${encodeURIComponent(row.id)}`, "data-focus": `row ${row.id}` }, short(row.id)),
      row.state && element("span", { class: `badge ${row.state}` }, row.state)),
    row.cells.map((cell, index) => {
      const column = answer.columns[index];
      return element("td", { class: kindClass(column.type) },
        shown(cell, row.id ? { id: row.id, property: column.name } : null));
    }),
    remove && element("td", {}, element("button", { type: "button", class: "small", onclick: () => remove(row) }, "Remove")))));
  const made = element("table", {}, caption && element("caption", { class: "hidden" }, caption), element("thead", {}, head), body);
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption ?? "Table" }, made);
}

function box(row, picked) {
  return element("input", {
    type: "checkbox", checked: picked.has(row.id), "aria-label": `Pick ${short(row.id)}`, "data-focus": `pick ${row.id}`,
    onchange: (event) => { if (event.target.checked) picked.add(row.id); else picked.delete(row.id); picked.changed?.(); },
  });
}

function heading(column, sort, sorted) {
  const order = sort === column.name ? "ascending" : sort === `-${column.name}` ? "descending" : "none";
  if (!sorted || !column.sortable) return element("th", { scope: "col", class: kindClass(column.type), title: column.type }, column.name);
  const next = order === "ascending" ? `-${column.name}` : order === "descending" ? "" : column.name;
  return element("th", { scope: "col", class: kindClass(column.type), "aria-sort": order, title: column.type },
    element("button", { type: "button", class: "sort", onclick: () => sorted(next), "data-focus": `sort ${column.name}` }, column.name,
      element("span", { "aria-hidden": "true", class: "arrow" }, order === "ascending" ? "\u25b2" : order === "descending" ? "\u25bc" : "")));
}

/** Moves the focus to the next or the previous row. */
export function step(root, distance) {
  const rows = [...root.querySelectorAll("tbody th.id a")];
  const index = rows.indexOf(document.activeElement);
  rows[Math.max(0, Math.min(rows.length - 1, index < 0 ? 0 : index + distance))]?.focus();
}
