// The map of functions: every dot is one that the model composed from an example; the ring is the one on the page.

const SVG = "http://www.w3.org/2000/svg";
const node = (tag, attributes) => {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
};

const evenly = (list, count) => list.filter((_, place) => place % Math.ceil(list.length / count) === 0);

export class FunctionMap {
  constructor(place, families) {
    this.families = families.map(({ name }) => name);
    this.titles = Object.fromEntries(families.map(({ name, title }) => [name, title]));
    this.svg = node("svg", { viewBox: "-114 -114 228 228", role: "img" });
    this.dots = node("g", { class: "dots" });
    this.here = node("g", { class: "here", hidden: "" });
    this.here.append(node("circle", { r: 9, class: "halo" }), node("circle", { r: 4.2 }));
    this.svg.append(this.dots, this.here);
    this.legend = document.createElement("ul");
    this.legend.className = "legend";
    place.replaceChildren(this.svg, this.legend);
  }

  // The dots of one map: coloured by family where there are several, along the family where there is one.
  show(points, { of }) {
    const several = of === "all";
    // As high as the dots need; both axes keep one scale, so that a ring is a ring.
    const high = Math.min(114, Math.max(60, ...points.map(({ y }) => Math.abs(y) * 100 + 12)));
    this.svg.setAttribute("viewBox", `-114 ${-high} 228 ${2 * high}`);
    this.dots.replaceChildren(...points.map(({ x, y, family, words, hue }) => {
      const colour = several ? this.families.indexOf(family) / this.families.length : hue;
      const dot = node("circle", { cx: (x * 100).toFixed(1), cy: (-y * 100).toFixed(1), r: 2.4, "data-family": family });
      dot.style.setProperty("--hue", Math.round(colour * 360 + 30));
      const title = node("title", {});
      title.textContent = words;
      dot.append(title);
      return dot;
    }));
    const entries = several
      ? [...new Set(points.map(({ family }) => family))].map((family) => [this.titles[family] ?? family, this.families.indexOf(family) / this.families.length, family])
      : evenly([...new Map(points.map(({ words, hue }) => [words, hue]))], 8);
    this.legend.replaceChildren(...entries.map(([text, colour, family = ""]) => {
      const entry = Object.assign(document.createElement("li"), { textContent: text });
      entry.dataset.family = family;
      entry.style.setProperty("--hue", Math.round(colour * 360 + 30));
      return entry;
    }));
  }

  mark([x, y], { kin, words }) {
    this.here.removeAttribute("hidden");
    this.here.style.transform = `translate(${(x * 100).toFixed(1)}px, ${(-y * 100).toFixed(1)}px)`;
    this.svg.classList.toggle("focused", Boolean(kin));
    for (const entry of [...this.dots.children, ...this.legend.children])
      entry.classList.toggle("kin", entry.dataset.family === kin);
    this.svg.setAttribute("aria-label", `Map of functions. The one on the page, ${words}, lies at ${Math.round(x * 100)} across and ${Math.round(y * 100)} up, between −100 and 100.`);
  }
}
