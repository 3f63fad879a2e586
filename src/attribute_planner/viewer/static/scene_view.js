// The state, drawn large, and beside it what the agent believes, with the truth where it differs.
import { element, replaceContent } from "./dom.js";
import { count, meetsGoal, percent, swatchOf } from "./words.js";

export class SceneView {
  constructor(root, status, film) {
    this.status = status;
    this.image = element("img", { class: "scene-image", alt: "The current state of the environment", draggable: false });
    this.blank = element("p", { class: "scene-blank" }, "This environment does not draw itself.");
    replaceContent(root, this.image, this.blank);
    film.watch((shown) => this.draw(shown));
  }

  draw(film) {
    const source = film.latest("image");
    this.image.hidden = !source;
    this.blank.hidden = Boolean(source) || film.last < 0;
    if (source && this.image.getAttribute("src") !== source) this.image.setAttribute("src", source);
    const [kind, text] = statusOf(film);
    this.status.className = `scene-status ${kind}`;
    this.status.textContent = this.status.title = text;
  }
}

export function statusOf(film) {
  if (!film.frame) return ["", ""];
  if (film.result && film.atEnd) {
    const { success, steps, replans } = film.result;
    const replanned = replans ? `, ${count(replans, "replan")}` : "";
    if (success) return ["good", steps ? `✓ Goal reached in ${count(steps, "step")}${replanned}` : "✓ The goal holds at the start"];
    return ["bad", `✕ Not reached after ${count(steps, "step")}${replanned}`];
  }
  if (film.frame.step === 0) return ["", "At the start"];
  const plan = film.latest("plan");
  const aim = plan && plan.sets.length > 1 ? `: ${film.space.change(plan.sets[0], plan.sets[1], 1)}` : "";
  return ["", `Step ${film.frame.step}${aim}`];
}

const LISTED = 12; // attributes that are all listed

// What the agent believes: of many attributes those that are not simply false, those of the goal first.
export class BeliefView {
  constructor(root, film) {
    this.all = false;
    this.film = film;
    this.note = element("p", { class: "hint" });
    this.list = element("ul", { class: "beliefs" });
    this.more = element("button", { class: "quiet", type: "button", on: { click: () => this.toggle() } });
    replaceContent(root, element("h2", {}, "What the agent sees"), this.note, this.list, this.more);
    film.watch(() => this.draw());
  }

  toggle() {
    this.all = !this.all;
    this.draw();
  }

  draw() {
    const { frame, space, goal } = this.film;
    if (!frame) return replaceContent(this.list);
    const { believed, truth, certainty } = frame;
    const wrong = (i) => truth && truth[i] !== believed[i];
    const asked = (i) => goal && goal.values[i] !== null;
    const open = (i) => asked(i) && !this.meets(i, believed);
    const rows = space.attributes.map((_, i) => i);
    const shown = rows.filter((i) => this.all || rows.length <= LISTED || wrong(i) || open(i) || space.attributes[i].kind !== "binary" || believed[i]);
    shown.sort((a, b) => Number(asked(b)) - Number(asked(a)) || a - b);
    const errors = rows.filter(wrong).length;
    this.note.textContent = !certainty
      ? truth
        ? "The environment tells the attributes."
        : "The attributes on which the agent acts."
      : errors
        ? `The detector is wrong about ${count(errors, "attribute")}.`
        : truth
          ? "The detector agrees with the truth."
          : "By the detector; the truth is not known.";
    this.note.classList.toggle("bad", errors > 0);
    replaceContent(this.list, shown.map((i) => this.row(i, believed, truth, certainty, asked(i), wrong(i))));
    this.more.hidden = !this.all && shown.length === rows.length;
    this.more.textContent = this.all ? "Show fewer" : `Show all ${rows.length} attributes`;
  }

  meets(i, believed) {
    const { values, at_least } = this.film.goal;
    return meetsGoal({ values: values.map((value, j) => (j === i ? value : null)), at_least }, believed);
  }

  row(i, believed, truth, certainty, asked, wrong) {
    const { space } = this.film;
    const met = asked && this.meets(i, believed);
    const mark = asked ? element("span", { class: met ? "mark good" : "mark", title: met ? "as the goal asks" : "not yet as the goal asks" }, met ? "✓" : "○") : element("span", { class: "mark" });
    const word = space.value(i, believed[i]);
    const parts = [mark, element("span", { class: "name" }, space.name(i)), element("span", { class: "value" }, swatch(word), word)];
    if (certainty && certainty[i] < 0.99) parts.push(element("span", { class: "soft" }, percent(certainty[i])));
    if (wrong) parts.push(element("span", { class: "bad" }, `truth: ${space.value(i, truth[i])}`));
    return element("li", { class: wrong ? "wrong" : "" }, parts);
  }
}

export function swatch(word) {
  const colour = swatchOf(word);
  return colour ? element("span", { class: `swatch ${colour}`, "aria-hidden": "true" }) : null;
}
