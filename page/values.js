// Values as they are shown: texts, bytes and pictures, colours, trees, objects.

import { element, size } from "./dom.js";
import { address } from "./api.js";

/** Pictures in lists are shown up to this size. */
const greatestPicture = 2 << 20;

const link = (id) => `#/object/${encodeURIComponent(id)}`;

/** The name of an object without the rest of its URI. */
export function short(id) {
  const match = /^x-coredata:\/\/[^/]*\/([^/]+)\/(.*)$/.exec(id);
  if (!match) return id;
  return match[2].startsWith("t") ? `${match[1]} (new)` : `${match[1]}/${match[2].replace(/^p/, "")}`;
}

/** A colour that a text names; null for any other text. */
export function colour(text) {
  if (/^#([0-9a-f]{3}|[0-9a-f]{4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(text)) return text;
  return /^(rgb|hsl)a?\([0-9.,%\s/-]{1,60}\)$/i.test(text) ? text : null;
}

function swatch(text) {
  const made = element("span", { class: "swatch", "aria-hidden": "true" }, element("span", {}));
  made.firstChild.style.backgroundColor = text;
  return made;
}

function plain(text, isWhole) {
  const found = colour(text);
  if (found) return element("span", { class: "colour" }, swatch(found), text);
  if (isWhole) {
    const parsed = json(text);
    if (parsed !== null) return element("div", {}, tree(parsed), element("details", { class: "raw" }, element("summary", {}, "Text"), element("pre", {}, text)));
  }
  return element("span", { class: "text" }, text);
}

/** A list or an object that a text is, as JSON; null for any other text. */
export function json(text) {
  if (!/^\s*[[{]/.test(text) || text.length > 200_000) return null;
  try {
    const value = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch { return null; }
}

/** A value as a tree whose branches open and close. */
export function tree(value, levels = 0) {
  if (value === null || typeof value !== "object") {
    const kind = value === null ? "null" : typeof value;
    return element("span", { class: `leaf ${kind}` }, value === null ? "null" : String(value));
  }
  const entries = Array.isArray(value) ? value.map((each, index) => [index, each]) : Object.entries(value);
  const label = `${entries.length} ${Array.isArray(value) ? "element" : "member"}${entries.length === 1 ? "" : "s"}`;
  const list = element("ul", { class: "tree" });
  const fill = () => {
    if (list.childElementCount > 0) return;
    list.append(...entries.slice(0, 500).map(([key, each]) => element("li", {}, element("span", { class: "key" }, `${key}`), tree(each, levels + 1))));
    if (entries.length > 500) list.append(element("li", { class: "quiet" }, `and ${entries.length - 500} more`));
  };
  const made = element("details", { class: "branch", ontoggle: fill }, element("summary", {}, label), list);
  if (levels < 2 && entries.length <= 30) { fill(); made.open = true; }
  return made;
}

function bytes(value, owner, isWhole) {
  const text = element("span", { class: "quiet" }, `${value.image ? `${value.image} ` : ""}${size(value.bytes)}`);
  if (!owner) return text;
  const source = address("value", { id: owner.id, property: owner.property, v: owner.version });
  if (value.image && value.bytes <= (isWhole ? 64 << 20 : greatestPicture)) {
    const picture = element("img", { src: source, loading: "lazy", decoding: "async", alt: `${owner.property} of ${short(owner.id)}`, class: isWhole ? "picture" : "thumb" });
    return element("span", { class: "bytes" }, picture, text);
  }
  return element("span", { class: "bytes" }, element("a", { href: source, download: "" }, size(value.bytes)), isWhole && value.hex ? element("code", {}, value.hex) : "");
}

/** A value of the server. `owner`: the object and the property that it is of, for values that are loaded alone. */
export function shown(value, owner = null, isWhole = false) {
  if (value === null || value === undefined) return element("span", { class: "null" }, "null");
  if (typeof value === "string") return plain(value, isWhole);
  if ("cut" in value) {
    return element("span", {}, element("span", { class: "text" }, `${value.cut}…`),
      isWhole && owner ? element("a", { href: address("value", owner), download: "" }, ` all ${size(value.length)}`) : "");
  }
  if ("id" in value) return element("a", { href: link(value.id), class: "object" }, short(value.id), value.label ? element("span", { class: "label" }, ` ${value.label}`) : "");
  if ("bytes" in value) return bytes(value, owner, isWhole);
  if ("file" in value) {
    return owner ? element("a", { href: address("value", { id: owner.id, property: owner.property }), download: "" }, "in a file of its own") : element("span", { class: "quiet" }, "in a file");
  }
  if ("tree" in value) return tree(value.tree);
  if ("object" in value) {
    const isColour = value.object === "Color" && typeof value.text === "string" && CSS.supports("color", value.text);
    const inner = isColour ? element("span", { class: "colour" }, swatch(value.text), value.text)
      : typeof value.text === "string" ? plain(value.text, isWhole) : shown(value.text);
    return element("span", { title: value.object }, inner);
  }
  if ("count" in value) return element("span", { class: "number" }, String(value.count));
  if ("failure" in value) return element("span", { class: "problem", title: value.failure }, `error: ${value.failure}`);
  if ("unread" in value) return element("span", { class: "quiet", title: "The row holds large values and was not read." }, "not read");
  return element("span", {}, JSON.stringify(value));
}

export const isNumeric = (type) => ["integer16", "integer32", "integer64", "decimal", "double", "float"].includes(type);
