// The start, the model, the history, what doctor finds; SQL and plans.

import { button, counted, element, ask } from "./dom.js";
import { address, get } from "./api.js";
import { shown, short } from "./values.js";

const view = (...content) => element("div", { class: "view" }, ...content);

export function showStart(store) {
  return {
    title: "Start",
    content: [view(
      element("h1", {}, store.name),
      element("p", {}, `${counted(store.entities.length)} ${store.entities.length === 1 ? "entity" : "entities"}`,
        store.extensions.length > 0 ? `, with ${store.extensions.join(", ")}` : "", `. Moonbase ${store.version}.`),
      element("p", { class: "quiet" }, "Choose an entity at the side, or press / and type its name. ? lists all keys."))],
  };
}

/** A button that shows SQL and plan of a view. */
export function explanation(asked, text = "SQL and plan") {
  return button(text, async () => {
    let content;
    try {
      const answer = await get("explain", { entity: asked.entity, where: asked.where, sort: asked.sort, id: asked.id, property: asked.property });
      content = element("pre", { class: "code sql", tabindex: "0" }, answer.text);
    } catch (error) { content = element("p", { class: "problem" }, error.message); }
    await ask("SQL and plan", content, [["Close", true]]);
  }, { "aria-haspopup": "dialog" });
}

// Model

export async function showModel() {
  const picture = element("img", { src: address("diagram"), alt: "The entities of the model, their attributes and relationships", class: "diagram" });
  const box = element("div", { class: "scroll diagram-box", tabindex: "0", role: "region", "aria-label": "Diagram of the model" }, picture);
  let width = 100;
  const zoom = (factor) => { width = Math.max(25, Math.min(800, width * factor)); picture.style.width = `${width}%`; picture.style.maxWidth = "none"; };
  picture.addEventListener("error", () => box.replaceChildren(element("p", { class: "problem" }, "The diagram cannot be drawn.")));
  return {
    title: "Model",
    content: [view(element("div", { class: "bar" }, element("h1", {}, "Model"),
      button("Smaller", () => zoom(1 / 1.4)), button("Larger", () => zoom(1.4)),
      element("a", { href: address("diagram"), download: "model.svg" }, "Keep as SVG")), box)],
    keys: { "+": () => zoom(1.4), "-": () => zoom(1 / 1.4) },
  };
}

// History

const dated = (text) => {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? text : date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
};

export async function showHistory() {
  const list = element("ol", { class: "timeline" });
  const more = button("Earlier", () => fill(more.dataset.before));
  async function fill(before) {
    const answer = await get("history", { before });
    list.append(...answer.transactions.map(transaction));
    more.hidden = !answer.before;
    more.dataset.before = answer.before ?? "";
    return answer;
  }
  const answer = await fill();
  return {
    title: "History",
    content: [view(element("h1", {}, "History"),
      !answer.kept ? element("p", { class: "quiet" }, "The store keeps no history: a save of moonbase with --keep-history begins one.")
        : answer.transactions.length === 0 ? element("p", { class: "quiet" }, "The history is empty.") : list, more)],
  };
}

function transaction(each) {
  const who = [each.author, each.context].filter(Boolean).join(", ");
  return element("li", {},
    element("div", { class: "when" }, element("time", { datetime: each.date }, dated(each.date)), element("span", { class: "quiet" }, ` ${each.number}${who ? `, ${who}` : ""}`)),
    element("ul", {}, each.changes.map(changed),
      each.total > each.changes.length ? element("li", { class: "quiet" }, `and ${counted(each.total - each.changes.length)} more`) : ""));
}

function changed(change) {
  const values = change.new ?? change.old;
  const entries = Object.entries(values ?? {});
  const isShort = change.kind === "update" && entries.length > 0 && entries.length <= 3;
  const unknown = change.properties.filter((name) => !isShort || !(name in values));
  return element("li", { class: change.kind },
    element("span", { class: `badge ${change.kind}` }, change.kind), " ",
    change.kind === "delete" ? element("span", {}, short(change.id)) : element("a", { href: `#/object/${encodeURIComponent(change.id)}` }, short(change.id)),
    isShort ? entries.map(([name, value]) => [element("span", { class: "quiet" }, ` ${name} `), shown(value)]) : "",
    unknown.length > 0 ? element("span", { class: "quiet" }, ` ${unknown.join(", ")}`) : "",
    values && !isShort ? element("details", {}, element("summary", {}, change.new ? "values" : "what is left"),
      element("dl", { class: "pairs" }, entries.map(([name, value]) => [element("dt", {}, name), element("dd", {}, shown(value))]))) : "");
}

// Doctor

export async function showDoctor() {
  const result = element("div", { "aria-live": "polite" }, element("p", { class: "quiet" }, "Looking at all rows…"));
  async function look() {
    try {
      const answer = await get("doctor");
      const rows = answer.findings.map((finding) => element("tr", {},
        element("td", {}, element("span", { class: "badge" }, finding.kind)), element("td", {}, finding.place), element("td", {}, finding.message),
        element("td", {}, finding.repairable ? "moonbase doctor --repair" : "")));
      result.replaceChildren(
        element("p", {}, rows.length === 0 ? "Nothing is wrong." : `${counted(rows.length)}${answer.whole ? "" : " and more"} ${rows.length === 1 ? "finding" : "findings"}`),
        rows.length === 0 ? "" : element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Findings" }, element("table", { class: "wrap" },
          element("thead", {}, element("tr", {}, ["kind", "place", "what is wrong", "mended by"].map((name) => element("th", { scope: "col" }, name)))),
          element("tbody", {}, rows))));
    } catch (error) { result.replaceChildren(element("p", { class: "problem" }, error.message)); }
  }
  return { title: "Doctor", content: [view(element("h1", {}, "Doctor"), result)], entered: look };
}
