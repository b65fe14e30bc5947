// Your images: a before and an after, and the same done to others at their own size.

import { ask, latest, Refused, say } from "./api.js";
import { get, make } from "./elements.js";
import { zip } from "./zip.js";

// As the server has them; base64 makes files a third larger.
const MOST = 8, LARGEST = 15e6, LARGEST_TOGETHER = 17.5e6;
const COLOURS = { "#ffffff": "white", "#000000": "black" };
const SLOTS = ["before", "after"];

export class Yours {
  constructor(trouble) {
    Object.assign(this, { trouble, before: null, after: null, others: [], anyway: false });
    this.refresh = latest(() => this.answer(), (busy) => this.work(busy));
    for (const input of get("yours").querySelectorAll("input[type=file]"))
      input.addEventListener("change", () => {
        this.take([...input.files], input.dataset.slot);
        input.value = ""; // the same file can be chosen again
      });
    this.setUpDrops();
    document.addEventListener("paste", (event) => {
      if (get("yours").hidden || !event.clipboardData.files.length) return;
      event.preventDefault();
      this.take([...event.clipboardData.files]);
    });
    get("anyway").addEventListener("click", () => { this.anyway = true; this.refresh(); });
    get("yours-clear").addEventListener("click", () => this.clear());
    get("download-all").addEventListener("click", () => this.downloadAll());
  }

  setUpDrops() {
    const view = get("yours");
    const over = (target) => {
      for (const field of view.querySelectorAll(".drop"))
        field.classList.toggle("over", field === target);
    };
    view.addEventListener("dragover", (event) => {
      event.preventDefault();
      over(event.target.closest(".drop"));
    });
    view.addEventListener("dragleave", () => over(null));
    view.addEventListener("drop", (event) => {
      event.preventDefault();
      over(null);
      this.take([...event.dataTransfer.files], event.target.closest("[data-slot]")?.dataset.slot);
    });
  }

  // Files go where they were given; what is left over, and what was pasted, to the first free place.
  async take(files, slot) {
    await this.trouble.around(async () => {
      for (const [number, file] of files.entries()) {
        const taken = await read(file);
        const free = SLOTS.find((name) => !this[name]) ?? "others";
        this.put(number === 0 && slot ? slot : slot === "others" ? slot : free, taken);
      }
    });
    this.show();
    this.refresh();
  }

  put(slot, taken) {
    const kept = slot === "others" ? [...this.others, taken] : this.others;
    if (kept.length > MOST) throw new Refused(`At most ${MOST} images at a time.`);
    const pair = SLOTS.map((name) => name === slot ? taken : this[name]).filter(Boolean);
    const bytes = [...pair, ...kept].reduce((sum, { size }) => sum + size, 0);
    if (bytes > LARGEST_TOGETHER)
      throw new Refused(`“${taken.name}” is too much: together at most 17 megabytes.`);
    if (slot === "others") this.others = kept;
    else Object.assign(this, { [slot]: taken, anyway: false });
  }

  clear() {
    Object.assign(this, { before: null, after: null, others: [], anyway: false });
    this.show();
    this.refresh();
  }

  show() {
    for (const slot of SLOTS) {
      const picture = get(`${slot}-image`), taken = this[slot];
      picture.hidden = !taken;
      if (taken) Object.assign(picture, { src: taken.url, alt: `${slot}: ${taken.name}` });
      picture.closest(".drop").classList.toggle("filled", Boolean(taken));
    }
    get("yours-clear").hidden = !this.before && !this.after && !this.others.length;
    this.list([]);
  }

  // The other images, and what became of those that are answered.
  list(results) {
    get("pairs").replaceChildren(...this.others.map((taken, number) =>
      this.entry(taken, results[number], number)));
    get("download-all").hidden = results.filter(({ image }) => image).length < 2;
  }

  entry(taken, result, number) {
    const remove = make("button", "quiet icon", "✕");
    remove.title = "Remove";
    remove.setAttribute("aria-label", `Remove ${taken.name}`);
    remove.addEventListener("click", () => {
      this.others = this.others.filter((other) => other !== taken);
      this.show();
      this.refresh();
      get("others-input").focus();
    });
    const row = make("li", "", make("p", "name", make("span", "", taken.name), remove),
      photo(taken.url, taken.name));
    if (result?.error) row.append(make("p", "doubt", result.error));
    if (result?.image) {
      const name = this.names[number];
      const link = make("a", "download", `Download (${result.width} × ${result.height})`);
      Object.assign(link, { href: result.image, download: name });
      link.setAttribute("aria-label", `Download ${name}, ${result.width} × ${result.height} pixels`);
      row.append(photo(result.image, `The answer to ${taken.name}`, "made"), link);
    }
    return row;
  }

  work(busy) {
    get("yours").setAttribute("aria-busy", busy);
    get("working").hidden = !busy || !this.before || !this.after;
  }

  async answer() {
    const { before, after, others, anyway } = this;
    get("found").hidden = true;
    if (!before || !after) return;
    await this.trouble.around(async () => {
      const images = others.map(({ url }) => url);
      const found = await ask("api/apply", { before: before.url, after: after.url, images, anyway });
      if (before === this.before && after === this.after && others === this.others)
        this.tell(found); // or else the next answer is on its way
    });
  }

  tell({ rule, residual, explained, doubts, canvas, background, images }) {
    const left = `${(100 * residual).toFixed(1)} %`;
    this.names = names(this.others, images);
    this.results = images;
    get("found").hidden = false;
    get("found-rule").textContent = explained ? rule : "No known rule explains this example.";
    get("found-left").textContent = explained
      ? `Residual: ${left} of the example.`
      : `The nearest, ${rule}, leaves a residual of ${left}.`;
    const doubt = [...doubts];
    if (explained && doubts.length) doubt.push("another example may tell");
    if (!explained && images.length) doubt.push("drawn only as far as the nearest rule goes");
    get("found-doubt").textContent = `In doubt: ${doubt.join("; ")}.`;
    get("found-doubt").hidden = !doubt.length;
    get("anyway").hidden = explained || this.anyway || !this.others.length;
    get("found-how").textContent = "Found by comparing the pixels of the two images, without a " +
      "network. Each image is drawn at its own size" +
      (canvas === "expand" ? ", on a canvas on which nothing is cut off" : "") +
      (background ? `; what is uncovered is ${COLOURS[background] ?? background}, as in your ` +
        "example." : ".");
    this.list(images);
  }

  async downloadAll() {
    const files = this.results.map(({ image }, number) => ({ image, name: this.names[number] }));
    const made = zip(files.filter(({ image }) => image).map(
      ({ image, name }) => ({ name, bytes: bytesOf(image) })));
    const link = Object.assign(make("a", ""), {
      href: URL.createObjectURL(made), download: "same-change.zip",
    });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }
}

function photo(source, alt, kind = "") {
  return Object.assign(make("img", `photo ${kind}`), { src: source, alt });
}

async function read(file) {
  if (!file.type.startsWith("image/")) throw new Refused(`“${file.name}” is no image.`);
  if (file.size > LARGEST) throw new Refused(`“${file.name}” has more than 15 megabytes.`);
  const url = await new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result));
    reader.addEventListener("error", () => reject(new Refused(`“${file.name}” cannot be read.`)));
    reader.readAsDataURL(file);
  });
  return { name: file.name, size: file.size, url };
}

// Names of results, no two alike.
function names(taken, results) {
  const used = new Set();
  return taken.map(({ name }, number) => {
    const kind = results[number]?.image.startsWith("data:image/jpeg") ? "jpg" : "png";
    const stem = `${name.replace(/\.[^.]*$/, "")}-changed`;
    let unique = `${stem}.${kind}`;
    for (let count = 2; used.has(unique); count += 1) unique = `${stem}-${count}.${kind}`;
    used.add(unique);
    return unique;
  });
}

function bytesOf(url) {
  return Uint8Array.from(atob(url.slice(url.indexOf(",") + 1)), (letter) => letter.charCodeAt(0));
}
