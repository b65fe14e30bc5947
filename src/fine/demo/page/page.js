// The page as a whole: tabs, settings, theme, and one line for anything that goes wrong.

import { ask, Refused, say } from "./api.js";
import { get } from "./elements.js";
import { Play } from "./play.js";
import { Quiz } from "./quiz.js";
import { Yours } from "./yours.js";

const trouble = {
  failures: 0,
  async around(action) {
    const before = this.failures;
    try {
      await action();
      // What failed meanwhile, beside this action, is still to be read.
      if (this.failures === before) get("trouble").hidden = true;
    } catch (problem) {
      if (!(problem instanceof Refused)) throw problem;
      this.failures += 1;
      say(problem.message);
    }
  },
};

function fill(select, options, chosen) {
  select.replaceChildren(...options.map(([value, text]) =>
    new Option(text, value, value === chosen, value === chosen)));
}

function setUpTheme() {
  get("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    root.dataset.theme = (root.dataset.theme ?? system) === "dark" ? "light" : "dark";
    localStorage.setItem("theme", root.dataset.theme);
  });
}

function setUpTabs(shown) {
  const tabs = [...document.querySelectorAll("[role=tab]")];
  const show = (tab) => {
    for (const other of tabs) {
      const is = other === tab;
      other.setAttribute("aria-selected", is);
      other.tabIndex = is ? 0 : -1;
      get(other.getAttribute("aria-controls")).hidden = !is;
    }
    location.hash = document.body.dataset.view = tab.getAttribute("aria-controls");
    shown(tab.getAttribute("aria-controls"));
  };
  for (const tab of tabs) {
    tab.addEventListener("click", () => show(tab));
    tab.addEventListener("keydown", ({ key }) => {
      if (key !== "ArrowLeft" && key !== "ArrowRight") return;
      const step = key === "ArrowRight" ? 1 : tabs.length - 1;
      const other = tabs[(tabs.indexOf(tab) + step) % tabs.length];
      other.focus();
      show(other);
    });
  }
  const asked = tabs.find((tab) => location.hash === `#${tab.getAttribute("aria-controls")}`);
  if (asked && asked !== tabs[0]) show(asked);
}

setUpTheme();
await trouble.around(async () => {
  const about = await ask("api/about");
  const settings = { model: about.models[0].name, source: "glyphs" };
  const play = new Play(about, settings, trouble), quiz = new Quiz(about, settings, trouble);
  fill(get("model"), about.models.map(({ name }) => [name, name]), settings.model);
  fill(get("source"), about.sources.map(({ name, title }) => [name, title]), settings.source);
  let quizFor = null, quizStarted = null;
  const startQuiz = () => {
    const wanted = `${settings.model} ${settings.source}`;
    if (quizFor !== wanted) {
      quizFor = wanted;
      quizStarted = quiz.start();
    }
    return quizStarted;
  };
  const changed = async () => {
    Object.assign(settings, { model: get("model").value, source: get("source").value });
    // Drawings are shown dark on light, as on paper; photographs are shown as they are.
    const colour = about.sources.find(({ name }) => name === settings.source).colour;
    document.body.classList.toggle("ink", !colour);
    document.body.classList.add("busy"); // thousands of photographs take a few seconds, once
    if (!get("quiz").hidden) await startQuiz();
    await play.start();
    document.body.classList.remove("busy");
  };
  get("model").addEventListener("change", changed);
  get("source").addEventListener("change", changed);
  new Yours(trouble);
  setUpTabs((view) => view === "quiz" && startQuiz());
  await changed();
  document.body.dataset.ready = "";
});
