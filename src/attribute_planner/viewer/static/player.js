// Play, pause, step, speed and scrub. Frames beyond the last are asked for, if there is someone to ask.
import { element, replaceContent, svgElement } from "./dom.js";

const ICONS = {
  first: "M6 5v14M19 5 9 12l10 7z",
  back: "M16 5 7 12l9 7z",
  play: "M8 5l11 7-11 7z",
  pause: "M8 5v14M16 5v14",
  next: "M8 5l9 7-9 7z",
};
const SPEEDS = [["1×", 500, 1], ["4×", 125, 1], ["16×", 30, 1], ["fastest", 0, 10]];

export class Player {
  // more: asks for the next frames, and is told how many; null for an episode that is complete.
  constructor(root, film, more = null) {
    this.film = film;
    this.more = more;
    this.playing = false;
    this.busy = false;
    this.enabled = more === null;
    const button = (name, title, action) =>
      element("button", { type: "button", class: `round ${name}`, title, "aria-label": title, on: { click: action } }, playerIcon(name));
    this.first = button("first", "To the start (Home)", () => this.seek(0));
    this.back = button("back", "One step back (←)", () => this.seek(film.index - 1));
    this.run = button("play", "Play (space)", () => this.toggle());
    this.next = button("next", "One step (→)", () => this.step());
    this.range = element("input", { type: "range", min: "0", value: "0", step: "1", class: "scrub", "aria-label": "Step of the episode" });
    this.range.addEventListener("input", () => this.seek(Number(this.range.value)));
    this.speed = element("select", { "aria-label": "Speed" }, SPEEDS.map(([name], i) => element("option", { value: String(i) }, name)));
    this.speed.value = "1";
    this.counter = element("output", { class: "counter" });
    replaceContent(root, this.first, this.back, this.run, this.next, this.range, this.counter, this.speed);
    film.watch(() => this.draw());
  }

  enable(enabled) {
    this.enabled = enabled;
    if (!enabled) this.playing = false;
    this.draw();
  }

  draw() {
    const { film } = this;
    const last = Math.max(film.last, 0);
    this.range.max = String(Math.max(last, 1));
    this.range.value = String(film.index);
    this.range.disabled = last === 0;
    this.range.style.setProperty("--share", `${last ? (100 * film.index) / last : 0}%`);
    this.counter.textContent = film.frame ? `${film.frame.step} / ${film.frames[last].step}` : "";
    this.first.disabled = this.back.disabled = film.index === 0;
    const over = film.atEnd && (film.result !== null || this.more === null);
    this.next.disabled = !this.enabled || over;
    this.run.disabled = !this.enabled || (over && last === 0);
    replaceContent(this.run, playerIcon(this.playing ? "pause" : "play"));
    this.run.title = this.playing ? "Pause (space)" : "Play (space)";
    this.run.setAttribute("aria-label", this.run.title);
  }

  seek(index) {
    this.pause();
    this.film.show(index);
  }

  toggle() {
    if (this.playing) return this.pause();
    const over = this.film.atEnd && (this.film.result !== null || this.more === null);
    if (over) this.film.show(0);
    this.playing = true;
    this.draw();
    this.continue();
  }

  pause() {
    this.playing = false;
    this.draw();
  }

  async step() {
    this.pause();
    await this.forward(1);
  }

  // One step forward; whether there was one.
  async forward(size) {
    const { film } = this;
    if (!film.atEnd) {
      film.show(film.index + size);
      return true;
    }
    if (film.result !== null || this.more === null || this.busy || !this.enabled) return false;
    this.busy = true;
    try {
      return await this.more(size);
    } finally {
      this.busy = false;
    }
  }

  async continue() {
    while (this.playing) {
      const [, pause, size] = SPEEDS[Number(this.speed.value)];
      const began = performance.now();
      if (!(await this.forward(size))) break;
      const rest = pause - (performance.now() - began);
      // A tab that is not seen draws no frames.
      const atOnce = rest <= 0 && document.visibilityState === "visible";
      await new Promise((resume) => (atOnce ? requestAnimationFrame(resume) : setTimeout(resume, rest)));
    }
    this.pause();
  }

  // Keys that work everywhere on the page, except where text is written.
  listen(target) {
    target.addEventListener("keydown", (event) => {
      const writes = event.target.closest?.("input:not(.scrub), select, textarea");
      if (writes || event.ctrlKey || event.metaKey || event.altKey) return;
      const acts = { ArrowLeft: () => this.seek(this.film.index - 1), ArrowRight: () => this.step(), Home: () => this.seek(0), End: () => this.seek(this.film.last) };
      if (event.key === " " && !event.target.closest("button, summary, a")) acts[" "] = () => this.toggle();
      if (!acts[event.key] || (event.key === "ArrowRight" && this.next.disabled)) return;
      event.preventDefault();
      acts[event.key]();
    });
  }
}

function playerIcon(name) {
  const path = svgElement("path", { d: ICONS[name] });
  return svgElement("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, path);
}
