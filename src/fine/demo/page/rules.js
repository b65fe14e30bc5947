// What happens to x: a family and its sliders, a mix of three rules, or y drawn by hand.

import { make } from "./elements.js";

const MIX = [
  { family: "scale", name: "size", low: 0.5, high: 1.25, step: 0.05, start: 0.75,
    show: (value) => `${Math.round(value * 100)} %` },
  { family: "rotation", name: "turn left", low: 0, high: 355, step: 5, start: 40,
    show: (value) => `${value}°` },
  { family: "translation", name: "right", low: -9, high: 9, step: 1, start: 3,
    show: (value) => value },
  { family: "translation", name: "down", low: -9, high: 9, step: 1, start: 0,
    show: (value) => value },
];
const START = {
  rotation: [90], translation: [6, -6], reflection: [1, 0], shear: [30, 0], scale: [0.5],
  fisheye: [0, 0, 0.8], wave: [4, 2], "black-white": [0, 0, 1], swap: [1, 0, 3, 2],
};

export class Rules {
  constructor(families, { chips, sliders, changed }) {
    const mix = MIX.map(({ start }) => start);
    Object.assign(this, { families, chips, sliders, changed, mix, kind: "rotation" });
    this.parameters = Object.fromEntries(
      families.map(({ name, rules }) => [name, START[name] ?? rules[0]]));
    const kinds = families.map(({ name, title }) => [name, title]);
    kinds.push(["mix", "A mix"], ["hand", "Draw it yourself"]);
    chips.replaceChildren(...kinds.map(([name, title]) => this.chip(name, title)));
    this.show();
  }

  get byHand() { return this.kind === "hand"; }
  get family() { return this.families.find(({ name }) => name === this.kind); }

  get steps() {
    if (this.byHand) return [];
    if (this.kind !== "mix") return [{ family: this.kind, parameters: this.parameters[this.kind] }];
    const [size, turn, right, down] = this.mix;
    return [
      { family: "scale", parameters: [size] },
      { family: "rotation", parameters: [turn] },
      { family: "translation", parameters: [right, down] },
    ];
  }

  choose(kind) {
    this.kind = kind;
    for (const radio of this.chips.querySelectorAll("input")) radio.checked = radio.value === kind;
    this.show();
    this.changed();
  }

  chip(name, title) {
    const radio = Object.assign(make("input", ""), { type: "radio", name: "family", value: name });
    radio.checked = name === this.kind;
    radio.addEventListener("change", () => this.choose(name));
    return make("label", "", radio, make("span", "", title));
  }

  show() {
    this.sliders.replaceChildren(...this.controls());
  }

  controls() {
    if (this.family) return this.familySliders();
    const hint = this.byHand
      ? "Draw the changed image in field 2. No rule is needed: the model sees only images."
      : "Hard: in training it saw only one rule at a time. See how far it gets.";
    const sliders = this.byHand ? [] : this.mixSliders();
    return [...sliders, make("p", "hint", hint)];
  }

  mixSliders() {
    return MIX.map((entry, place) => slider({
      ...entry, value: this.mix[place],
      moved: (value) => { this.mix[place] = value; this.changed(); },
    }));
  }

  familySliders() {
    const { name, title, controls, rules, words } = this.family, now = this.parameters[name];
    const move = (parameters) => { this.parameters[name] = parameters; this.changed(); };
    if (!controls.length) {
      const value = rules.findIndex((rule) => rule.every((part, place) => part === now[place]));
      return [slider({
        name: title, low: 0, high: rules.length - 1, step: 1, value,
        show: (number) => words[number], moved: (number) => move(rules[number]),
      })];
    }
    return controls.map(({ name: parameter, values, texts }, place) => slider({
      name: parameter, low: 0, high: values.length - 1, step: 1, value: values.indexOf(now[place]),
      show: (number) => texts[number],
      moved: (number) => move(this.parameters[name].map(
        (old, other) => other === place ? values[number] : old)),
    }));
  }
}

function slider({ name, low, high, step, value, show, moved }) {
  const range = make("input", "");
  Object.assign(range, { type: "range", min: low, max: high, step, value });
  const output = document.createElement("output");
  const update = () => {
    output.textContent = show(Number(range.value));
    range.setAttribute("aria-valuetext", output.textContent);
  };
  update();
  range.addEventListener("input", () => { update(); moved(Number(range.value)); });
  return make("label", "", make("span", "", name), range, output);
}
