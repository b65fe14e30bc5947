// A pad to draw on with mouse, finger, pen or keyboard. It holds an image of the model's size.

const PEN = 1.8; // pixels of a 32 × 32 image, about the pen of the characters trained on

export class Pad {
  constructor(canvas, { size, label, changed }) {
    Object.assign(this, { canvas, size, label, changed, strokes: [], base: null, down: false });
    canvas.width = canvas.height = size;
    this.context = canvas.getContext("2d", { willReadFrequently: true });
    this.cursor = document.createElement("i");
    this.cursor.className = "cursor";
    this.cursor.hidden = true;
    this.place = { x: size / 2, y: size / 2 };
    canvas.after(this.cursor);
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-roledescription", "drawing pad");
    canvas.setAttribute("aria-label",
      `${label}. Arrow keys move the pen, space puts it down or lifts it, backspace undoes.`);
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    for (const end of ["pointerup", "pointercancel"])
      canvas.addEventListener(end, () => this.lift());
    canvas.addEventListener("keydown", (event) => this.type(event));
    canvas.addEventListener("blur", () => { this.lift(); this.cursor.hidden = true; });
    this.paint();
  }

  get empty() { return !this.base && !this.strokes.length; }
  get png() { return this.canvas.toDataURL("image/png"); }

  async show(png) {
    const image = new Image();
    image.src = png;
    await image.decode();
    this.base = image;
    this.strokes = [];
    this.redraw();
  }

  undo() {
    if (!this.strokes.pop()) this.base = null;
    this.redraw();
  }

  clear() {
    this.base = null;
    this.strokes = [];
    this.redraw();
  }

  redraw() {
    this.paint();
    this.changed();
  }

  paint() {
    const { context, size } = this;
    this.canvas.parentElement.toggleAttribute("data-empty", this.empty && !this.canvas.hidden);
    context.fillStyle = "#000";
    context.fillRect(0, 0, size, size);
    if (this.base) context.drawImage(this.base, 0, 0, size, size);
    Object.assign(context, { strokeStyle: "#fff", lineCap: "round", lineJoin: "round" });
    context.lineWidth = PEN * size / 32;
    for (const stroke of this.strokes) {
      context.beginPath();
      context.moveTo(stroke[0].x, stroke[0].y);
      context.lineTo(stroke[0].x + 0.01, stroke[0].y); // a line of no length would not be drawn
      for (const point of stroke) context.lineTo(point.x, point.y);
      context.stroke();
    }
  }

  where(event) {
    const box = this.canvas.getBoundingClientRect();
    return {
      x: (event.clientX - box.left) / box.width * this.size,
      y: (event.clientY - box.top) / box.height * this.size,
    };
  }

  press(event) {
    if (event.button) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.cursor.hidden = true;
    this.down = true;
    this.place = this.where(event);
    this.strokes.push([this.place]);
    this.redraw();
  }

  drag(event) {
    if (!this.down || !event.buttons) return;
    const parts = event.getCoalescedEvents?.() ?? [event];
    for (const part of parts) this.strokes.at(-1).push(this.where(part));
    this.place = this.where(event);
    this.redraw();
  }

  lift() { this.down = false; }

  type(event) {
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in arrows) {
      const [right, down] = arrows[event.key], far = event.shiftKey ? 4 : 1;
      const within = (value) => Math.min(this.size - 1, Math.max(1, value));
      this.place = { x: within(this.place.x + right * far), y: within(this.place.y + down * far) };
      if (this.down) { this.strokes.at(-1).push(this.place); this.redraw(); }
    } else if (event.key === " ") {
      this.down = !this.down;
      if (this.down) { this.strokes.push([this.place]); this.redraw(); }
    } else if (event.key === "Backspace") {
      this.down = false;
      this.undo();
    } else return;
    event.preventDefault();
    this.cursor.hidden = false;
    this.cursor.classList.toggle("down", this.down);
    this.cursor.style.left = `${this.place.x / this.size * 100}%`;
    this.cursor.style.top = `${this.place.y / this.size * 100}%`;
  }
}
