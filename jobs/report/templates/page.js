// Which case is shown, and what the controls do.
function draw() {
  SIDES.forEach(readout);
  for (const panel of find("panels").children) if (panel.ring) panel.ring();
  drawGroups();
  drawItems();
}
function choose(side, point) {
  chosen[side] = point;
  draw();
}

async function show(which, isAsked) {
  number = which;
  block = await unpackCase(which);
  if (number !== which) return;
  // The first series is what is audited, where the case has it.
  const top = block.series.find((one) => one.method === "top_k" || one.method === "as_shown");
  chosen.a = top ? top.points[0] : 0;
  chosen.b = isMissing(block.default)
    ? block.points.length > 1
      ? block.series[block.series.length - 1].points[0]
      : chosen.a
    : block.default;
  find("case").value = which;
  const [label, verdict, isCrossed] = said[which];
  find("case-title").textContent = label;
  find("verdict").textContent =
    verdict || "No group shares were recorded for the top-k selection of this query, so no group can be named.";
  find("facts").textContent =
    [
      block.prompt ? "Prompt: \u201c" + block.prompt + "\u201d" : "",
      block.k + " items" + (isMissing(block.pool) ? "" : " from a pool of " + block.pool.toLocaleString("en")),
      "reference \u201c" +
        block.reference +
        "\u201d" +
        (isMissing(block.size) ? "" : ", effective size " + Math.round(block.size).toLocaleString("en")),
    ]
      .filter(Boolean)
      .join("; ") + ".";
  // Where the worst group is a combination of attributes, the table must hold it.
  find("crossed").checked = isCrossed;
  for (const side of SIDES)
    find("method-" + side).replaceChildren(
      ...block.series.map((one, place) => make("option", { value: place }, seriesName(one))),
    );
  const at = order.indexOf(which);
  find("previous").disabled = at <= 0;
  find("next").disabled = at >= order.length - 1;
  drawPanels();
  draw();
  if (isAsked) {
    find("case-title").scrollIntoView();
    find("case-title").focus({ preventScroll: true });
  }
}
function asked() {
  const found = /^#case-(\d+)$/.exec(location.hash),
    count = find("case").options.length;
  return found && Number(found[1]) < count ? Number(found[1]) : null;
}
function turn(step) {
  const next = order[order.indexOf(number) + step];
  if (next !== undefined) {
    history.replaceState(null, "", "#case-" + next);
    show(next, false);
  }
}

const MOST_FOUND = 20;
// Queries that hold what is typed, those that start with it first.
function search() {
  const typed = find("search").value.trim().toLowerCase();
  const names = Array.from(find("case").options, (option) => [Number(option.value), option.textContent]);
  const found = typed ? names.filter(([, name]) => name.toLowerCase().includes(typed)) : [];
  found.sort(([, one], [, other]) => other.toLowerCase().startsWith(typed) - one.toLowerCase().startsWith(typed));
  find("found").replaceChildren(
    ...found
      .slice(0, MOST_FOUND)
      .map(([which, name]) => make("li", {}, make("a", { href: "#case-" + which }, name))),
  );
  find("found-count").textContent = !typed
    ? ""
    : found.length > MOST_FOUND
      ? MOST_FOUND + " of " + found.length + " are shown"
      : found.length + " found";
}

async function start() {
  const count = find("case").options.length,
    worst = find("data-worst").textContent.split(" ").filter(Boolean).map(Number);
  order = worst.concat(Array.from({ length: count }, (_, which) => which).filter((which) => !worst.includes(which)));
  if (!count) throw new Error("the run holds no selections");
  head = await unpack(written("head"));
  said = await unpack(written("said"));
  items = await unpack(written("items"));
  items.byDataset = new Map(
    Object.entries(items.datasets).map(([name, list]) => [name, new Map(list.map((one) => [one[0], one]))]),
  );
  find("explorer").hidden = false;
  await show(asked() ?? order[0], asked() !== null);
  find("case").addEventListener("change", (event) => {
    history.replaceState(null, "", "#case-" + event.target.value);
    show(Number(event.target.value), false);
  });
  find("previous").addEventListener("click", () => turn(-1));
  find("next").addEventListener("click", () => turn(1));
  for (const side of SIDES) {
    find("method-" + side).addEventListener("change", (event) =>
      choose(side, block.series[Number(event.target.value)].points[0]),
    );
    find("point-" + side).addEventListener("input", (event) =>
      choose(side, seriesOf(chosen[side]).points[Number(event.target.value)]),
    );
  }
  find("search").addEventListener("input", search);
  find("search").addEventListener("keydown", (event) => {
    const first = find("found").querySelector("a");
    if (event.key === "Enter" && first) location.hash = first.getAttribute("href");
  });
  for (const id of ["crossed", "small", "order", "counted"]) find(id).addEventListener("change", drawGroups);
  find("differing").addEventListener("change", drawItems);
  addEventListener("hashchange", () => {
    const which = asked();
    if (which !== null) show(which, true);
  });
  // Paper has no way to unfold.
  addEventListener("beforeprint", () =>
    document.querySelectorAll("details").forEach((one) => {
      one.open = true;
    }),
  );
  performance.mark("ready");
  document.documentElement.dataset.ready = "yes";
  // Megabytes, and nobody waits for them: the lists are drawn again once they are unpacked.
  pictures = await unpack(written("pictures"));
  if (Object.keys(pictures).length) drawItems();
}
start().catch((error) => {
  find("problem").hidden = false;
  find("problem").textContent =
    "This section could not be drawn (" +
    error.message +
    "). A browser of 2023 or later is expected; the tables beside this page hold the same values.";
  document.documentElement.dataset.ready = "failed";
  console.error(error);
});
