// The item, its levels, and the keys. Texts of the data reach the page as text, never as markup.
const LEVEL_KEYS = "123456789abcdefghijklmnoqrtvwxyz";
let isShown = false;

function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

const key = (name) => make("kbd", { textContent: name.toUpperCase() });

// Buttons are made anew: the one in the place of that which had the focus gets it.
function draw() {
  const groups = ["attributes", "levels"].map(find);
  const focused = groups.map((group) => [...group.children].indexOf(document.activeElement));
  fill();
  groups.forEach((group, at) => group.children[focused[at]]?.focus());
}

function fill() {
  const { a, i } = place,
    attribute = attributes[a],
    item = items[i];
  const tabs = attributes.map((one, other) =>
    pressed(make("button", { onclick: () => (go(other), draw()) }, `${one.name} ${done(other)}/${items.length}`), other === a),
  );
  find("attributes").replaceChildren(...tabs);
  find("bar").max = items.length;
  find("bar").value = done(a);
  find("count").textContent = `item ${i + 1} of ${items.length}; ${done(a)} labelled`;
  find("question").textContent = `${attribute.name}: which?`;
  find("item").replaceChildren(...described(item, i));
  const levels = [...attribute.levels.map((level, at) => [level, LEVEL_KEYS[at]]), [CANNOT_TELL, "0"]];
  find("levels").replaceChildren(
    ...levels.map(([level, named]) =>
      pressed(
        make("button", { onclick: () => choose(level) }, ...(named ? [key(named), " "] : []), level),
        answers[a][i] === level,
      ),
    ),
  );
  find("predicted").hidden = !isShown;
  find("predicted").textContent = isShown ? `predicted: ${item.predicted[a]}` : "";
  find("undo").disabled = !history.length;
}

function pressed(button, is) {
  button.type = "button";
  button.setAttribute("aria-pressed", String(is));
  return button;
}

const nameOf = (i) => items[i].text || `item ${i + 1}`;

function described(item, i) {
  const parts = item.picture ? [make("img", { src: item.picture, alt: nameOf(i) })] : [];
  if (item.text) parts.push(make("p", { textContent: item.text }));
  return [...parts, make("div", { className: "id", textContent: item.id })];
}

function go(a) {
  place = { a, i: -1 };
  const open = nextOpen();
  place = open && open.a === a ? open : { a, i: 0 };
  keep();
}

function say(text) {
  find("said").textContent = isKept ? text : `${text} This browser keeps nothing: save the CSV before you close the page.`;
}

function choose(level) {
  const { a, i } = place;
  answer(level, isShown);
  draw();
  const all = attributes.length * items.length;
  if (total() === all) say("All items are labelled: save the CSV.");
  else if (place.a !== a) say(`${attributes[a].name} is done; next: ${attributes[place.a].name}.`);
  else say(`Item ${i + 1}: ${level}. Next: ${nameOf(place.i)}.`);
}

function save() {
  const address = URL.createObjectURL(new Blob([saved()], { type: "text/csv" }));
  make("a", { href: address, download: "labels.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
  say(`labels.csv saved: ${labels(total())}.`);
}

async function open() {
  const [file] = find("open").files;
  if (!file) return;
  const found = opened(await file.text());
  find("open").value = "";
  draw();
  if (!found) say(`${file.name} has no column item_id, or none of an attribute: a CSV that this page saved is expected.`);
  else say(`${labels(found.labels)} read from ${file.name}${passed(found.others, "row", "of other items")}${passed(found.unknown, "label", "of levels that are not known here")}.`);
}

const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
const labels = (count) => counted(count, "label");
const passed = (count, noun, which) => (count ? `; ${counted(count, noun)} ${which} passed over` : "");

function show(is) {
  isShown = find("show").checked = is;
  draw();
}

const ACTIONS = {
  ArrowLeft: () => (move(-1), draw()),
  ArrowRight: () => (move(1), draw()),
  u: () => (say(undo() ? "Undone." : "Nothing to undo."), draw()),
  Backspace: () => ACTIONS.u(),
  s: save,
  p: () => show(!isShown),
  0: () => choose(CANNOT_TELL),
};

function pressedKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.target.type === "file") return;
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const level = attributes[place.a].levels[name.length === 1 ? LEVEL_KEYS.indexOf(name) : -1];
  const action = level === undefined ? ACTIONS[name] : () => choose(level);
  if (!action) return;
  event.preventDefault();
  action();
}

find("back").onclick = ACTIONS.ArrowLeft;
find("later").onclick = ACTIONS.ArrowRight;
find("undo").onclick = ACTIONS.u;
find("save").onclick = save;
find("open").onchange = open;
find("show").onchange = () => show(find("show").checked);
document.addEventListener("keydown", pressedKey);
resume();
draw();
say(total() ? `${labels(total())} kept; going on.` : "");
document.documentElement.dataset.ready = "yes";
performance.mark("ready");
