// The map of functions: each dot was composed from one example; the ring is the one on the page.

const SVG = "http://www.w3.org/2000/svg";
const node = (tag, attributes) => {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
};
const degrees = (hue) => Math.round(hue * 360 + 30);
const evenly = (list, count) =>
  list.filter((_, place) => place % Math.ceil(list.length / count) === 0);

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

  // The dots of one map: coloured by family if there are several, by rule if there is one.
  show(points, { of }) {
    const several = of === "all";
    // As high as the dots need; both axes keep one scale, so that a ring is a ring.
    const reach = Math.max(60, ...points.map(({ y }) => Math.abs(y) * 100 + 12));
    const high = Math.min(114, reach);
    this.svg.setAttribute("viewBox", `-114 ${-high} 228 ${2 * high}`);
    this.dots.replaceChildren(...points.map((point) => {
      const hue = several ? this.familyHue(point.family) : point.hue;
      return this.dot(point, hue);
    }));
    const entries = several ? this.familyEntries(points) : this.ruleEntries(points);
    this.legend.replaceChildren(...entries.map(({ text, hue, family }) => {
      const entry = Object.assign(document.createElement("li"), { textContent: text });
      entry.dataset.family = family;
      entry.style.setProperty("--hue", degrees(hue));
      return entry;
    }));
  }

  dot({ x, y, family, words }, hue) {
    const place = { cx: (x * 100).toFixed(1), cy: (-y * 100).toFixed(1) };
    const dot = node("circle", { ...place, r: 2.4, "data-family": family });
    dot.style.setProperty("--hue", degrees(hue));
    const title = node("title", {});
    title.textContent = words;
    dot.append(title);
    return dot;
  }

  familyHue(family) { return this.families.indexOf(family) / this.families.length; }

  familyEntries(points) {
    const families = [...new Set(points.map(({ family }) => family))];
    return families.map((family) =>
      ({ text: this.titles[family] ?? family, hue: this.familyHue(family), family }));
  }

  ruleEntries(points) {
    const hues = [...new Map(points.map(({ words, hue }) => [words, hue]))];
    return evenly(hues, 8).map(([text, hue]) => ({ text, hue, family: "" }));
  }

  // The ring, and the dots of one family in front of the others.
  mark([x, y], { family, words }) {
    const across = Math.round(x * 100), up = Math.round(y * 100);
    this.here.removeAttribute("hidden");
    this.here.style.transform = `translate(${(x * 100).toFixed(1)}px, ${(-y * 100).toFixed(1)}px)`;
    this.svg.classList.toggle("focused", Boolean(family));
    for (const entry of [...this.dots.children, ...this.legend.children])
      entry.classList.toggle("same", entry.dataset.family === family);
    this.svg.setAttribute("aria-label", `Map of functions. The one on the page, ${words}, ` +
      `lies at ${across} across and ${up} up, between −100 and 100.`);
  }
}
