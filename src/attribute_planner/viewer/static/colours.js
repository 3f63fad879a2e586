// Probabilities as colours that also differ for the colour-blind: vermilion, amber, blue.

const LIGHT = [[190, 70, 15], [196, 150, 40], [26, 108, 178]];
const DARK = [[240, 122, 66], [226, 184, 84], [98, 178, 240]];

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function probabilityColour(probability) {
  const scale = isDark() ? DARK : LIGHT;
  const [from, to, share] = probability < 0.5 ? [scale[0], scale[1], 2 * probability] : [scale[1], scale[2], 2 * probability - 1];
  const mixed = from.map((part, i) => Math.round(part + (to[i] - part) * share));
  return `rgb(${mixed.join(" ")})`;
}
