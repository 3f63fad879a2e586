// Attributes, sets and probabilities in words.

const SWATCHES = new Set(["red", "green", "blue", "yellow", "orange", "purple", "black", "white", "grey", "brown"]);

export function plainName(name) {
  return name.replaceAll("_", " ").trim();
}

// With spaces at which lines do not break.
export function percent(share) {
  if (share > 0 && share < 0.01) return "<\u00a01\u00a0%";
  if (share > 0.99 && share < 1) return ">\u00a099\u00a0%";
  return `${Math.round(100 * share)}\u00a0%`;
}

export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

export function evidenceWords(edge) {
  if (!edge.tried) return "never tried";
  return `${Math.round(edge.successes).toLocaleString("en")} of ${Math.max(Math.round(edge.attempts), 1).toLocaleString("en")}`;
}

function few(words, most) {
  return words.length > most ? `${words.slice(0, most).join(", ")} +${words.length - most}` : words.join(", ");
}

export function swatchOf(word) {
  return SWATCHES.has(word) ? word : null;
}

// The attributes of an environment. A set is a list with the number of the value of each attribute.
export class Space {
  constructor(attributes) {
    this.attributes = attributes;
  }

  name(i) {
    return plainName(this.attributes[i].name);
  }

  value(i, number) {
    const attribute = this.attributes[i];
    if (attribute.kind === "integer") return String(attribute.start + attribute.step * number);
    if (attribute.kind === "binary") return number ? "yes" : "no";
    return plainName(attribute.values[number]);
  }

  // The value as goals name it.
  exactValue(i, number) {
    const attribute = this.attributes[i];
    return attribute.kind === "integer" ? this.value(i, number) : attribute.values[number];
  }

  // Attributes that change, those that say most first: a number that grows, and what becomes true and rarely is.
  changed(before, after) {
    const indices = before.map((_, i) => i).filter((i) => before[i] !== after[i]);
    const weight = (i) => {
      const { kind, share } = this.attributes[i];
      if (kind === "binary") return after[i] ? share : 2;
      return kind === "integer" && after[i] < before[i] ? 2 : -1;
    };
    return indices.sort((a, b) => weight(a) - weight(b) || a - b);
  }

  changes(before, after) {
    return this.changed(before, after).map((i) => {
      const binary = this.attributes[i].kind === "binary";
      return binary ? `${after[i] ? "" : "not "}${this.name(i)}` : `${this.name(i)} → ${this.value(i, after[i])}`;
    });
  }

  change(before, after, most = Infinity) {
    return few(this.changes(before, after), most) || "no change";
  }

  // What a goal asks for and does not hold in a set, in a few words.
  wishes(goal, values, most) {
    const asked = goal.values.map((value, i) => value ?? values[i]);
    const met = (i) => goal.at_least[i] && values[i] >= asked[i];
    const missing = this.changed(values, asked).filter((i) => !met(i));
    const words = missing.map((i) => {
      const binary = this.attributes[i].kind === "binary";
      const sign = goal.at_least[i] ? "≥ " : "";
      return binary ? `${asked[i] ? "" : "not "}${this.name(i)}` : `${this.name(i)} ${sign}${this.value(i, asked[i])}`;
    });
    const kept = goal.values.filter((value) => value !== null).length > missing.length;
    return words.length ? `${few(words, most)}${kept ? " · others as now" : ""}` : "what holds now";
  }

  // What holds in a set: the names of what is true, and the values of the rest.
  holds(values) {
    const words = [];
    values.forEach((number, i) => {
      if (this.attributes[i].kind !== "binary") words.push(`${this.name(i)} ${this.value(i, number)}`);
      else if (number) words.push(this.name(i));
    });
    return words;
  }
}

export function sameSet(one, other) {
  return one.length === other.length && one.every((value, i) => value === other[i]);
}

export function meetsGoal(goal, values) {
  return values.every((value, i) => {
    const wanted = goal.values[i];
    return wanted === null || (goal.at_least[i] ? value >= wanted : value === wanted);
  });
}
