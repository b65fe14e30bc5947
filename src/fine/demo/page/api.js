// Questions to the program, and its answers.

export class Refused extends Error {}

export async function ask(path, body) {
  const options = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Refused("The program does not answer. Is `fine demo` still running?");
  }
  const content = await response.json().catch(() => ({ error: `The program answered with ${response.status}.` }));
  if (!response.ok) throw new Refused(content.error);
  return content;
}

// One question at a time: while one is on its way only the latest of those that follow is kept.
export function latest(question, busy) {
  let running = false, waiting = false;
  return async function again() {
    if (running) { waiting = true; return; }
    running = true;
    busy(true);
    try {
      do { waiting = false; await question(); } while (waiting);
    } finally {
      running = false;
      busy(false);
    }
  };
}
