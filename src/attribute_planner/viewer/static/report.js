// A page of one episode or plan, with the components of the viewer and without a server.
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
new PlanView(document.getElementById("plan"), film);
new GraphView(document.getElementById("graph"), film);
if (data.result) {
  new SceneView(document.getElementById("scene"), film);
  new BeliefView(document.getElementById("beliefs"), film);
  const player = new Player(document.getElementById("player"), film);
  player.listen(document);
} else {
  document.getElementById("scene-card").hidden = true;
  document.getElementById("beliefs-card").hidden = true;
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => film.tell());
window.film = film;
