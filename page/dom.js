// Elements are made by functions only: data becomes text, never markup.

/** Makes an element: `element("a", { href: "#/model" }, "Model")`. A member that begins with `on` is a listener. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else if (key in made && typeof value !== "string") made[key] = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export const byID = (id) => document.getElementById(id);

export function button(text, action, attributes = {}) {
  return element("button", { type: "button", onclick: action, ...attributes }, text);
}

/** Whether the view is being drawn anew: a field that loses the focus by that is not left. */
export const drawing = { now: false };

/** Says something to those who do not see the page change, and shows it for a while. */
let timer;
export function say(text, kind = "") {
  const status = byID("status");
  status.textContent = text;
  status.className = text ? `shown ${kind}` : "";
  clearTimeout(timer);
  timer = setTimeout(() => { status.className = ""; }, kind === "bad" ? 9000 : 4000);
}

/** Numbers with a thin space between thousands. */
export const counted = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u2009");

export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  const power = Math.min(3, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toFixed(1)} ${["B", "KiB", "MiB", "GiB"][power]}`;
}

/** A dialog with a title; resolves with the value of the button that closes it. */
export function ask(title, body, buttons) {
  const dialog = byID("dialog");
  return new Promise((resolve) => {
    const answer = (value) => { dialog.close(); resolve(value); };
    dialog.replaceChildren(
      element("h2", { id: "dialog-title" }, title), ...[body].flat(),
      element("div", { class: "row end" },
        buttons.map(([text, value, kind]) => button(text, () => answer(value), { class: kind ?? "" }))));
    dialog.oncancel = () => resolve(null);
    dialog.onclose = () => dialog.replaceChildren();
    dialog.showModal();
    dialog.querySelector(".row.end button:last-child")?.focus();
  });
}
