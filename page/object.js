// One object: values, what the file holds for them, relationships to walk along; fields where changes are allowed.

import { button, counted, drawing, element, ask, say } from "./dom.js";
import { address, get, post, state } from "./api.js";
import { json, shown, short } from "./values.js";
import { table } from "./table.js";
import { explanation } from "./views.js";
import { draw, recount } from "./app.js";

const pageSize = 50;
/** Larger values are not tried as pictures. */
const greatestPicture = 64 << 20;

/** Texts that were refused, by object and property: they stay in their fields until they are mended. */
const refused = new Map();

/** All fields begin anew, as after an undo. */
export const forgetRefused = () => refused.clear();

export async function showObject(id, query) {
  const object = await get("object", { id });
  for (const key of refused.keys()) if (!key.startsWith(`${object.id} `)) refused.delete(key);
  const attributes = object.properties.filter((property) => property.kind === "attribute");
  const relationships = object.properties.filter((property) => property.kind !== "attribute");
  const many = [...relationships.filter((property) => property.kind === "toMany").map((property) => property.name), ...object.fetched];
  const open = many.includes(query.along) ? query.along : many.length === 1 ? many[0] : null;
  const content = [
    element("div", { class: "bar" },
      element("h1", {}, short(object.id), object.state && element("span", { class: `badge ${object.state}` }, object.state),
        object.label ? element("span", { class: "label" }, ` ${object.label}`) : ""),
      element("a", { href: `#/entity/${encodeURIComponent(object.entity)}` }, `All of ${object.entity}`),
      object.uri && explanation({ id: object.id }, "SQL and plan"),
      state.writable && object.state !== "deleted" && button("Delete", () => remove(object), { class: "danger" })),
    object.uri && element("p", { class: "quiet uri" }, object.uri),
    general(object),
    element("dl", { class: "fields" }, attributes.map((property) => field(object, property)),
      relationships.filter((property) => property.kind === "toOne").map((property) => field(object, property))),
    many.map((name) => relationship(object, name, name === open, query)),
  ];
  return { title: object.label ? `${short(object.id)} ${object.label}` : short(object.id), content: [element("div", { class: "view" }, content)] };
}

/** Problems of no single field. */
function general(object) {
  const names = new Set(object.properties.map((property) => property.name));
  const others = object.problems.filter((problem) => !names.has(problem.property));
  return others.length === 0 ? "" : element("ul", { class: "problems", role: "alert" }, others.map((problem) => element("li", { class: "problem" }, problem.message)));
}

// Fields

function about(property) {
  const words = [property.type];
  if (property.destination) words[0] = `to one ${property.destination}`;
  if (property.required) words.push("required");
  if (property.transient) words.push("transient");
  if (property.transformer) words.push(`by ${property.transformer}`);
  if (property.derived) words.push(`derived from ${property.derived}`);
  return words.join(", ");
}

function field(object, property) {
  const key = `field ${property.name}`;
  const id = `field-${object.properties.indexOf(property)}`;
  const problems = object.problems.filter((problem) => problem.property === property.name);
  const note = element("div", { id: `${id}-note`, class: "note" },
    problems.map((problem) => element("div", { class: "problem" }, problem.message)));
  const isEditable = state.writable && property.editable && object.state !== "deleted";
  const control = isEditable ? editor(object, property, { id, key, note }) : null;
  const value = control && control.replaces ? control.element
    : [display(object, property), control ? control.element : ""];
  return element("div", { class: `field ${property.changed ? "changed" : ""}` },
    element("dt", {}, control?.labels ? element("label", { for: id }, property.name) : property.name, element("span", { class: "quiet" }, about(property))),
    element("dd", {}, value, note, stored(object, property)));
}

function display(object, property) {
  const owner = { id: object.id, property: property.name };
  const isUnknown = property.value?.file || (property.value?.hex === "" && property.value.bytes > 0 && property.value.bytes <= greatestPicture);
  if (isUnknown && property.type === "binary") {
    const picture = element("img", { class: "picture", alt: "", src: address("value", owner), loading: "lazy", onerror: (event) => event.target.remove() });
    return [picture, shown(property.value, owner, true)];
  }
  return element("div", { class: "value" }, shown(property.value, owner, true));
}

/** What the file has, where that is something else than what is shown. */
function stored(object, property) {
  const found = property.stored;
  if (!found) return "";
  if (found.of) return element("div", { class: "stored" }, element("span", { class: "quiet" }, `stored in ${found.of}: `), shown(found.value, { id: object.id, property: found.of }));
  return element("div", { class: "stored" }, element("span", { class: "quiet" }, `stored as ${found.type}, ${found.length} ${found.type === "text" ? "characters" : "bytes"} `),
    found.value?.hex ? element("code", {}, found.value.hex) : "");
}

/** The text by which a field begins; null for a value that is not edited as a text. */
function text(property) {
  const value = property.value;
  if (value === null) return "";
  if (typeof value === "string") return value;
  if ("id" in value) return value.id;
  if ("tree" in value) return value.json;
  if ("object" in value) return typeof value.text === "string" ? value.text : null;
  return null;
}

function editor(object, property, { id, key, note }) {
  const begun = text(property);
  const isBinary = property.type === "binary";
  if (isBinary) return binary(object, property, { id, key, note });
  // A field would change the ends of such lines.
  if (begun === null || begun.includes("\r")) return null;
  const common = { id, "data-focus": key, "aria-describedby": `${id}-note`, "aria-invalid": object.problems.some((problem) => problem.property === property.name) ? "true" : "false" };
  const send = async (value) => change(object, property, value === null ? { clear: true } : { text: value }, note);
  const clear = property.value !== null && button("null", () => send(null), { class: "small", title: `Set ${property.name} to no value`, "data-focus": `${key} null` });
  const isOfText = property.type === "string" && !property.transformer;
  if (property.type === "boolean" || property.allowed.length > 0) {
    const choices = property.type === "boolean" ? ["true", "false"] : property.allowed;
    const select = element("select", { ...common, onchange: () => send(select.value === "" ? null : select.value) },
      element("option", { value: "" }, "null"), choices.map((choice) => element("option", { value: choice, selected: choice === begun }, choice)));
    return { element: select, replaces: true, labels: true };
  }
  const isLong = begun.includes("\n") || begun.length > 100 || (typeof property.value === "object" && property.value?.tree !== undefined);
  const input = element(isLong ? "textarea" : "input", { ...common, rows: isLong ? "6" : null, type: isLong ? null : "text", class: isOfText ? "wide" : "wide code",
    placeholder: property.value === null ? "null" : "", spellcheck: "false", autocomplete: "off" }, isLong ? begun : null);
  const kept = refused.get(`${object.id} ${property.name}`);
  input.value = kept?.text ?? begun;
  if (kept) tell(note, kept.messages);
  input.dataset.begun = input.value;
  const commit = () => {
    if (drawing.now || input.value === input.dataset.begun) return;
    input.dataset.begun = input.value;
    send(input.value === "" && !isOfText ? null : input.value);
  };
  input.addEventListener("blur", commit);
  input.addEventListener("keydown", (event) => { if (event.key === "Enter" && !isLong) commit(); });
  if (property.kind === "toOne") input.placeholder = `${property.destination}/1`;
  const beside = property.value === null ? "" : property.kind === "toOne" ? element("div", { class: "value" }, shown(property.value)) : preview(property.value, begun);
  return { element: element("div", {}, element("div", { class: "row" }, input, clear), beside), replaces: true, labels: true };
}

/** What an input does not show by itself: a colour, a tree. */
function preview(value, begun) {
  const isSeen = typeof value === "string" ? json(begun) !== null || /^(#|rgb|hsl)/i.test(begun) : "tree" in value || "object" in value;
  return isSeen ? element("div", { class: "value" }, shown(value, null, true)) : "";
}

function binary(object, property, { id, key, note }) {
  const input = element("input", { id, type: "file", "data-focus": key, "aria-describedby": `${id}-note`, onchange: async () => {
    const file = input.files[0];
    if (!file) return;
    if (file.size > 10 << 20) { note.replaceChildren(element("div", { class: "problem", role: "alert" }, "The page takes files of 10 MiB at most: a script reads larger ones.")); return; }
    const reader = new FileReader();
    reader.onload = () => change(object, property, { base64: reader.result.split(",")[1] ?? "" }, note);
    reader.readAsDataURL(file);
  } });
  const clear = property.value !== null && button("null", () => change(object, property, { clear: true }, note), { class: "small" });
  return { element: element("div", { class: "row" }, input, clear), replaces: false, labels: true };
}

async function change(object, property, body, note) {
  try {
    await post("set", { id: object.id, property: property.name, ...body });
    refused.delete(`${object.id} ${property.name}`);
    await draw(true);
  } catch (error) {
    const own = error.problems.filter((problem) => problem.property === property.name);
    const messages = own.length > 0 ? own.map((problem) => problem.message) : [error.message];
    if (typeof body.text === "string") refused.set(`${object.id} ${property.name}`, { text: body.text, messages });
    tell(note, messages);
    document.getElementById(note.id.replace(/-note$/, ""))?.setAttribute("aria-invalid", "true");
  }
}

function tell(note, messages) {
  note.replaceChildren(...messages.map((message) => element("div", { class: "problem", role: "alert" }, message)));
}

async function remove(object) {
  try {
    await post("delete", { ids: [object.id] });
    say(`${short(object.id)} is deleted with the next save. Undo takes it back.`);
    recount();
    location.hash = `#/entity/${encodeURIComponent(object.entity)}`;
  } catch (error) { say(error.message, "bad"); }
}

// Relationships

function relationship(object, name, isOpen, query) {
  const property = object.properties.find((each) => each.name === name);
  const isWritable = state.writable && property && object.state !== "deleted";
  const body = element("div", {});
  const label = property ? `to many ${property.destination}${property.ordered ? ", ordered" : ""}` : "fetched property";
  const number = property && property.value?.count !== undefined ? counted(property.value.count) : "";
  let offset = 0;

  async function fill() {
    body.replaceChildren(element("p", { class: "quiet" }, "reading…"));
    try {
      const answer = await get("members", { id: object.id, property: name, offset, limit: pageSize });
      const end = offset + answer.rows.length;
      body.replaceChildren(
        answer.total === 0 ? element("p", { class: "quiet" }, "No objects.")
          : table(answer, { caption: `${name} of ${short(object.id)}`, remove: isWritable ? (row) => link(object, name, { remove: [row.id] }) : undefined }),
        ...[answer.total > pageSize ? element("nav", { class: "bar pages", "aria-label": `Pages of ${name}` },
          button("Previous", () => { offset -= pageSize; fill(); }, { disabled: offset === 0 }),
          element("span", {}, `${counted(offset + 1)} to ${counted(end)} of ${counted(answer.total)}`),
          button("Next", () => { offset += pageSize; fill(); }, { disabled: end >= answer.total })) : "",
        element("div", { class: "bar" }, isWritable && adder(object, name, property), object.uri && property?.inverse && explanation({ id: object.id, property: name }))].filter(Boolean));
    } catch (error) { body.replaceChildren(element("p", { class: "problem", role: "alert" }, error.message)); }
  }

  const problems = object.problems.filter((problem) => problem.property === name);
  const details = element("details", { class: "members", ontoggle: () => { if (details.open && body.childElementCount === 0) fill(); } },
    element("summary", { "data-focus": `members ${name}` }, element("strong", {}, name), ` ${number} `, element("span", { class: "quiet" }, label),
      problems.map((problem) => element("span", { class: "problem" }, ` ${problem.message}`))), body);
  if (isOpen || query.along === name) { details.open = true; fill(); }
  return details;
}

function adder(object, name, property) {
  const input = element("input", { type: "text", class: "code", placeholder: `${property.destination}/1`, "aria-label": `Add to ${name}`, "data-focus": `add ${name}`, spellcheck: "false" });
  return element("form", { class: "row", onsubmit: (event) => { event.preventDefault(); if (input.value.trim()) link(object, name, { add: [input.value.trim()] }); } },
    input, element("button", { type: "submit" }, "Add"));
}

async function link(object, name, body) {
  try {
    await post("link", { id: object.id, property: name, ...body });
    location.hash = `#/object/${encodeURIComponent(object.id)}?along=${encodeURIComponent(name)}`;
    await draw(true);
  } catch (error) { await ask("Not changed", element("p", {}, error.message), [["Close", true]]); }
}
