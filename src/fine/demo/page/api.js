// Requests to the server, and its answers.

import { get } from "./elements.js";

export class Refused extends Error {}

const ATTEMPTS = 4; // if the server is busy
const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

// What the page calls the kinds of choices.
export const KINDS = {
  right: "right",
  "wrong rule": "wrong rule",
  "wrong object": "wrong image",
  "both wrong": "both wrong",
  possible: "",
};

// What speaks against an answer, as one line.
export const doubtful = (doubts) => doubts.length ? `In doubt: ${doubts.join("; ")}.` : "";

export async function ask(path, body) {
  const headers = { "Content-Type": "application/json" };
  const options = body && { method: "POST", headers, body: JSON.stringify(body) };
  let response = await send(path, options);
  for (let attempt = 1; response.headers.has("Retry-After") && attempt < ATTEMPTS; attempt += 1) {
    say("Many people are playing right now. Your turn comes in a moment.");
    await pause(Number(response.headers.get("Retry-After")));
    response = await send(path, options);
  }
  if (response.headers.has("Retry-After"))
    throw new Refused("Too many people are playing right now. Please try again in a minute.");
  const unreadable = { error: `The program answered with ${response.status}.` };
  const content = await response.json().catch(() => unreadable);
  if (!response.ok) throw new Refused(content.error);
  return content;
}

async function send(path, options) {
  try {
    return await fetch(path, options);
  } catch {
    throw new Refused("The program does not answer. Is `fine demo` still running?");
  }
}

// The one line at the top of the page; it is hidden again after the next answer.
export function say(line) {
  get("trouble").textContent = line;
  get("trouble").hidden = false;
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
