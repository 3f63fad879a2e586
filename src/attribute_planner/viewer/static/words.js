// Attributes, sets and probabilities in words.

const SWATCHES = new Set(["red", "green", "blue", "yellow", "orange", "purple", "black", "white", "grey", "brown"]);

export function plainName(name) {
  return name.replaceAll("_", " ").trim();
}

export function percent(share) {
  if (share > 0 && share < 0.01) return "< 1 %";
  if (share > 0.99 && share < 1) return "> 99 %";
  return `${Math.round(100 * share)} %`;
}

export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

export function evidenceWords(edge) {
  if (!edge.tried) return "never tried";
  return `${Math.round(edge.successes).toLocaleString("en")} of ${Math.max(Math.round(edge.attempts), 1).toLocaleString("en")}`;
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

  // What changes from one set to another: what says most comes first, which is what becomes true and rarely is.
  changes(before, after) {
    const changed = before.map((_, i) => i).filter((i) => before[i] !== after[i]);
    const weight = (i) => (this.attributes[i].kind !== "binary" ? -1 : after[i] ? this.attributes[i].share : 2);
    changed.sort((a, b) => weight(a) - weight(b) || a - b);
    return changed.map((i) => {
      const binary = this.attributes[i].kind === "binary";
      return binary ? `${after[i] ? "" : "not "}${this.name(i)}` : `${this.name(i)} → ${this.value(i, after[i])}`;
    });
  }

  change(before, after, most = Infinity) {
    const changes = this.changes(before, after);
    if (changes.length <= most) return changes.join(", ") || "no change";
    return `${changes.slice(0, most).join(", ")} +${changes.length - most}`;
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
