// The play view: whenever something changes, the model answers again.

import { ask, doubtful, KINDS, latest } from "./api.js";
import { get, image, make } from "./elements.js";
import { FunctionMap } from "./map.js";
import { Pad } from "./pad.js";
import { Rules } from "./rules.js";

const LETTERS = "ABCD";
const anySeed = () => Math.floor(Math.random() * 2 ** 32);
const percent = (share) =>
  share > 0.995 ? "100 %" : share < 0.005 ? "0 %" : `${Math.round(share * 100)} %`;
const bar = (share) => {
  const made = make("i", "bar");
  made.style.setProperty("--share", share.toFixed(3));
  return made;
};

export class Play {
  constructor(about, settings, trouble) {
    Object.assign(this, { about, settings, trouble, seed: anySeed(), mapOf: "all" });
    const changed = () => this.refresh();
    const size = about.size;
    this.x = new Pad(get("x"), { size, label: "First image", changed });
    this.y = new Pad(get("y-pad"), { size, label: "First image, changed", changed });
    this.new = new Pad(get("new"), { size, label: "Second image", changed });
    this.addTools(get("figure-x"), this.x);
    this.addTools(get("figure-y"), this.y, { surprise: false });
    this.addTools(get("figure-new"), this.new);
    this.rules = new Rules(about.families, {
      chips: get("families"), sliders: get("sliders"), changed: () => this.ruleChanged(),
    });
    this.map = new FunctionMap(get("map"), about.families);
    this.refresh = latest(
      () => this.answer(), (busy) => get("play").setAttribute("aria-busy", busy));
    get("again").addEventListener("click", () => { this.seed = anySeed(); this.refresh(); });
    get("map-all").addEventListener("click", () => this.showMap("all"));
    get("map-one").addEventListener("click", () =>
      this.showMap(this.rules.family?.name ?? this.likely ?? "all"));
  }

  addTools(figure, pad, { surprise = true } = {}) {
    const button = (text, action, sign) => {
      const made = make("button", sign ? "quiet icon" : "quiet bold", sign ?? text);
      Object.assign(made, { type: "button", title: text });
      made.setAttribute("aria-label", `${text}: ${pad.label}`);
      made.addEventListener("click", action);
      return made;
    };
    const tools = figure.querySelector(".tools");
    if (surprise) tools.append(button("Surprise me", () => this.surprise(pad)));
    tools.append(button("Undo", () => pad.undo(), "↶"));
    tools.append(button("Clear", () => pad.clear(), "✕"));
  }

  async surprise(pad) {
    await this.trouble.around(async () => {
      const { model, source } = this.settings;
      const number = Math.floor(Math.random() * 2 ** 31);
      const query = `model=${encodeURIComponent(model)}&number=${number}`;
      const shown = await ask(`api/images/${source}?${query}`);
      await pad.show(shown.image);
    });
  }

  // Another model or another source: both images are taken from it again.
  async start() {
    const { about, rules, settings } = this;
    const known = about.models.find(({ name }) => name === settings.model).families;
    const offered = about.families.map(({ name }) => name);
    for (const radio of get("families").querySelectorAll("input"))
      radio.closest("label").hidden = offered.includes(radio.value) && !known.includes(radio.value);
    this.mapOf = "all"; // the model may have no map of the family that was shown
    if (rules.family && !known.includes(rules.kind)) rules.choose(known[0]);
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
    get("y-caption").textContent = byHand ? "Draw the change" : "Change it";
    if (this.kind !== this.rules.kind) this.seed = anySeed(); // the right choice moves, too
    this.kind = this.rules.kind;
    if (this.mapOf !== "all" && this.rules.family) this.showMap(this.rules.family.name);
    this.refresh();
  }

  async showMap(of) {
    await this.trouble.around(async () => {
      this.mapOf = of;
      const model = encodeURIComponent(this.settings.model);
      const points = await ask(`api/map?model=${model}&family=${of}`);
      if (this.mapOf !== of) return; // another map was chosen meanwhile
      this.map.show(points, { of });
      get("map-all").setAttribute("aria-pressed", of === "all");
      get("map-one").setAttribute("aria-pressed", of !== "all");
      this.refresh();
    });
  }

  // What is still to be drawn, if anything.
  get missing() {
    if (this.x.empty) return "Draw a first image in field 1.";
    if (this.rules.byHand && this.y.empty) return "Draw the changed image in field 2.";
    if (this.new.empty) return "Draw a second image in field 3.";
    return "";
  }

  async answer() {
    const { x, y, rules, missing } = this;
    document.body.classList.toggle("missing", Boolean(missing));
    if (missing) {
      get("sure").textContent = missing;
      get("spoken").textContent = missing;
      return;
    }
    await this.trouble.around(async () => {
      const mapOf = this.mapOf;
      const shown = { ...this.settings, x: x.png, new: this.new.png, map: mapOf, seed: this.seed };
      const change = rules.byHand ? { y: y.png } : { steps: rules.steps };
      this.show(await ask("api/play", { ...shown, ...change }), mapOf);
    });
  }

  show({ y, choices, picked, named, drawn, place, ...reasons }, mapOf) {
    const [first] = named, right = choices.findIndex(({ kind }) => kind === "right");
    const words = choices[right]?.words ?? "";
    get("y").src = y;
    get("y").alt = `The first image, ${words}`;
    get("happened").textContent = words;
    get("drawn").src = drawn;
    get("drawn").alt = `The model’s answer: the second image, ${first.words}`;
    get("sure").textContent = first.words;
    get("named").replaceChildren(...named.map(({ words, probability }) => make("li", "",
      make("span", "", words), bar(probability), make("b", "", percent(probability)))));
    get("choices").replaceChildren(...choices.map((choice, number) =>
      this.choice(choice, LETTERS[number], number === picked)));
    const verdict = this.verdict(picked, right);
    get("verdict").textContent = verdict;
    get("reason").textContent = this.reason(choices, picked, reasons);
    get("doubts").textContent = doubtful(reasons.doubts);
    get("doubts").hidden = !reasons.doubts.length;
    get("spoken").textContent = `The model thinks the first image was ${first.words}, ` +
      `${percent(first.probability)} sure. ${verdict} ${get("doubts").textContent}`;
    const [likely] = reasons.model_named; // of a family that is on the map
    this.likely = likely.family;
    if (mapOf === this.mapOf) this.mark(place, likely); // or else another map is on its way
  }

  choice({ image: shown, kind, words, probability }, letter, picked) {
    const note = kind === "right" ? "✓ right" : KINDS[kind] || words;
    return make("li", picked ? "picked" : "",
      make("span", "frame", image(shown, `${letter}: ${words}`)),
      make("p", "", make("b", "", letter), make("span", "", percent(probability))),
      bar(probability),
      make("small", kind === "right" ? "right" : "", note));
  }

  // How the answer was made.
  reason(choices, picked, { rule, verified }) {
    const own = choices.map(({ model_probability }) => model_probability);
    const best = own.indexOf(Math.max(...own));
    const network = `The network by itself: ${LETTERS[best]}, ${percent(own[best])}.`;
    if (verified)
      return `Checked on the pixels: ${rule.label} makes exactly ${LETTERS[picked]}. ${network}`;
    if (rule)
      return `Found on the pixels: ${rule.label}. It makes no single one of the four. ${network}`;
    return `No known rule explains the pixels. ${network}`;
  }

  verdict(picked, right) {
    const letter = LETTERS[picked];
    if (right < 0)
      return `It picks ${letter}. You drew the change by hand, so nobody knows the right one.`;
    if (picked === right) return `It picks ${letter}, which is right.`;
    return `It picks ${letter}; ${LETTERS[right]} would have been right.`;
  }

  mark(place, first) {
    const all = this.mapOf === "all";
    const family = all ? this.rules.family?.name ?? first.family : this.mapOf;
    this.map.mark(place, { family: all ? family : null, words: first.words });
    get("map-one").textContent = `Only: ${this.map.titles[family]}`;
    get("map-hint").textContent = all
      ? "Each dot is a function composed from one example; the ring is yours. " +
        "Functions of one kind lie together."
      : "Only this kind: neighbours on the map do nearly the same. The ring is yours.";
  }
}
