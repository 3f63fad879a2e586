// The goal: for each attribute a value, or any.
import { element, replaceContent } from "./dom.js";
import { count, evidenceWords, percent, plainName } from "./words.js";
import { swatch } from "./scene_view.js";

const FEW = 6; // values that are all shown
const FEW_WORDS = 3;

export class GoalPanel {
  // changed: called with the goal as an object of texts, by name; null if it is empty.
  constructor(root, changed) {
    this.changed = changed;
    this.examples = element("div", { class: "chips" });
    this.form = element("form", { class: "attributes", on: { submit: (event) => event.preventDefault() } });
    this.text = element("code", { class: "goal-text" });
    this.clear = element("button", { type: "button", class: "quiet clear", on: { click: () => this.set(null) } }, "Clear");
    this.copyCommand = copyButton("command", "Copy the goal as a command", () => this.known?.command);
    this.copyPython = copyButton("Python", "Copy the goal as Python code", () => this.known?.python);
    this.verdict = element("div", { class: "verdict", role: "status" });
    this.head = element("div", { class: "goal-head" }, this.text, element("div", { class: "row" }, element("span", { class: "hint" }, "copy as"), this.copyCommand, this.copyPython, this.clear), this.verdict);
    replaceContent(root, this.head, element("p", { class: "label" }, "Examples"), this.examples, this.form);
    this.show(null);
  }

  open(space) {
    this.space = space;
    this.chosen = space.attributes.map(() => ({ value: null, atLeast: false }));
    this.controls = [];
    const groups = new Map();
    space.attributes.forEach((attribute, i) => groups.set(attribute.group, [...(groups.get(attribute.group) ?? []), i]));
    replaceContent(this.form, [...groups].map(([group, members]) => this.group(group, members)));
    this.show(null);
  }

  group(group, members) {
    const binary = members.every((i) => this.space.attributes[i].kind === "binary");
    const relation = group.startsWith("_") && group.endsWith("_") && group.length > 2;
    const title = plainName(group) || "attributes";
    const rows = relation && binary ? [this.matrix(group, members)] : members.map((i) => this.row(i));
    return element("fieldset", {}, element("legend", {}, title), rows);
  }

  row(i) {
    const { kind, size } = this.space.attributes[i];
    const name = this.space.name(i);
    const control = kind === "integer" ? this.number(i) : size <= FEW ? this.choice(i) : this.menu(i);
    return element("div", { class: "attribute" }, element("span", { class: "name", title: this.space.attributes[i].name }, name), control);
  }

  choice(i) {
    const { size, name } = this.space.attributes[i];
    const options = [null, ...Array(size).keys()];
    if (this.space.attributes[i].kind === "binary") options.splice(1, 2, 1, 0);
    const inputs = new Map();
    const labels = options.map((value) => {
      const word = value === null ? "any" : this.space.value(i, value);
      const input = element("input", { type: "radio", name: `attribute ${i}`, value: String(value), "aria-label": `${name}: ${word}` });
      input.addEventListener("change", () => this.pick(i, value));
      inputs.set(value, input);
      return element("label", { title: word }, input, element("span", {}, swatch(word) ?? word));
    });
    this.controls[i] = ({ value }) => (inputs.get(value).checked = true);
    return element("span", { class: "segments", role: "radiogroup" }, labels);
  }

  menu(i) {
    const { size, name } = this.space.attributes[i];
    const option = (value, word) => element("option", { value: String(value) }, word);
    const select = element("select", { "aria-label": name }, option("", "any"), [...Array(size).keys()].map((value) => option(value, this.space.value(i, value))));
    select.addEventListener("change", () => this.pick(i, select.value === "" ? null : Number(select.value)));
    this.controls[i] = ({ value }) => (select.value = value === null ? "" : String(value));
    return select;
  }

  number(i) {
    const { size, name, start, step } = this.space.attributes[i];
    const sign = element("select", { "aria-label": `${name}: any, exactly or at least` }, ["any", "=", "≥"].map((each) => element("option", {}, each)));
    const bounds = [start, start + step * (size - 1)];
    const input = element("input", { type: "number", min: String(Math.min(...bounds)), max: String(Math.max(...bounds)), step: String(Math.abs(step)), value: String(start + step), "aria-label": name });
    const read = () => {
      const value = Math.round((Number(input.value) - start) / step);
      this.pick(i, sign.value === "any" ? null : Math.max(0, Math.min(size - 1, value)), sign.value === "≥");
    };
    sign.addEventListener("change", read);
    input.addEventListener("change", () => {
      if (sign.value === "any") sign.value = "=";
      read();
    });
    this.controls[i] = ({ value, atLeast }) => {
      sign.value = value === null ? "any" : atLeast ? "≥" : "=";
      input.classList.toggle("soft", value === null);
      if (value !== null) input.value = String(start + step * value);
    };
    return element("span", { class: "number" }, sign, input);
  }

  // Relations of two things as a table: a click goes from any to yes to no.
  matrix(group, members) {
    const names = members.map((i) => this.space.attributes[i].name.split(group));
    const firsts = [...new Set(names.map(([first]) => first))];
    const seconds = [...new Set(names.map(([, second]) => second))];
    const head = (word, scope) => element("th", { scope, title: plainName(word) }, swatch(word) ?? plainName(word));
    const cell = (first, second) => {
      const i = members[names.findIndex(([one, other]) => one === first && other === second)];
      return element("td", {}, i === undefined ? null : this.cell(i));
    };
    const rows = firsts.map((first) => element("tr", {}, head(first, "row"), seconds.map((second) => cell(first, second))));
    return element("table", { class: "matrix" }, element("thead", {}, element("tr", {}, element("td"), seconds.map((each) => head(each, "col")))), element("tbody", {}, rows));
  }

  cell(i) {
    const button = element("button", { type: "button", class: "cell" });
    button.addEventListener("click", () => {
      const { value } = this.chosen[i];
      this.pick(i, value === null ? 1 : value === 1 ? 0 : null);
    });
    this.controls[i] = ({ value }) => {
      const word = value === null ? "any" : value ? "yes" : "no";
      button.textContent = { any: "·", yes: "✓", no: "✕" }[word];
      button.className = `cell ${word}`;
      button.title = `${this.space.name(i)}: ${word}`;
      button.setAttribute("aria-label", button.title);
    };
    return button;
  }

  pick(i, value, atLeast = false) {
    this.chosen[i] = { value, atLeast };
    this.controls[i](this.chosen[i]);
    this.tell();
  }

  // Take a goal over: one with `values` and `at_least`, or null for none.
  set(goal) {
    this.chosen = this.space.attributes.map((_, i) => ({ value: goal?.values[i] ?? null, atLeast: goal?.at_least[i] ?? false }));
    this.chosen.forEach((each, i) => this.controls[i](each));
    this.tell();
  }

  tell() {
    const goal = {};
    this.chosen.forEach(({ value, atLeast }, i) => {
      if (value !== null) goal[this.space.attributes[i].name] = (atLeast ? ">=" : "") + this.space.exactValue(i, value);
    });
    this.changed(Object.keys(goal).length ? goal : null);
  }

  // start: the set in which the episode begins.
  suggest(examples, start) {
    this.start = start;
    replaceContent(this.examples);
    this.suggestMore(examples);
  }

  // Further examples; those that are there already are not repeated.
  suggestMore(examples) {
    const known = new Set([...this.examples.children].map((chip) => chip.title));
    const chip = (goal) => element("button", { type: "button", class: "chip", title: goal.text, on: { click: () => this.set(goal) } }, this.space.wishes(goal, this.start, FEW_WORDS));
    this.examples.append(...examples.filter(({ text }) => !known.has(text)).map(chip));
  }

  // What is known of the goal; null without a goal.
  show(known) {
    this.known = known;
    if (!known && this.chosen) {
      this.chosen = this.space.attributes.map(() => ({ value: null, atLeast: false }));
      this.chosen.forEach((each, i) => this.controls[i](each));
    }
    this.text.textContent = known ? known.text : "No goal yet: choose a value below.";
    this.text.classList.toggle("soft", !known);
    for (const button of [this.copyCommand, this.copyPython, this.clear]) button.disabled = !known;
    replaceContent(this.verdict, known ? this.judged(known) : []);
  }

  judged({ satisfying, known, plan, nearest }) {
    const sets = element("p", {}, satisfying ? `${count(satisfying, "known set")} of ${known.toLocaleString("en")} ${satisfying === 1 ? "satisfies" : "satisfy"} it.` : "No known set satisfies it.");
    if (plan.reachable) {
      const steps = plan.edges.length ? `Plan: ${count(plan.edges.length, "transition")}, ${percent(plan.probability)}` : "It holds at the start";
      return [element("p", { class: "good strong" }, `✓ ${steps}`), this.weakest(plan), sets];
    }
    const offer = nearest
      ? element("button", { type: "button", class: "chip", on: { click: () => this.set(nearest) } }, `Nearest goal with a plan: ${this.space.wishes(nearest, this.start, FEW_WORDS)}`)
      : null;
    return [element("p", { class: "bad strong" }, `✕ No plan: ${plan.reason}`), sets, offer];
  }

  // The transition of a plan that is most likely to fail, with its evidence.
  weakest({ edges, sets }) {
    if (!edges.length) return null;
    const least = edges.reduce((best, edge, i) => (edge.practised < edges[best].practised ? i : best), 0);
    const words = this.space.change(sets[least], sets[least + 1], 1);
    return element("p", {}, `${edges.length > 1 ? "Weakest: " : ""}${words} · ${percent(edges[least].practised)} · ${evidenceWords(edges[least])}`);
  }

  fail(message) {
    replaceContent(this.verdict, element("p", { class: "bad strong" }, `✕ ${message}`));
  }
}

function copyButton(label, title, text) {
  const button = element("button", { type: "button", class: "quiet", title, "aria-label": title }, label);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text() ?? "");
    button.textContent = "copied";
    setTimeout(() => (button.textContent = label), 1200);
  });
  return button;
}
