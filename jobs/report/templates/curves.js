// The trade-off of every method: one panel per function class.
function ticks(low, high, about) {
  const rough = (high - low) / about,
    power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => power * factor >= rough - 1e-12);
  const found = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + 1e-9; value += step) found.push(value);
  return [found, Math.max(0, -Math.floor(Math.log10(step) + 1e-9) - 2)];
}

function drawPanels() {
  const panels = find("panels");
  panels.replaceChildren(...head.classes.map(drawPanel));
  const legend = block.series.map((one) => {
    const icon = make("svg", { viewBox: "0 0 14 14", width: 14, height: 14, "aria-hidden": "true" });
    icon.append(mark(one, 7, 7, 4.5, true));
    return make("span", {}, icon, " " + seriesName(one));
  });
  find("legend").replaceChildren(...legend);
  const unmet = block.series
    .map((one) => {
      const counts = new Map();
      for (const point of one.points)
        if (!isFull(point)) counts.set(block.points[point].s, (counts.get(block.points[point].s) || 0) + 1);
      return Array.from(counts, ([status, count]) => seriesName(one) + ": " + count + " " + status).join("; ");
    })
    .filter(Boolean);
  find("unmet").textContent = unmet.length
    ? "Missed what was asked for (hollow, or without items): " + unmet.join("; ") + "."
    : "";
}
function drawAxes(svg, { reach, low, high, floor, across, up }) {
  const { width, height, left, right, top, bottom } = PANEL;
  const [xs, xDigits] = ticks(0, 100 * reach, 5),
    [ys, yDigits] = ticks(100 * low, 100 * high, 5);
  for (const x of xs)
    svg.append(
      make("line", { x1: across(x / 100), x2: across(x / 100), y1: top, y2: height - bottom, class: "grid" }),
      make(
        "text",
        { x: across(x / 100), y: height - bottom + 16, "text-anchor": "middle" },
        x.toFixed(Math.max(0, xDigits)) + "%",
      ),
    );
  for (const y of ys)
    if (y / 100 >= floor - 1e-12)
      svg.append(
        make("line", { x1: left, x2: width - right, y1: up(y / 100), y2: up(y / 100), class: "grid" }),
        make("text", { x: left - 6, y: up(y / 100) + 4, "text-anchor": "end" }, Number(y.toFixed(6)) + "%"),
      );
  svg.append(
    make(
      "text",
      { x: (left + width - right) / 2, y: height - 10, "text-anchor": "middle" },
      "MPR, fraction of top-k\u2019s",
    ),
  );
  svg.append(
    make(
      "text",
      { transform: "translate(14 " + (top + height - bottom) / 2 + ") rotate(-90)", "text-anchor": "middle" },
      "similarity, fraction of top-k\u2019s",
    ),
  );
}
// What marks the two chosen selections on a panel, anew after each choice.
function ringDrawer(svg, shown, across, up) {
  const rings = make("g", { class: "rings", "pointer-events": "none" });
  svg.append(rings);
  return () => {
    rings.replaceChildren();
    for (const side of SIDES) {
      const place = shown.find((one) => one.at === chosen[side]);
      if (!place) continue;
      const x = across(place.x),
        y = up(place.y);
      rings.append(
        make("circle", { cx: x, cy: y, r: side === "a" ? 8 : 10, class: "ring " + side }),
        make(
          "text",
          {
            x: x + (side === "a" ? 11 : -11),
            y: y + (side === "a" ? -8 : 16),
            class: "letter " + side,
            "text-anchor": side === "a" && x < PANEL.width - 40 ? "start" : "end",
          },
          side.toUpperCase(),
        ),
      );
    }
  };
}
function drawPanel(name, which) {
  const { width, height, left, right, top, bottom } = PANEL;
  const svg = make("svg", { viewBox: "0 0 " + width + " " + height, role: "img", "data-class": which });
  svg.append(make("text", { x: left, y: 18, class: "name" }, name));
  const shown = [],
    reasons = new Map();
  for (const one of block.series)
    for (const at of one.points) {
      const point = block.points[at],
        x = (point.mpr_fraction || [])[which],
        y = point.similarity_fraction;
      if (isMissing(x) || isMissing(y)) {
        const why = (point.why || [])[which] || "no value";
        reasons.set(why, (reasons.get(why) || 0) + 1);
      } else shown.push({ one, at, x, y });
    }
  const missing = Array.from(
    reasons,
    ([why, count]) => count + (count === 1 ? " selection: " : " selections: ") + why,
  ).join("; ");
  if (!shown.length) {
    svg.setAttribute("viewBox", "0 0 " + width + " 80");
    svg.setAttribute("aria-label", name + ": no curve. " + missing);
    svg.append(make("text", { x: left, y: 50 }, missing || "no selections"));
    return svg;
  }
  const floor = Math.min(block.floors[which], 1),
    reach = Math.max(1, ...shown.map((one) => one.x)) * 1.04;
  const ceiling = Math.max(1, ...shown.map((one) => one.y)),
    margin = 0.05 * Math.max(ceiling - floor, 1e-4);
  const low = floor - margin,
    high = ceiling + margin;
  const across = (x) => left + ((width - left - right) * x) / reach;
  const up = (y) => height - bottom - ((height - top - bottom) * (Math.max(y, floor) - low)) / (high - low);
  const band = (block.bands || [])[which];
  if (!isMissing(band)) {
    const to = across(Math.min(band, reach));
    const lottery = make("rect", { x: left, y: top, width: to - left, height: height - top - bottom, class: "chance" });
    lottery.append(make("title", {}, "95% of random draws of " + block.k + " from the reference lie here"));
    svg.append(lottery);
  }
  drawAxes(svg, { reach, low, high, floor, across, up });
  for (const one of block.series) {
    const line = shown.filter((place) => place.one === one && isFull(place.at) && place.y >= floor);
    if (line.length > 1)
      svg.append(
        make("polyline", {
          points: line.map((place) => across(place.x).toFixed(1) + "," + up(place.y).toFixed(1)).join(" "),
          fill: "none",
          style: "stroke:" + inkOf(styleOf(one)[0]),
          "stroke-dasharray": styleOf(one)[2].join(" "),
          "stroke-width": 1.2,
          opacity: 0.5,
        }),
      );
  }
  let below = 0;
  const best = new Map();
  for (const { one, at, x, y } of shown) {
    const drawn = mark(one, across(x), up(y), one.method === "top_k" || one.method === "as_shown" ? 5 : 3.6, isFull(at));
    drawn.classList.add("mark");
    drawn.append(
      make(
        "title",
        {},
        pointName(at) +
          ": MPR " +
          fraction(x) +
          ", similarity " +
          fraction(y) +
          " of top-k\u2019s, " +
          block.points[at].s,
      ),
    );
    drawn.addEventListener("click", () => choose("b", at));
    if (y < floor) {
      below++;
      drawn.setAttribute("opacity", 0.45);
    }
    svg.append(drawn);
    if (isFull(at) && (!best.has(one) || x < best.get(one).x)) best.set(one, { x, y });
  }
  if (below)
    svg.append(
      make("text", { x: width - right, y: 18, "text-anchor": "end" }, below + " lie below the axis, pale at its edge"),
    );
  if (missing) svg.append(make("text", { x: width - right, y: height - bottom - 6, "text-anchor": "end" }, missing));
  const summary = Array.from(
    best,
    ([one, place]) =>
      seriesName(one) + " reaches " + fraction(place.x) + " of the MPR at " + fraction(place.y) + " of the similarity",
  );
  const chance = isMissing(band) ? "" : " A random " + block.k + " stays within " + fraction(band) + " of top-k\u2019s MPR.";
  svg.setAttribute("aria-label", "Trade-off under class " + name + ". " + summary.join("; ") + "." + chance);
  svg.ring = ringDrawer(svg, shown, across, up);
  return svg;
}
