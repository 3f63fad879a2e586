// The viewer: one run at a time, its goal, its episode and its training.
import { addCard, addGraph, addPlan, addScene, heading } from "./cards.js";
import { element, replaceContent } from "./dom.js";
import { Connection } from "./connection.js";
import { Film } from "./film.js";
import { GoalPanel } from "./goal_panel.js";
import { GraphView } from "./graph_view.js";
import { isDark } from "./colours.js";
import { PlanView } from "./plan_view.js";
import { Player } from "./player.js";
import { BeliefView, SceneView } from "./scene_view.js";
import { TrainingView } from "./training_view.js";
import { count, Space } from "./words.js";

const IDLE = 300; // milliseconds after which a goal is not being changed any more

const find = (id) => document.getElementById(id);

class Viewer {
  constructor() {
    this.film = new Film(new Space([]));
    this.goal = null;
    this.begun = null;
    this.ahead = null;
    this.asked = 0;
    this.build(find("episode"));
    this.connection = new Connection((connected) => this.connected(connected));
    this.training = new TrainingView(find("training"), this.connection, (run) => this.saved(run));
    this.listen();
  }

  build(root) {
    const goal = element("div");
    addCard(root, "goal", "Goal", heading("Goal"), goal);
    this.panel = new GoalPanel(goal, (asked) => this.ask(asked));
    const { status, scene, beliefs, player } = addScene(root, startControls());
    new SceneView(scene, status, this.film);
    new BeliefView(beliefs, this.film);
    new PlanView(addPlan(root), this.film);
    this.graph = new GraphView(addGraph(root), this.film, (values) => this.panel.set({ values, at_least: values.map(() => false) }));
    this.player = new Player(player, this.film, (size) => this.more(size));
    this.player.listen(document);
  }

  listen() {
    find("run").addEventListener("change", () => this.open(find("run").value));
    find("mode").addEventListener("change", () => this.goal && this.ask(this.goal));
    find("restart").addEventListener("click", () => this.start(Math.floor(Math.random() * 1e6)));
    find("seed").addEventListener("change", () => this.start(Math.max(0, Math.round(Number(find("seed").value)) || 0)));
    for (const tab of document.querySelectorAll("[role=tab]")) tab.addEventListener("click", () => this.turn(tab.dataset.view));
    find("theme").addEventListener("click", () => {
      document.documentElement.dataset.theme = isDark() ? "light" : "dark";
      this.film.tell();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.film.tell());
    document.addEventListener("keydown", (event) => {
      if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "n") find("restart").click();
    });
  }

  turn(view) {
    for (const tab of document.querySelectorAll("[role=tab]")) tab.setAttribute("aria-selected", String(tab.dataset.view === view));
    for (const part of document.querySelectorAll("[data-part]")) part.hidden = part.dataset.part !== view;
    this.training.show(view === "training");
  }

  async connected(connected) {
    find("offline").hidden = connected;
    if (!connected) return;
    const { runs, modes } = await this.connection.ask("runs");
    if (!find("mode").options.length) replaceContent(find("mode"), modes.map((mode) => element("option", {}, mode)));
    const wanted = decodeURIComponent(location.hash.slice(1));
    const known = runs.some(({ id }) => id === wanted);
    replaceContent(find("run"), runs.map(({ id, name }) => element("option", { value: id }, name)));
    if (runs.length) await this.open(known ? wanted : runs[0].id);
    else this.note("There is no run to show.");
  }

  async open(run) {
    find("run").value = run;
    history.replaceState(null, "", `#${encodeURIComponent(run)}`);
    this.training.open(run);
    this.player.enable(false);
    this.note("Loading the agent …");
    await this.load(run);
  }

  // A newer checkpoint is shown at once, unless an episode is being looked at.
  saved(run) {
    if (!this.goal) this.load(run);
    else this.note("A newer checkpoint was saved: clear the goal to load it.");
  }

  async load(run) {
    const turn = ++this.asked;
    try {
      const opened = await this.connection.ask("open", { run, seed: Number(find("seed").value) || 0 });
      if (turn !== this.asked) return;
      this.film.space = new Space(opened.attributes);
      this.panel.open(this.film.space);
      find("size").textContent = `${opened.environment} · ${count(opened.sets, "attribute set")} · ${count(opened.edges, "transition")}`;
      this.begin(opened);
      this.note("");
      this.suggested.then(() => this.connection.ask("prepare", { run })).catch(() => {});
    } catch (mistake) {
      if (turn !== this.asked) return;
      this.film.restart(null);
      find("size").textContent = "";
      this.note(mistake.message);
      this.turn("training");
    }
  }

  async start(seed) {
    find("seed").value = String(seed);
    const turn = ++this.asked;
    this.player.enable(false);
    const goal = this.goal;
    const begun = await this.connection.ask("start", { seed });
    if (turn !== this.asked) return;
    this.begin(begun);
    if (goal) this.ask(goal);
  }

  begin({ frame, examples, seed }) {
    this.goal = this.film.goal = null;
    this.begun = null;
    this.ahead = null;
    this.shown = frame;
    this.film.restart(frame);
    this.panel.suggest(examples, frame.believed);
    this.suggested = this.suggestTasks(seed);
  }

  // Goals of tasks are sampled after the start is shown: that takes longer.
  async suggestTasks(seed) {
    const { shown } = this;
    const { examples } = await this.connection.ask("examples", { seed }).catch(() => ({ examples: [] }));
    if (shown === this.shown) this.panel.suggestMore(examples);
  }

  async ask(goal) {
    const turn = ++this.asked;
    this.goal = goal;
    this.begun = null;
    this.ahead = null;
    this.player.enable(false);
    if (!goal) {
      this.panel.show(null);
      this.film.goal = null;
      const { frame, seed } = await this.connection.ask("start", { seed: Number(find("seed").value) });
      if (turn !== this.asked) return;
      this.film.restart(frame);
      this.suggested = this.suggestTasks(seed);
      return;
    }
    try {
      const known = await this.connection.ask("goal", { goal });
      if (turn !== this.asked) return;
      this.panel.show(known);
      this.film.goal = known;
      this.film.restart(known.frame);
      this.player.enable(true);
      if (known.plan.reachable) setTimeout(() => this.prefetch(turn), IDLE);
    } catch (mistake) {
      if (turn === this.asked) this.panel.fail(mistake.message);
    }
  }

  // Compute the first step before it is asked for, unless the goal is still being changed.
  prefetch(turn) {
    if (turn !== this.asked || this.begun || this.ahead) return;
    this.ahead = this.frames(1);
    this.ahead.catch(() => {});
  }

  // Show the next frames of the episode; whether there were any. Those after them are computed meanwhile.
  async more(size) {
    const turn = this.asked;
    try {
      const { frames, result } = await (this.ahead ?? this.frames(size));
      if (turn !== this.asked) return false;
      this.ahead = result === null ? this.frames(size) : null;
      this.ahead?.then((next) => this.end(turn, next), () => {});
      this.film.append(frames, result);
      return frames.length > 0;
    } catch (mistake) {
      if (turn === this.asked) {
        this.begun = this.ahead = null;
        this.note(mistake.message);
      }
      return false;
    }
  }

  // The next frames, and the result if there are none; the first begin the episode.
  async frames(size) {
    const turn = this.asked;
    this.begun ??= this.connection.ask("begin", { goal: this.goal, mode: find("mode").value });
    await this.begun;
    return turn === this.asked ? this.connection.ask("step", { count: size }) : { frames: [], result: null };
  }

  // The result is shown with the last frame.
  end(turn, { frames, result }) {
    if (turn !== this.asked || frames.length) return;
    this.ahead = null;
    this.film.append([], result);
  }

  note(text) {
    find("note").textContent = text;
    find("note").hidden = !text;
  }
}

// Which start the episode has.
function startControls() {
  const seed = element("input", { id: "seed", type: "number", min: "0", value: "0" });
  const restart = element("button", { type: "button", id: "restart", class: "quiet", title: "New random start (n)" }, "New start");
  return [element("label", { class: "seed soft" }, "seed ", seed), restart];
}

window.viewer = new Viewer();
