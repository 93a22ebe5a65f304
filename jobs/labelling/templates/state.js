// What has been labelled, kept in the browser after every answer.
const find = (id) => document.getElementById(id);
const { id, title, attributes, items } = JSON.parse(find("data").textContent);
const KEY = `mpr-audit label-sample ${id}`;
const CANNOT_TELL = "cannot tell";
const PROBABILITY = "inclusion_probability",
  SHOWN = "prediction_shown";
const LONGEST_HISTORY = 1000;
// answers[a][i]: the level of item i, CANNOT_TELL, or null; shown[i]: whether a label was given beside the prediction.
let answers = attributes.map(() => items.map(() => null)),
  shown = items.map(() => false),
  history = [],
  place = { a: 0, i: 0 },
  isKept = true;

function keep() {
  try {
    localStorage.setItem(KEY, JSON.stringify({ answers, shown, history, place }));
    isKept = true;
  } catch {
    isKept = false;
  }
}

const isState = (found) =>
  found &&
  found.answers.length === attributes.length &&
  found.answers.every((own) => own.length === items.length) &&
  found.place.a in attributes &&
  found.place.i in items;

function resume() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY));
    if (isState(found)) ({ answers, shown, history, place } = found);
  } catch {
    // A browser that keeps nothing, or what somebody else put there: begin anew.
  }
}

function answer(level, isShown) {
  const { a, i } = place;
  history.push({ a, i, before: answers[a][i], wasShown: shown[i] });
  history.splice(0, history.length - LONGEST_HISTORY);
  answers[a][i] = level;
  shown[i] ||= isShown;
  place = nextOpen() ?? place;
  keep();
}

function undo() {
  const last = history.pop();
  if (!last) return false;
  answers[last.a][last.i] = last.before;
  shown[last.i] = last.wasShown;
  place = { a: last.a, i: last.i };
  keep();
  return true;
}

// The next item without an answer: of this attribute, else of the next one that has some.
function nextOpen() {
  for (let step = 0; step < attributes.length; step++) {
    const a = (place.a + step) % attributes.length,
      start = step ? 0 : place.i + 1;
    for (let count = 0; count < items.length; count++) {
      const i = (start + count) % items.length;
      if (answers[a][i] === null) return { a, i };
    }
  }
  return null;
}

function move(step) {
  place = { a: place.a, i: (place.i + step + items.length) % items.length };
  keep();
}

const done = (a) => answers[a].filter((one) => one !== null).length;
const total = () => attributes.reduce((sum, _, a) => sum + done(a), 0);

function saved() {
  const header = ["item_id", ...attributes.map((one) => one.name), PROBABILITY, SHOWN];
  const rows = items.map((item, i) => [
    item.id,
    ...attributes.map((_, a) => answers[a][i] ?? ""),
    item.probability,
    shown[i] ? "yes" : "no",
  ]);
  return csvOf([header, ...rows]);
}

// Labels of a saved CSV over those that are here. Returns: how many were read, and what was passed over.
function opened(text) {
  const [header, ...rows] = rowsOf(text);
  const column = (name) => (header ?? []).indexOf(name);
  const found = { labels: 0, others: 0, unknown: 0, columns: attributes.filter((one) => column(one.name) >= 0).length };
  if (column("item_id") < 0 || !found.columns) return null;
  const number = new Map(items.map((item, i) => [item.id, i]));
  for (const row of rows) {
    const i = number.get(row[column("item_id")]);
    if (i === undefined) {
      found.others++;
      continue;
    }
    shown[i] ||= row[column(SHOWN)] === "yes";
    attributes.forEach((attribute, a) => {
      const level = row[column(attribute.name)];
      if (!level) return;
      if (level !== CANNOT_TELL && !attribute.levels.includes(level)) found.unknown++;
      else {
        answers[a][i] = level;
        found.labels++;
      }
    });
  }
  history = [];
  place = nextOpen() ?? place;
  keep();
  return found;
}
