// A page of one episode or plan, with the components of the viewer and without a server.
import { addGraph, addPlan, addScene } from "./cards.js";
import { Film } from "./film.js";
import { GraphView } from "./graph_view.js";
import { PlanView } from "./plan_view.js";
import { Player } from "./player.js";
import { BeliefView, SceneView } from "./scene_view.js";
import { Space } from "./words.js";

const data = JSON.parse(document.getElementById("data").textContent);
const film = new Film(new Space(data.attributes));
film.goal = data.goal;
film.frames = data.frames;
film.result = data.result;
const root = document.getElementById("episode");
root.classList.toggle("plan-only", !data.result);
if (data.result) {
  const { status, scene, beliefs, player } = addScene(root);
  new SceneView(scene, status, film);
  new BeliefView(beliefs, film);
  new Player(player, film).listen(document);
}
new PlanView(addPlan(root), film);
new GraphView(addGraph(root), film);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => film.tell());
window.film = film;
