// The two selections side by side: what is known of them, their groups, their items.
// Whether a lottery shows as much, and with which probability.
const isWithin = (point, which) =>
  !isMissing((point.p_chance || [])[which]) && point.p_chance[which] > 0.05;
function chanceOf(point, which) {
  const p = (point.p_chance || [])[which];
  if (isMissing(p)) return "";
  return (p > 0.05 ? "within" : "beyond") + ", p = " + (p < 0.0001 ? "<0.0001" : significant(p));
}
function readout(side) {
  const at = chosen[side],
    point = block.points[at],
    one = seriesOf(at),
    place = one.points.indexOf(at),
    slider = find("point-" + side);
  find("method-" + side).value = block.series.indexOf(one);
  slider.max = one.points.length - 1;
  slider.value = place;
  slider.disabled = one.points.length < 2;
  slider.setAttribute("aria-valuetext", pointName(at) + ", " + point.s);
  const rows = head.classes.map((name, which) => {
    const low = (point.mpr_low || [])[which],
      high = (point.mpr_high || [])[which];
    const value =
      significant((point.mpr || [])[which]) +
      (isMissing(low) || isMissing(high) ? "" : " (" + significant(low) + " to " + significant(high) + ")");
    return make(
      "tr",
      {},
      make("td", {}, name),
      make("td", { class: "n interval" }, value),
      make("td", { class: "n" + (isWithin(point, which) ? " within" : "") }, chanceOf(point, which)),
      make("td", { class: "n" }, significant((point.chi || [])[which])),
      make("td", { class: "n" }, fraction((point.mpr_fraction || [])[which])),
    );
  });
  const headings = ["Class", "MPR", "chance", "chi", "of top-k\u2019s"].map((text, i) =>
    make("th", i ? { class: "n" } : {}, text),
  );
  const said = [
    make(
      "p",
      {},
      make("strong", {}, pointName(at)),
      ", " + point.s + (one.points.length > 1 ? " (point " + (place + 1) + " of " + one.points.length + ")" : ""),
    ),
  ];
  said.push(
    make(
      "p",
      {},
      "Similarity " +
        significant(point.similarity) +
        (isMissing(point.similarity_fraction)
          ? ""
          : ", " + fraction(point.similarity_fraction) + " of top-k\u2019s") +
        (isMissing(point.gap) ? "" : "; within " + (100 * point.gap).toFixed(2) + "% of the proven bound") +
        (isMissing(point.precision) ? "" : "; precision " + percent(point.precision)) +
        ".",
    ),
  );
  if (!isMissing(point.rho_min) && point.rho_min > 0)
    said.push(make("p", { class: "note" }, "No selection exists below rho_min = " + significant(point.rho_min) + "."));
  if (point.n) said.push(make("p", { class: "note" }, point.n));
  find("read-" + side).replaceChildren(
    ...said,
    make("table", {}, make("thead", {}, make("tr", {}, ...headings)), make("tbody", {}, ...rows)),
  );
}

// Of all items of a selection, of the first few in their order, or of the attention to all.
function sharesOf(at) {
  const counted = find("counted").value,
    first = Number(counted);
  if (counted === "attention") return sharesFrom((block.exposure || [])[at], 2, block.exposure_unit);
  if (!first) return sharesFrom(block.shares[at], block.group_width, block.unit);
  return sharesFrom((block.first[first] || [])[at], 1, Math.min(first, block.k));
}
const sharesFrom = (text, width, unit) => (text ? numbers(text, width).map((value) => value / unit) : null);
// By the true labels, where those that are known may be wrong: share, and the ends of its interval, of each group.
function correctedOf(at) {
  if (!block.corrected || Number(find("counted").value)) return null;
  const ends = block.corrected.map((lines) => sharesFrom(lines[at], block.corrected_width, block.corrected_unit));
  return ends[0] && ((column) => percent(ends[0][column]) + " (" + percent(ends[1][column]) + " to " + percent(ends[2][column]) + ")");
}
const trueLabels = (text) => (text ? [make("br", {}), make("span", { class: "note" }, "true labels " + text)] : []);
function drawGroups() {
  const shares = { a: sharesOf(chosen.a), b: sharesOf(chosen.b) },
    reference = block.reference_shares,
    corrected = { a: correctedOf(chosen.a), b: correctedOf(chosen.b) };
  const gap = (side, column) => (shares[side] ? shares[side][column] - reference[column] : null);
  let columns = block.groups
    .map((_, column) => column)
    .filter(
      (column) =>
        (find("crossed").checked || block.attributes[column] === 1) &&
        (find("small").checked || reference[column] >= head.minimum),
    );
  const by = find("order").value,
    name = (column) => head.groups[block.groups[column]];
  const compare = (one, other) => (name(one) < name(other) ? -1 : 1);
  columns.sort((one, other) =>
    by === "name"
      ? compare(one, other)
      : Math.round(2000 * Math.abs(gap(by, other))) - Math.round(2000 * Math.abs(gap(by, one))) ||
        gap(by, one) - gap(by, other) ||
        compare(one, other),
  );
  const largest = Math.max(
    0.05,
    ...columns.map((column) =>
      Math.max(reference[column], shares.a ? shares.a[column] : 0, shares.b ? shares.b[column] : 0),
    ),
  );
  // Of fewer items chance shows larger gaps.
  const band = find("counted").value ? null : block.chance_gap;
  const end = Math.min(1, Math.ceil(largest * 20) / 20),
    x = (share) => (6 + (208 * share) / end).toFixed(1);
  const body = columns.map((column) => {
    const bar = make("svg", {
      viewBox: "0 0 220 20",
      width: 220,
      height: 20,
      role: "img",
      "aria-label":
        "reference " +
        percent(reference[column]) +
        SIDES.map((side) => ", " + side.toUpperCase() + " " + percent(shares[side] && shares[side][column])).join(""),
    });
    if (!isMissing(band)) {
      const from = Number(x(Math.max(reference[column] - band, 0))),
        to = Number(x(Math.min(reference[column] + band, end)));
      bar.append(make("rect", { x: from, y: 3, width: (to - from).toFixed(1), height: 14, class: "chance" }));
    }
    bar.append(
      make("line", { x1: 6, x2: 214, y1: 10, y2: 10, class: "rail" }),
      make("line", { x1: x(reference[column]), x2: x(reference[column]), y1: 2, y2: 18, class: "want" }),
    );
    if (shares.a) bar.append(make("circle", { cx: x(shares.a[column]), cy: 10, r: 5, class: "a" }));
    if (shares.b)
      bar.append(
        make("rect", {
          x: (Number(x(shares.b[column])) - 3.5).toFixed(1),
          y: 6.5,
          width: 7,
          height: 7,
          class: "b",
          style: "stroke:var(--paper)",
        }),
      );
    const isLuck = (side) => !isMissing(band) && !isMissing(gap(side, column)) && Math.abs(gap(side, column)) <= band;
    const cells = SIDES.flatMap((side) => {
      const letter = side.toUpperCase(),
        shown = percent(shares[side] && shares[side][column]),
        kind = isLuck(side) ? "n within" : "n strong";
      return [
        make("td", { class: "n", "data-label": letter }, shown, ...trueLabels(corrected[side] && corrected[side](column))),
        make(
          "td",
          { class: kind, "data-label": "Gap " + letter + ", points" },
          points(gap(side, column)),
          make("span", { class: "sr" }, isLuck(side) ? " within chance" : ""),
        ),
      ];
    });
    return make(
      "tr",
      {},
      make("td", { "data-label": "Group" }, name(column)),
      make("td", { class: "n", "data-label": "Reference \u201c" + block.reference + "\u201d" }, percent(reference[column]), ...trueLabels(block.corrected && percent(block.corrected_reference[column]))),
      ...cells,
      make("td", {}, bar),
    );
  });
  const key = make(
    "svg",
    { viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true" },
    make("circle", { cx: 6, cy: 6, r: 4.5, class: "a" }),
  );
  const square = make(
    "svg",
    { viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true" },
    make("rect", { x: 2, y: 2, width: 8, height: 8, class: "b" }),
  );
  const tick = make(
    "svg",
    { viewBox: "0 0 6 12", width: 6, height: 12, "aria-hidden": "true" },
    make("line", { x1: 3, x2: 3, y1: 0, y2: 12, class: "want" }),
  );
  const lottery = make(
    "svg",
    { viewBox: "0 0 14 12", width: 14, height: 12, "aria-hidden": "true" },
    make("rect", { x: 0, y: 1, width: 14, height: 10, class: "chance" }),
  );
  const headings = ["Group", "Reference \u201c" + block.reference + "\u201d", "A", "Gap A, points", "B", "Gap B, points"].map((text, i) =>
    make("th", i ? { class: "n" } : {}, text),
  );
  headings.push(make("th", {}, key, " A ", square, " B ", tick, " reference ", lottery, " chance; 0 to " + percent(end)));
  find("luck").textContent = isMissing(band)
    ? ""
    : "The largest gap of a random " +
      block.k +
      " stays within " +
      points(block.chance_gap).replace("+", "") +
      " points in 95 of 100 draws; gaps within it are grey.";
  find("groups").tHead.replaceChildren(make("tr", {}, ...headings));
  if (!block.groups.length)
    body.push(make("tr", {}, make("td", { colspan: 7 }, "No group shares were recorded for this query.")));
  find("groups").tBodies[0].replaceChildren(...body);
}

function drawItems() {
  const lists = {},
    described = items.byDataset.get(block.dataset) || new Map();
  for (const side of SIDES)
    lists[side] = numbers(block.points[chosen[side]].i || "", block.width).map((local) => block.items[local]);
  const isAsked = (term) =>
      !isMissing(term) && items.terms[term].trim().toLowerCase() === block.query.trim().toLowerCase(),
    hasTerms = [...lists.a, ...lists.b].some((item) => isAsked((described.get(item) || [])[4]));
  const sets = { a: new Set(lists.a), b: new Set(lists.b) },
    shared = lists.a.filter((item) => sets.b.has(item)).length;
  find("shared").textContent = shared + " of " + lists.a.length + " items of A are also in B.";
  for (const side of SIDES) {
    const other = side === "a" ? "b" : "a",
      entries = [];
    lists[side].forEach((item, place) => {
      const isOnly = !sets[other].has(item);
      if (!isOnly && find("differing").checked) return;
      const [, text, levels, image, term] = described.get(item) || [item, "", []];
      const entry = make("li", { value: place + 1 });
      const picture = (pictures[block.dataset] || {})[item];
      if (picture)
        entry.append(
          make("img", {
            src: "data:image/webp;base64," + picture,
            alt: text || levels.map((level) => items.levels[level]).join(", ") || items.ids[item],
            class: "thumbnail",
          }),
        );
      if (isOnly) entry.append(make("span", { class: "only " + side }, "only in " + side.toUpperCase()), " ");
      entry.append(
        // A picture needs no name of its file, and an id stands once.
        text || (picture || image === items.ids[item] ? "" : image || ""),
        " ",
        ...levels.map((level) => make("span", { class: "tag" }, items.levels[level])),
        make("span", { class: "id" }, items.ids[item]),
      );
      // Who comes in and is known to be something else.
      if (isOnly && hasTerms && !isAsked(term))
        entry.append(
          make(
            "span",
            { class: "tag unsupported" },
            isMissing(term) ? "no known term" : "not " + block.query + ": " + items.terms[term],
          ),
        );
      entries.push(entry);
    });
    if (!lists[side].length)
      entries.push(make("li", {}, "No items: " + (block.points[chosen[side]].n || block.points[chosen[side]].s)));
    find("items-" + side).replaceChildren(...entries);
  }
}
