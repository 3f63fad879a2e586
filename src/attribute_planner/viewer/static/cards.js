// The cards of an episode, which the viewer and pages of one file share.
import { element } from "./dom.js";

export function addCard(root, area, title, ...content) {
  const card = element("section", { class: `card area-${area}`, "aria-label": title }, content);
  root.append(card);
  return card;
}

export function heading(title, ...beside) {
  return element("div", { class: "card-head" }, element("h2", {}, title), beside);
}

// controls: shown beside the status of the episode.
export function addScene(root, controls = []) {
  const [status, scene, beliefs] = [element("p", { class: "scene-status", role: "status" }), element("div", { class: "scene-frame" }), element("div", { class: "beliefs-frame" })];
  const player = element("div", { class: "player" });
  addCard(root, "scene", "Scene", element("div", { class: "card-head" }, status, controls), scene, beliefs, player);
  return { status, scene, beliefs, player };
}

export function addPlan(root) {
  const content = element("div");
  addCard(root, "plan", "Plan", content);
  return content;
}

export function addGraph(root) {
  const content = element("div", { class: "graph-frame" });
  const key = (name, after, before = null) => element("span", {}, before, element("span", { class: `key ${name}` }), after);
  const legend = element("p", { class: "legend soft" }, key("scale", "likely", "unlikely"), key("dashed", "never tried"), key("last", "walked last"));
  addCard(root, "graph", "Graph", heading("Graph", legend), content);
  return content;
}
