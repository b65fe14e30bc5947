// Requests to the server, and its answers.

export class Refused extends Error {}

// What the page calls the kinds of choices.
export const KINDS = {
  right: "right",
  "wrong rule": "wrong rule",
  "wrong object": "wrong image",
  "both wrong": "both wrong",
  possible: "",
};

export async function ask(path, body) {
  const headers = { "Content-Type": "application/json" };
  const options = body && { method: "POST", headers, body: JSON.stringify(body) };
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Refused("The program does not answer. Is `fine demo` still running?");
  }
  const unreadable = { error: `The program answered with ${response.status}.` };
  const content = await response.json().catch(() => unreadable);
  if (!response.ok) throw new Refused(content.error);
  return content;
}

// One request at a time: of those that come up meanwhile only the latest is made.
export function latest(request, busy) {
  let running = false, waiting = false;
  return async function again() {
    if (running) { waiting = true; return; }
    running = true;
    busy(true);
    try {
      do { waiting = false; await request(); } while (waiting);
    } finally {
      running = false;
      busy(false);
    }
  };
}
