// The way to the goal as one list: what has happened, where the agent is now, and what is planned.
import { element, replaceContent } from "./dom.js";
import { edgeKey } from "./film.js";
import { count, evidenceWords, percent } from "./words.js";
import { isDark, probabilityColour } from "./colours.js";

const MOST = 2; // changes that are written out; more are counted
const EVENTS = {
  arrived: ["✓", "done"],
  drifted: ["↷", "drifted: arrived elsewhere"],
  failed: ["✕", "failed"],
  aliased: ["⧉", "aliased: works elsewhere, not in this state"],
  lost: ["?", "no plan was known"],
  ended: ["■", "the environment ended the episode"],
};

export class PlanView {
  constructor(root, film) {
    this.film = film;
    this.summary = element("p", { class: "plan-summary" });
    this.list = element("ol", { class: "plan" });
    replaceContent(root, element("div", { class: "plan-head" }, element("h2", {}, "Plan"), this.summary), this.list);
    film.watch(() => this.draw());
  }

  draw() {
    const { film } = this;
    const plan = film.latest("plan");
    if (!plan) {
      this.seen = null;
      this.summary.textContent = "Choose a goal to see a plan.";
      return replaceContent(this.list);
    }
    const done = film.result && film.atEnd;
    const events = film.events();
    const seen = [plan, events.length, events.at(-1)?.times, done, film.frame.step > 0, isDark()];
    if (this.seen?.every((each, i) => each === seen[i])) return;
    this.seen = seen;
    replaceContent(this.summary, done ? this.verdict() : summaryOf(plan));
    const posteriors = film.posteriors();
    const rows = events.map((event) => this.past(event));
    if (!done) rows.push(...plan.edges.map((edge, i) => this.planned(plan, edge, i, posteriors.get(edgeKey(plan.sets[i], plan.sets[i + 1])))));
    replaceContent(this.list, rows);
    keepInSight(this.list.querySelector(".now") ?? (done ? this.list.lastChild : null), this.list.closest(".card"));
  }

  verdict() {
    const { success, reason } = this.film.result;
    return success ? "The goal is reached." : `Not reached: ${reason}`;
  }

  past(event) {
    const [mark, words] = EVENTS[event.kind];
    const { space } = this.film;
    const moved = event.kind !== "arrived" && event.kind !== "lost" && event.posterior !== event.probability;
    const notes = [`step ${event.step}`];
    if (event.kind === "arrived" && event.edge) notes.push(percent(event.edge.practised), evidenceWords(event.edge));
    if (event.kind !== "arrived") notes.push(event.times > 1 ? `${words}, ${event.times} times` : words);
    if (event.kind === "drifted") notes.push(`now ${space.change(event.source, event.after, MOST)}`);
    if (moved) notes.push(`another attempt: ${percent(event.probability)} → ${percent(event.posterior)}`);
    if (event.replanned) notes.push("replanned");
    return element(
      "li",
      { class: `past ${event.kind}` },
      element("span", { class: "mark", "aria-hidden": "true" }, mark),
      event.target ? changeOf(space, event.source, event.target) : element("span", { class: "change" }, "no target"),
      element("span", { class: "note" }, notes.join(" · ")),
    );
  }

  // posterior: the probability of another attempt, if attempts have failed in this episode.
  planned(plan, edge, i, posterior) {
    const now = i === 0 && this.film.frame.step > 0;
    const share = posterior ?? edge.practised;
    const moved = posterior === undefined ? "" : ` · now ${percent(posterior)}`;
    return element(
      "li",
      { class: now ? "planned now" : "planned", "aria-current": now ? "step" : null },
      element("span", { class: "mark", "aria-hidden": "true" }, now ? "▸" : "○"),
      changeOf(this.film.space, plan.sets[i], plan.sets[i + 1]),
      element(
        "span",
        { class: "note", title: `One attempt arrives with ${percent(edge.practised)}; within the episode, with repeated attempts, ${percent(edge.probability)}.` },
        element("span", { class: "bar", style: { "--share": `${100 * share}%`, "--colour": probabilityColour(share) } }),
        `${percent(edge.practised)} · ${evidenceWords(edge)}${moved}`,
      ),
    );
  }
}

// A transition in words: the change that says most, and what changes with it.
function changeOf(space, source, target) {
  const [first, ...others] = space.changes(source, target);
  const more = others.length > MOST - 1 ? `${others.slice(0, MOST - 1).join(", ")} +${others.length - MOST + 1}` : others.join(", ");
  return element("span", { class: "change", title: space.change(source, target) }, first ?? "no change", more ? element("span", { class: "others" }, `, ${more}`) : null);
}

export function summaryOf(plan) {
  if (!plan.reachable) return element("span", { class: "bad" }, `No plan: ${plan.reason}`);
  if (!plan.edges.length) return "The goal holds already.";
  const within = plan.horizon ? ` within ${count(plan.horizon, "step")}` : "";
  const chance = plan.probability === null ? "assumed, as for the nearest known set" : `${percent(plan.probability)}${within}`;
  return element("span", {}, element("strong", {}, count(plan.edges.length, "transition")), ` · ${chance}`);
}

// Scroll a card, never the whole page, so that a row of it is seen; the first row that is seen is seen as a whole.
function keepInSight(inside, card) {
  if (!inside || !card || card.scrollHeight <= card.clientHeight) return;
  const [box, frame] = [inside.getBoundingClientRect(), card.getBoundingClientRect()];
  if (box.top < frame.top) card.scrollTop -= frame.top - box.top + 60;
  else if (box.bottom > frame.bottom) card.scrollTop += box.bottom - frame.bottom + 60;
  const edge = card.querySelector(".plan-head").getBoundingClientRect().bottom;
  const cut = [...inside.parentElement.children].map((row) => row.getBoundingClientRect()).find(({ top, bottom }) => top < edge && bottom > edge);
  if (cut) card.scrollTop += cut.bottom - edge;
}
