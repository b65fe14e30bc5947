// The quiz: the same puzzle for a person and for the model, and the score of both.

import { ask } from "./api.js";

const get = (id) => document.getElementById(id);
const KINDS = { right: "right", "wrong rule": "wrong rule", "wrong object": "wrong picture", "both wrong": "both wrong" };

export class Quiz {
  constructor(about, settings, trouble) {
    Object.assign(this, { about, settings, trouble, you: 0, it: 0, rounds: [], open: false });
    get("next").addEventListener("click", () => this.next());
    document.addEventListener("keydown", (event) => {
      if (get("quiz").hidden || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, input")) return;
      if ("1234".includes(event.key)) this.choose(Number(event.key) - 1);
    });
  }

  async start() {
    Object.assign(this, { you: 0, it: 0, rounds: [] });
    this.tally();
    await this.next();
  }

  get path() { return `api/puzzles/${this.settings.source}/${this.number}`; }

  async next() {
    await this.trouble.around(async () => {
      this.number = Math.floor(Math.random() * this.about.puzzles);
      const { x, y, new: second, choices } = await ask(`${this.path}?model=${encodeURIComponent(this.settings.model)}`);
      for (const [id, picture] of [["quiz-x", x], ["quiz-y", y], ["quiz-new", second]]) get(id).src = picture;
      get("options").replaceChildren(...choices.map((picture, place) => {
        const button = document.createElement("button");
        const image = Object.assign(document.createElement("img"), { src: picture, alt: `Choice ${place + 1}`, className: "picture" });
        const number = Object.assign(document.createElement("kbd"), { textContent: place + 1 });
        const note = Object.assign(document.createElement("span"), { className: "note" });
        const frame = Object.assign(document.createElement("span"), { className: "frame" });
        frame.append(image);
        button.append(frame, number, note);
        button.addEventListener("click", () => this.choose(place));
        const entry = document.createElement("li");
        entry.append(button);
        return entry;
      }));
      const had = document.activeElement === get("next");
      get("next").hidden = true;
      if (had) get("options").querySelector("button").focus({ preventScroll: true });
      get("result").innerHTML = "Pick one, or press <kbd>1</kbd> <kbd>2</kbd> <kbd>3</kbd> <kbd>4</kbd>.";
      this.open = true;
    });
  }

  async choose(place) {
    if (!this.open) return;
    this.open = false;
    await this.trouble.around(async () => {
      const { model, source } = this.settings;
      const { right, picked, probabilities, kinds, words } = await ask(this.path, { model, source, choice: place });
      [...get("options").children].forEach((entry, number) => {
        const button = entry.firstChild;
        button.disabled = true;
        entry.className = number === right ? "right" : "wrong";
        const who = [number === place && "you", number === picked && "model"].filter(Boolean).join(" + ");
        button.querySelector(".note").textContent = who || KINDS[kinds[number]];
        button.classList.toggle("chosen", Boolean(who));
      });
      this.you += place === right;
      this.it += picked === right;
      this.rounds.push([place === right, picked === right]);
      this.tally();
      const sure = Math.round(probabilities[picked] * 100);
      const both = place === right ? (picked === right ? "You both have it." : "You have it, the model does not.")
        : picked === right ? "The model has it, you do not." : "Neither of you has it.";
      get("result").textContent = `${both} The first picture was ${words}; the model was ${sure} % sure of ${picked + 1}.`;
      get("next").hidden = false;
      get("next").focus({ preventScroll: true });
    });
  }

  tally() {
    get("score-you").textContent = this.you;
    get("score-it").textContent = this.it;
    get("rounds").replaceChildren(...this.rounds.slice(-12).map(([you, it]) => {
      const round = document.createElement("i");
      round.append(...[you, it].map((right) => Object.assign(document.createElement("b"), { className: right ? "hit" : "" })));
      return round;
    }));
  }
}
