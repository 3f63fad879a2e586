// The training of a run: its curves, live; its weakest transitions; its diagnosis.
import { element, replaceContent } from "./dom.js";
import { Chart, clockWords, niceNumber, secondsWords } from "./chart.js";
import { count, evidenceWords, percent, plainName, Space } from "./words.js";
import { probabilityColour } from "./colours.js";

const EVERY = 2000;
const CLOCKS = ["seconds", "steps", "updates"]; // what a measurement is drawn over: the first of these that it has

export class TrainingView {
  // saved: called with a run when a newer checkpoint of it was saved.
  constructor(root, connection, saved) {
    this.connection = connection;
    this.saved = saved;
    this.status = element("p", { class: "training-status", role: "status" });
    this.charts = element("div", { class: "charts" });
    this.single = element("dl", { class: "facts" });
    this.origin = element("dl", { class: "facts" });
    this.weakest = element("div");
    this.diagnosis = element("div");
    const card = (title, ...content) => element("section", { class: "card" }, element("h2", {}, title), ...content);
    replaceContent(root, card("Training", this.status, this.charts, this.single), card("Origin", this.origin), card("Weakest transitions", this.weakest), card("Diagnosis", this.diagnosis));
    this.visible = false;
    this.run = null;
  }

  open(run) {
    this.run = run;
    this.lines = [];
    this.total = 0;
    this.known = new Map();
    this.checkpoint = null;
    for (const part of [this.charts, this.single, this.origin, this.weakest]) replaceContent(part);
    this.offer();
    if (this.visible) this.poll();
  }

  show(visible) {
    this.visible = visible;
    if (visible) this.poll();
  }

  async poll() {
    clearTimeout(this.timer);
    const { run } = this;
    if (!this.visible || run === null) return;
    try {
      const answer = await this.connection.ask("training", { run, since: this.total });
      if (run !== this.run) return;
      this.lines = [...(answer.since ? this.lines : []), ...answer.lines];
      this.total = answer.total;
      this.draw(answer);
      if (answer.checkpoint !== this.checkpoint) {
        if (this.checkpoint !== null) this.saved(run);
        await this.showOrigin(run);
        await this.showWeakest(run, answer.checkpoint);
      }
      if (answer.finished) return;
    } catch (mistake) {
      this.status.textContent = mistake.message;
    }
    this.timer = setTimeout(() => this.poll(), EVERY);
  }

  draw({ finished, seconds_ago: ago, total }) {
    if (!total) this.status.textContent = finished ? "The metrics of this agent's training were not kept, so there are no curves to show." : "Nothing has been measured yet.";
    else {
      const phase = this.lines.at(-1).phase;
      const live = !finished && ago < 60;
      const state = finished ? "Finished" : live ? `Training: ${plainName(phase)}` : `Not finished; last written ${secondsWords(ago)} ago`;
      replaceContent(this.status, element("span", { class: live ? "live" : "" }, state), ` · ${count(total, "measurement")}`);
    }
    const series = new Map();
    for (const line of this.lines) {
      const clock = CLOCKS.find((name) => name in line);
      for (const [name, value] of Object.entries(line)) {
        if (typeof value !== "number" || name === clock) continue;
        const key = `${plainName(line.phase)}: ${plainName(name)}`;
        if (!series.has(key)) series.set(key, { clock, points: [] });
        series.get(key).points.push([line[clock] ?? 0, value]);
      }
    }
    for (const [key, { clock, points }] of series) {
      if (points.length < 2) continue;
      if (!this.known.has(key)) {
        this.known.set(key, new Chart(key, clock));
        this.charts.append(this.known.get(key).root);
      }
      this.known.get(key).show(points);
    }
    const once = [...series].filter(([, { points }]) => points.length === 1);
    replaceContent(this.single, finished ? facts(once.map(([key, { clock, points: [[x, y]] }]) => [key, `${niceNumber(y)} at ${clockWords(x, clock)}`])) : []);
  }

  async showOrigin(run) {
    try {
      const { origin } = await this.connection.ask("origin", { run });
      if (run === this.run) replaceContent(this.origin, facts(origin));
    } catch (mistake) {
      if (run === this.run) replaceContent(this.origin, element("dd", { class: "hint" }, mistake.message));
    }
  }

  async showWeakest(run, checkpoint) {
    this.checkpoint = checkpoint;
    try {
      const { attributes, edges } = await this.connection.ask("weakest", { run });
      const space = new Space(attributes);
      const head = element("tr", {}, ["change", "from", "success", "attempts"].map((each) => element("th", { scope: "col" }, each)));
      const row = (edge) =>
        element(
          "tr",
          {},
          element("td", { title: space.change(edge.source, edge.target) }, space.change(edge.source, edge.target, 3)),
          element("td", { class: "soft" }, fewWords(space.holds(edge.source))),
          element("td", {}, element("span", { class: "bar", style: { "--share": `${100 * edge.probability}%`, "--colour": probabilityColour(edge.probability) } }), percent(edge.probability)),
          element("td", {}, evidenceWords(edge)),
        );
      replaceContent(this.weakest, edges.length ? element("div", { class: "scroll" }, element("table", { class: "edges" }, element("thead", {}, head), element("tbody", {}, edges.map(row)))) : element("p", { class: "hint" }, "No transition was attempted yet."));
    } catch (mistake) {
      replaceContent(this.weakest, element("p", { class: "hint" }, mistake.message));
    }
  }

  offer() {
    const button = element("button", { type: "button", class: "primary", on: { click: () => this.diagnose() } }, "Diagnose");
    replaceContent(this.diagnosis, element("p", { class: "hint" }, "Runs episodes of every task and lists what to change, the most important first. It takes a while."), button);
  }

  async diagnose() {
    const { run } = this;
    replaceContent(this.diagnosis, element("p", { class: "hint busy" }, "Planning and running episodes …"));
    try {
      const { findings, tasks, page } = await this.connection.ask("diagnose", { run });
      if (run !== this.run) return;
      const found = findings.map((each) => element("li", {}, element("strong", {}, each.kind), element("span", { class: "soft" }, ` ${percent(each.importance)} of the goals`), element("p", {}, each.message)));
      const measured = tasks.map((each) => element("li", {}, `${each.task}: ${each.successes} of ${each.episodes} reached, ${percent(each.planned)} planned`));
      const save = element("a", { class: "button", download: "diagnosis.html", href: URL.createObjectURL(new Blob([page], { type: "text/html" })) }, "Save as a page");
      replaceContent(this.diagnosis, element("ul", { class: "tasks" }, measured), found.length ? element("ol", { class: "findings" }, found) : element("p", { class: "good strong" }, "✓ No cause of failures was found."), save);
    } catch (mistake) {
      if (run === this.run) replaceContent(this.diagnosis, element("p", { class: "bad" }, mistake.message));
    }
  }
}

// Names and what is known of them, for a list.
function facts(pairs) {
  return pairs.flatMap(([name, words]) => [element("dt", {}, name), element("dd", {}, words)]);
}

function fewWords(words) {
  return words.length > 5 ? `${words.slice(0, 5).join(", ")} … (${words.length})` : words.join(", ") || "nothing holds";
}
