// What happens to x: a family and its sliders, a mix of four, or y drawn by hand.

const MIX = [
  { family: "scale", name: "size", low: 0.5, high: 1.25, step: 0.05, at: 0.75, show: (v) => `${Math.round(v * 100)} %` },
  { family: "rotation", name: "turn left", low: 0, high: 355, step: 5, at: 40, show: (v) => `${v}°` },
  { family: "translation", name: "right", low: -9, high: 9, step: 1, at: 3, show: (v) => v },
  { family: "translation", name: "down", low: -9, high: 9, step: 1, at: 0, show: (v) => v },
];
const START = { rotation: [90], translation: [6, -6], reflection: [1, 0], shear: [30, 0], scale: [0.5], fisheye: [0, 0, 0.8],
  wave: [4, 2], "black-white": [0, 0, 1], swap: [1, 0, 3, 2] };

export class Rules {
  constructor(families, { chips, sliders, changed }) {
    Object.assign(this, { families, chips, sliders, changed, mix: MIX.map((entry) => entry.at) });
    this.at = Object.fromEntries(families.map((family) => [family.name, START[family.name] ?? family.rules[0]]));
    this.kind = "rotation";
    const kinds = [...families.map(({ name, title }) => [name, title]), ["mix", "A mix"], ["hand", "Draw it yourself"]];
    chips.replaceChildren(...kinds.map(([name, title]) => {
      const label = document.createElement("label");
      const radio = Object.assign(document.createElement("input"), { type: "radio", name: "family", value: name });
      radio.checked = name === this.kind;
      radio.addEventListener("change", () => this.choose(name));
      label.append(radio, Object.assign(document.createElement("span"), { textContent: title }));
      return label;
    }));
    this.show();
  }

  get byHand() { return this.kind === "hand"; }
  get family() { return this.families.find(({ name }) => name === this.kind); }

  get steps() {
    if (this.byHand) return [];
    if (this.kind !== "mix") return [{ family: this.kind, parameters: this.at[this.kind] }];
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

  show() {
    if (this.byHand) {
      const text = "Draw in field 2 what should become of your picture. No rule is needed: the model only ever sees pictures.";
      this.sliders.replaceChildren(Object.assign(document.createElement("p"), { className: "hint", textContent: text }));
    } else if (this.kind === "mix") {
      const text = "Hard: it was only ever shown one thing at a time. See how far it gets.";
      this.sliders.replaceChildren(...MIX.map((entry, place) => slider({
        ...entry, value: this.mix[place], moved: (value) => { this.mix[place] = value; this.changed(); },
      })), Object.assign(document.createElement("p"), { className: "hint", textContent: text }));
    } else this.sliders.replaceChildren(...this.familySliders());
  }

  familySliders() {
    const { name, title, controls, rules, words } = this.family, at = this.at[name];
    if (!controls.length) {
      const value = rules.findIndex((rule) => rule.every((part, place) => part === at[place]));
      return [slider({
        name: title, low: 0, high: rules.length - 1, step: 1, value, show: (which) => words[which],
        moved: (which) => { this.at[name] = rules[which]; this.changed(); },
      })];
    }
    return controls.map(({ name: parameter, values, texts }, place) => slider({
      name: parameter, low: 0, high: values.length - 1, step: 1, value: values.indexOf(at[place]), show: (which) => texts[which],
      moved: (which) => {
        this.at[name] = this.at[name].map((old, other) => other === place ? values[which] : old);
        this.changed();
      },
    }));
  }
}

function slider({ name, low, high, step, value, show, moved }) {
  const label = document.createElement("label");
  const range = Object.assign(document.createElement("input"), { type: "range", min: low, max: high, step, value });
  const output = document.createElement("output");
  const tell = () => {
    output.textContent = show(Number(range.value));
    range.setAttribute("aria-valuetext", output.textContent);
  };
  tell();
  range.addEventListener("input", () => { tell(); moved(Number(range.value)); });
  label.append(Object.assign(document.createElement("span"), { textContent: name }), range, output);
  return label;
}
