// What the server is asked. Every answer has the state of unsaved changes with it, as `page`.

const listeners = new Set();
export const state = { writable: false, unsaved: 0, undo: null, redo: null };

export function onState(listener) { listeners.add(listener); }

function take(answer) {
  if (!answer || !answer.page) return;
  Object.assign(state, answer.page);
  for (const listener of listeners) listener(state);
}

export class Failure extends Error {
  constructor(status, answer) {
    super(answer?.error ?? `the server answered ${status}`);
    this.status = status;
    this.problems = answer?.problems ?? [];
  }
}

async function answer(response) {
  let json = null;
  try { json = await response.json(); } catch { /* An answer without JSON is told by its status. */ }
  take(json);
  if (!response.ok) throw new Failure(response.status, json);
  return json;
}

async function reached(request) {
  try { return await request; } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(0, { error: "moonbase inspect does not answer: it was ended, or the machine slept. Start it again." });
  }
}

export function address(path, query = {}) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") parameters.set(name, value);
  }
  const text = parameters.toString();
  return `/api/${path}${text ? `?${text}` : ""}`;
}

let asked = new AbortController();

/** Gives up what a view that is left still asks for: a browser has six connections, and a script may hold the session. */
export function giveUp() {
  asked.abort();
  asked = new AbortController();
}

/** `signal`: what ends the request. Without one it ends with the view. */
export async function get(path, query, signal = asked.signal) {
  return answer(await reached(fetch(address(path, query), { signal })));
}

export async function post(path, body = {}) {
  return answer(await reached(fetch(`/api/${path}`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  })));
}
