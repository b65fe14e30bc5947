// The quiz: the same puzzle for a person and for the model, and the score of both.

import { ask, doubtful, KINDS } from "./api.js";
import { get, image, make } from "./elements.js";

export class Quiz {
  constructor(about, settings, trouble) {
    Object.assign(this, { about, settings, trouble, you: 0, it: 0, rounds: [], open: false });
    get("next").addEventListener("click", () => this.next());
    document.addEventListener("keydown", (event) => {
      if (get("quiz").hidden || event.target.matches("select, input")) return;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if ("1234".includes(event.key)) this.choose(Number(event.key) - 1);
    });
  }

  async start() {
    Object.assign(this, { you: 0, it: 0, rounds: [] });
    this.tally();
    await this.next();
  }

  async next() {
    this.open = false;
    await this.trouble.around(async () => {
      const { model, source } = this.settings;
      const path = `api/puzzles/${source}/${Math.floor(Math.random() * this.about.puzzles)}`;
      this.path = path;
      const puzzle = await ask(`${path}?model=${encodeURIComponent(model)}`);
      if (this.path !== path) return; // another puzzle was asked for meanwhile
      for (const name of ["x", "y", "new"]) get(`quiz-${name}`).src = puzzle[name];
      get("options").replaceChildren(...puzzle.choices.map(
        (choice, place) => this.option(choice, place)));
      const focused = document.activeElement === get("next");
      get("next").hidden = true;
      if (focused) get("options").querySelector("button").focus({ preventScroll: true });
      const keys = ["1", "2", "3", "4"].flatMap((key) => [" ", make("kbd", "", key)]);
      get("result").replaceChildren("Pick one", make("span", "by-key", ", or press", ...keys), ".");
      this.open = true;
    });
  }

  option(choice, place) {
    const frame = make("span", "frame", image(choice, `Choice ${place + 1}`));
    const button = make("button", "", frame, make("kbd", "", `${place + 1}`), make("span", "note"));
    button.addEventListener("click", () => this.choose(place));
    return make("li", "", button);
  }

  async choose(place) {
    if (!this.open) return;
    this.open = false;
    await this.trouble.around(async () => {
      const { model, source } = this.settings;
      const result = await ask(this.path, { model, source, choice: place }).catch((problem) => {
        this.open = true; // the choice did not arrive: the visitor may choose again
        throw problem;
      });
      this.show(place, result);
    });
  }

  show(place, { right, picked, probabilities, kinds, words, doubts }) {
    [...get("options").children].forEach((entry, number) => {
      const button = entry.firstChild;
      button.disabled = true;
      entry.className = number === right ? "right" : "wrong";
      const choosers = [number === place && "you", number === picked && "model"];
      const who = choosers.filter(Boolean).join(" + ");
      button.querySelector(".note").textContent = who || KINDS[kinds[number]];
      button.classList.toggle("chosen", Boolean(who));
    });
    this.you += place === right;
    this.it += picked === right;
    this.rounds.push([place === right, picked === right]);
    this.tally();
    const sure = Math.round(probabilities[picked] * 100);
    get("result").textContent = `${this.verdict(place === right, picked === right)} ` +
      `The first image was ${words}; the model was ${sure} % sure of ${picked + 1}. ${doubtful(doubts)}`;
    get("next").hidden = false;
    get("next").focus({ preventScroll: true });
  }

  verdict(you, it) {
    if (you && it) return "You both have it.";
    if (you) return "You have it, the model does not.";
    if (it) return "The model has it, you do not.";
    return "Neither of you has it.";
  }

  tally() {
    get("score-you").textContent = this.you;
    get("score-it").textContent = this.it;
    get("rounds").replaceChildren(...this.rounds.slice(-12).map((round) =>
      make("i", "", ...round.map((right) => make("b", right ? "hit" : "")))));
  }
}
