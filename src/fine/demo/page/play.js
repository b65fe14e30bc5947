// The play view: whatever changes, the model is asked again.

import { ask, latest } from "./api.js";
import { FunctionMap } from "./map.js";
import { Pad } from "./pad.js";
import { Rules } from "./rules.js";

const get = (id) => document.getElementById(id);
const percent = (share) => share > 0.995 ? "100 %" : share < 0.005 ? "0 %" : `${Math.round(share * 100)} %`;
const make = (tag, className, ...content) => {
  const made = Object.assign(document.createElement(tag), { className });
  made.append(...content);
  return made;
};
const bar = (share) => {
  const made = make("i", "bar");
  made.style.setProperty("--share", share.toFixed(3));
  return made;
};
const KINDS = { right: "right", "wrong rule": "wrong rule", "wrong object": "wrong picture", "both wrong": "both wrong", possible: "" };

export class Play {
  constructor(about, settings, trouble) {
    Object.assign(this, { about, settings, trouble, seed: 1, mapOf: "all" });
    const changed = () => this.refresh();
    const size = about.size;
    this.x = new Pad(get("x"), { size, label: "First picture", changed });
    this.y = new Pad(get("y-pad"), { size, label: "What becomes of the first picture", changed });
    this.new = new Pad(get("new"), { size, label: "Second picture", changed });
    this.addTools(get("figure-x"), this.x);
    this.addTools(get("figure-y"), this.y, { surprise: false });
    this.addTools(get("figure-new"), this.new);
    this.rules = new Rules(about.families, { chips: get("families"), sliders: get("sliders"), changed: () => this.ruleChanged() });
    this.map = new FunctionMap(get("map"), about.families);
    this.refresh = latest(() => this.answer(), (busy) => get("play").setAttribute("aria-busy", busy));
    get("again").addEventListener("click", () => { this.seed += 1; this.refresh(); });
    get("map-all").addEventListener("click", () => this.showMap("all"));
    get("map-kin").addEventListener("click", () => this.showMap(this.rules.family?.name ?? this.kin ?? "all"));
  }

  addTools(figure, pad, { surprise = true } = {}) {
    const button = (text, action, sign) => {
      const made = Object.assign(make("button", sign ? "quiet icon" : "quiet bold", sign ?? text), { type: "button", title: text });
      made.setAttribute("aria-label", `${text}: ${pad.label}`);
      made.addEventListener("click", action);
      return made;
    };
    const tools = figure.querySelector(".tools");
    if (surprise) tools.append(button("Surprise me", () => this.surprise(pad)));
    tools.append(button("Undo", () => pad.undo(), "↶"), button("Clear", () => pad.clear(), "✕"));
  }

  async surprise(pad) {
    await this.trouble.around(async () => {
      const number = Math.floor(Math.random() * 2 ** 31);
      const { picture } = await ask(`api/pictures/${this.settings.source}?model=${encodeURIComponent(this.settings.model)}&number=${number}`);
      await pad.show(picture);
    });
  }

  // Another model or another source: both pictures are drawn anew from it.
  async start() {
    const known = this.about.models.find(({ name }) => name === this.settings.model).families;
    for (const radio of get("families").querySelectorAll("input"))
      radio.closest("label").hidden = this.about.families.some(({ name }) => name === radio.value) && !known.includes(radio.value);
    if (this.rules.family && !known.includes(this.rules.kind)) this.rules.choose(known[0]);
    await Promise.all([this.surprise(this.x), this.surprise(this.new)]);
    await this.showMap("all");
  }

  ruleChanged() {
    const byHand = this.rules.byHand;
    get("y-pad").hidden = !byHand;
    get("y").hidden = byHand;
    this.y.paint();
    get("figure-y").querySelector(".tools").hidden = !byHand;
    get("happened").hidden = byHand;
    get("y-caption").textContent = byHand ? "Draw what becomes of it" : "Change it";
    if (this.mapOf !== "all" && this.rules.family) this.showMap(this.rules.family.name);
    this.refresh();
  }

  async showMap(of) {
    await this.trouble.around(async () => {
      this.mapOf = of;
      const points = await ask(`api/map?model=${encodeURIComponent(this.settings.model)}&family=${of}`);
      if (this.mapOf !== of) return; // another map was asked for meanwhile
      this.map.show(points, { of });
      get("map-all").setAttribute("aria-pressed", of === "all");
      get("map-kin").setAttribute("aria-pressed", of !== "all");
      this.refresh();
    });
  }

  async answer() {
    const { x, y, rules } = this, missing = x.empty || this.new.empty || (rules.byHand && y.empty);
    document.body.classList.toggle("missing", missing);
    if (missing) {
      const what = x.empty ? "Draw a first picture in field 1." : rules.byHand && y.empty ? "Draw in field 2 what becomes of it." : "Draw a second picture in field 3.";
      get("sure").textContent = what;
      get("spoken").textContent = what;
      return;
    }
    await this.trouble.around(async () => {
      const { model, source } = this.settings;
      const question = { model, source, x: x.picture, new: this.new.picture, map: this.mapOf, seed: this.seed };
      const played = await ask("api/play", rules.byHand ? { ...question, y: y.picture } : { ...question, steps: rules.steps });
      this.show(played, question.map);
    });
  }

  show({ y, choices, picked, named, drawn, place }, mapOf) {
    const [first] = named, right = choices.findIndex(({ kind }) => kind === "right");
    get("y").src = y;
    get("drawn").src = drawn;
    get("drawn").alt = `The model’s answer, drawn: the second picture, ${first.words}`;
    const told = choices[right]?.words ?? "";
    get("y").alt = `The first picture, ${told}`;
    get("happened").textContent = told;
    get("sure").textContent = first.words;
    get("named").replaceChildren(...named.map(({ words, probability }) =>
      make("li", "", make("span", "", words), bar(probability), make("b", "", percent(probability)))));
    get("choices").replaceChildren(...choices.map(({ picture, kind, words, probability }, number) => {
      const letter = "ABCD"[number], is = number === picked;
      const image = Object.assign(make("img", "picture"), { src: picture, alt: `${letter}: ${words}` });
      const entry = make("li", is ? "picked" : "", make("span", "frame", image), make("p", "", make("b", "", letter), make("span", "", percent(probability))), bar(probability),
        make("small", kind === "right" ? "right" : "", kind === "right" ? "✓ right" : KINDS[kind] || words));
      return entry;
    }));
    const letter = "ABCD"[picked];
    const verdict = right < 0 ? `It picks ${letter}. You drew y by hand, so nobody knows the right one.`
      : picked === right ? `It picks ${letter}, which is right.` : `It picks ${letter}; ${"ABCD"[right]} would have been right.`;
    get("verdict").textContent = verdict;
    get("spoken").textContent = `The model thinks the first picture was ${first.words}, ${percent(first.probability)} sure. ${verdict}`;
    this.kin = first.family;
    if (mapOf !== this.mapOf) return; // another map is on its way, and the answer that belongs to it
    const kin = mapOf === "all" ? this.rules.family?.name ?? first.family : mapOf;
    this.map.mark(place, { kin: mapOf === "all" ? kin : null, words: first.words });
    get("map-kin").textContent = `Only: ${this.map.titles[kin]}`;
    get("map-hint").textContent = this.mapOf === "all"
      ? "Each dot is a function composed from one example; the ring is yours. Functions of a kind lie together."
      : "Only this kind: neighbours on the map do nearly the same. The ring is yours.";
  }
}
