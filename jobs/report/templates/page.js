"use strict";
// Every text of the data reaches the page through textContent or setAttribute, never as markup.
(function () {
  const SVG = "http://www.w3.org/2000/svg";
  const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
  const VALUE = new Map(Array.from(DIGITS, (digit, value) => [digit, value]));
  const PANEL = { width: 440, height: 320, left: 58, right: 14, top: 30, bottom: 46 };
  const SIDES = ["a", "b"];
  const find = (id) => document.getElementById(id);
  let head, items, block, number = 0, order = [], chosen = { a: 0, b: 0 };

  function make(name, attributes, ...children) {
    const isDrawn = /^(svg|g|line|circle|rect|path|text|title|polyline)$/.test(name);
    const element = isDrawn ? document.createElementNS(SVG, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }
  async function unpack(id) {
    const bytes = Uint8Array.from(atob(find("data-" + id).textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }
  function numbers(text, width) {
    const values = [];
    for (let at = 0; at < text.length; at += width) {
      let value = 0;
      for (let place = 0; place < width; place++) value = value * 64 + VALUE.get(text[at + place]);
      values.push(value);
    }
    return values;
  }

  // Wording: as the page's Python side writes numbers.
  const isMissing = (value) => value === null || value === undefined;
  const halfUp = (value, digits) => Math.sign(value) * Math.floor(Math.abs(value) * 10 ** digits + 0.5 + 1e-9) / 10 ** digits;
  function percent(share) {
    if (isMissing(share)) return "no value";
    const value = 100 * share, whole = halfUp(value, 0);
    return (value > 0 && value < 9.95 && Math.abs(value - whole) > 0.05 ? halfUp(value, 1).toFixed(1) : whole) + "%";
  }
  function points(gap) {
    if (isMissing(gap)) return "no value";
    const value = halfUp(100 * gap, 1);
    return (value > 0 ? "+" : value < 0 ? "\u2212" : "") + Math.abs(value).toFixed(1);
  }
  const significant = (value) => isMissing(value) ? "no value" : value === 0 ? "0" : Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
  const fraction = (value) => isMissing(value) ? "no value" : value === 1 ? "100%" : (100 * value).toFixed(Math.abs(value - 1) < 0.01 ? 2 : 1) + "%";
  const seriesName = (one) => one.method + (one.target ? " (" + one.target + ")" : "");
  const seriesOf = (point) => block.series.find((one) => one.points.includes(point));
  function pointName(point) {
    const one = seriesOf(point), value = block.points[point].v;
    return isMissing(value) ? one.method : one.method + ", " + (one.parameter || "parameter") + " = " + significant(value);
  }
  const isFull = (point) => head.fulfilled.includes(block.points[point].s);

  // Marks: one shape and one colour a method, so that neither alone must tell them apart.
  function shape(kind, x, y, r) {
    const path = { D: [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]], s: [[-1, -1], [1, -1], [1, 1], [-1, 1]], "^": [[0, -1.2], [1.15, 0.9], [-1.15, 0.9]], v: [[0, 1.2], [1.15, -0.9], [-1.15, -0.9]],
      P: [[-.4, -1.2], [.4, -1.2], [.4, -.4], [1.2, -.4], [1.2, .4], [.4, .4], [.4, 1.2], [-.4, 1.2], [-.4, .4], [-1.2, .4], [-1.2, -.4], [-.4, -.4]],
      X: [[-1.1, -.5], [-.5, -1.1], [0, -.6], [.5, -1.1], [1.1, -.5], [.6, 0], [1.1, .5], [.5, 1.1], [0, .6], [-.5, 1.1], [-1.1, .5], [-.6, 0]], "<": [[-1.2, 0], [.9, -1.15], [.9, 1.15]] }[kind];
    if (!path) return make("circle", { cx: x, cy: y, r: r });
    return make("path", { d: "M" + path.map(([dx, dy]) => (x + r * dx).toFixed(1) + " " + (y + r * dy).toFixed(1)).join("L") + "Z" });
  }
  function mark(one, x, y, r, full) {
    const [colour, kind] = head.styles[one.method];
    const drawn = shape(kind, x, y, r);
    drawn.setAttribute("fill", full ? colour : "#fff");
    drawn.setAttribute("stroke", colour);
    drawn.setAttribute("stroke-width", full ? 0.5 : 1.4);
    return drawn;
  }
  function ticks(low, high, about) {
    const rough = (high - low) / about, power = 10 ** Math.floor(Math.log10(rough));
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
    const unmet = block.series.map((one) => {
      const counts = new Map();
      for (const point of one.points) if (!isFull(point)) counts.set(block.points[point].s, (counts.get(block.points[point].s) || 0) + 1);
      return Array.from(counts, ([status, count]) => seriesName(one) + ": " + count + " " + status).join("; ");
    }).filter(Boolean);
    find("unmet").textContent = unmet.length ? "Did not do what was asked (hollow, or without items): " + unmet.join("; ") + "." : "";
  }
  function drawPanel(name, which) {
    const { width, height, left, right, top, bottom } = PANEL;
    const svg = make("svg", { viewBox: "0 0 " + width + " " + height, role: "img", "data-class": which });
    svg.append(make("text", { x: left, y: 18, class: "name" }, name));
    const shown = [], reasons = new Map();
    for (const one of block.series) for (const at of one.points) {
      const point = block.points[at], x = (point.mpr_fraction || [])[which], y = point.similarity_fraction;
      if (isMissing(x) || isMissing(y)) { const why = (point.why || [])[which] || "no value"; reasons.set(why, (reasons.get(why) || 0) + 1); }
      else shown.push({ one, at, x, y });
    }
    const missing = Array.from(reasons, ([why, count]) => count + (count === 1 ? " selection: " : " selections: ") + why).join("; ");
    if (!shown.length) {
      svg.setAttribute("viewBox", "0 0 " + width + " 80");
      svg.setAttribute("aria-label", name + ": no curve. " + missing);
      svg.append(make("text", { x: left, y: 50 }, missing || "no selections"));
      return svg;
    }
    const floor = Math.min(block.floors[which], 1), reach = Math.max(1, ...shown.map((one) => one.x)) * 1.04;
    const ceiling = Math.max(1, ...shown.map((one) => one.y)), margin = 0.05 * Math.max(ceiling - floor, 1e-4);
    const low = floor - margin, high = ceiling + margin;
    const across = (x) => left + (width - left - right) * x / reach;
    const up = (y) => height - bottom - (height - top - bottom) * (Math.max(y, floor) - low) / (high - low);
    const [xs, xDigits] = ticks(0, 100 * reach, 5), [ys, yDigits] = ticks(100 * low, 100 * high, 5);
    for (const x of xs) svg.append(make("line", { x1: across(x / 100), x2: across(x / 100), y1: top, y2: height - bottom, class: "grid" }), make("text", { x: across(x / 100), y: height - bottom + 16, "text-anchor": "middle" }, x.toFixed(Math.max(0, xDigits)) + "%"));
    for (const y of ys) if (y / 100 >= floor - 1e-12) svg.append(make("line", { x1: left, x2: width - right, y1: up(y / 100), y2: up(y / 100), class: "grid" }), make("text", { x: left - 6, y: up(y / 100) + 4, "text-anchor": "end" }, Number(y.toFixed(6)) + "%"));
    svg.append(make("text", { x: (left + width - right) / 2, y: height - 10, "text-anchor": "middle" }, "MPR, fraction of top-k\u2019s"));
    svg.append(make("text", { transform: "translate(14 " + (top + height - bottom) / 2 + ") rotate(-90)", "text-anchor": "middle" }, "similarity, fraction of top-k\u2019s"));
    for (const one of block.series) {
      const line = shown.filter((place) => place.one === one && isFull(place.at) && place.y >= floor);
      if (line.length > 1) svg.append(make("polyline", { points: line.map((place) => across(place.x).toFixed(1) + "," + up(place.y).toFixed(1)).join(" "), fill: "none", stroke: head.styles[one.method][0], "stroke-width": 1.2, opacity: 0.5 }));
    }
    let below = 0;
    const best = new Map();
    for (const { one, at, x, y } of shown) {
      const drawn = mark(one, across(x), up(y), one.method === "top_k" ? 5 : 3.6, isFull(at));
      drawn.classList.add("mark");
      drawn.append(make("title", {}, pointName(at) + ": MPR " + fraction(x) + ", similarity " + fraction(y) + " of top-k\u2019s, " + block.points[at].s));
      drawn.addEventListener("click", () => choose("b", at));
      if (y < floor) { below++; drawn.setAttribute("opacity", 0.45); }
      svg.append(drawn);
      if (isFull(at) && (!best.has(one) || x < best.get(one).x)) best.set(one, { x, y });
    }
    if (below) svg.append(make("text", { x: width - right, y: 18, "text-anchor": "end" }, below + " lie below the axis, pale at its edge"));
    if (missing) svg.append(make("text", { x: width - right, y: height - bottom - 6, "text-anchor": "end" }, missing));
    const summary = Array.from(best, ([one, place]) => seriesName(one) + " reaches " + fraction(place.x) + " of the MPR at " + fraction(place.y) + " of the similarity");
    svg.setAttribute("aria-label", "Trade-off under class " + name + ". " + summary.join("; ") + ".");
    const rings = make("g", { class: "rings", "pointer-events": "none" });
    svg.append(rings);
    svg.ring = () => {
      rings.replaceChildren();
      for (const side of SIDES) {
        const place = shown.find((one) => one.at === chosen[side]);
        if (!place) continue;
        const x = across(place.x), y = up(place.y);
        rings.append(make("circle", { cx: x, cy: y, r: side === "a" ? 8 : 10, class: "ring " + side }), make("text", { x: x + (side === "a" ? 11 : -11), y: y + (side === "a" ? -8 : 16), class: "letter " + side, "text-anchor": side === "a" && x < width - 40 ? "start" : "end" }, side.toUpperCase()));
      }
    };
    return svg;
  }

  function readout(side) {
    const at = chosen[side], point = block.points[at], one = seriesOf(at), place = one.points.indexOf(at), slider = find("point-" + side);
    find("method-" + side).value = block.series.indexOf(one);
    slider.max = one.points.length - 1;
    slider.value = place;
    slider.disabled = one.points.length < 2;
    slider.setAttribute("aria-valuetext", pointName(at) + ", " + point.s);
    const rows = head.classes.map((name, which) => {
      const low = (point.mpr_low || [])[which], high = (point.mpr_high || [])[which];
      const value = significant((point.mpr || [])[which]) + (isMissing(low) || isMissing(high) ? "" : " (" + significant(low) + " to " + significant(high) + ")");
      return make("tr", {}, make("td", {}, name), make("td", { class: "n" }, value), make("td", { class: "n" }, significant((point.chi || [])[which])), make("td", { class: "n" }, fraction((point.mpr_fraction || [])[which])));
    });
    const headings = ["Class", "MPR", "chi", "of top-k\u2019s"].map((text, i) => make("th", i ? { class: "n" } : {}, text));
    const said = [make("p", {}, make("strong", {}, pointName(at)), ", " + point.s + (one.points.length > 1 ? " (point " + (place + 1) + " of " + one.points.length + ")" : ""))];
    said.push(make("p", {}, "Similarity " + significant(point.similarity) + ", " + fraction(point.similarity_fraction) + " of top-k\u2019s" + (isMissing(point.gap) ? "" : "; within " + (100 * point.gap).toFixed(2) + "% of the proven bound") + (isMissing(point.precision) ? "" : "; precision " + percent(point.precision)) + "."));
    if (!isMissing(point.rho_min)) said.push(make("p", { class: "note" }, "No selection exists below rho_min = " + significant(point.rho_min) + "."));
    if (point.n) said.push(make("p", { class: "note" }, point.n));
    find("read-" + side).replaceChildren(...said, make("table", {}, make("thead", {}, make("tr", {}, ...headings)), make("tbody", {}, ...rows)));
  }

  function sharesOf(at) {
    const text = block.shares[at];
    return text ? numbers(text, block.group_width).map((value) => value / block.unit) : null;
  }
  function drawGroups() {
    const shares = { a: sharesOf(chosen.a), b: sharesOf(chosen.b) }, reference = block.reference_shares;
    const gap = (side, column) => shares[side] ? shares[side][column] - reference[column] : null;
    let columns = block.groups.map((_, column) => column).filter((column) => (find("crossed").checked || block.attributes[column] === 1) && (find("small").checked || reference[column] >= head.minimum));
    const by = find("order").value, name = (column) => head.groups[block.groups[column]];
    const compare = (one, other) => (name(one) < name(other) ? -1 : 1);
    columns.sort((one, other) => by === "name" ? compare(one, other) : Math.round(2000 * Math.abs(gap(by, other))) - Math.round(2000 * Math.abs(gap(by, one))) || gap(by, one) - gap(by, other) || compare(one, other));
    const largest = Math.max(0.05, ...columns.map((column) => Math.max(reference[column], shares.a ? shares.a[column] : 0, shares.b ? shares.b[column] : 0)));
    const end = Math.min(1, Math.ceil(largest * 20) / 20), x = (share) => (6 + 208 * share / end).toFixed(1);
    const body = columns.map((column) => {
      const bar = make("svg", { viewBox: "0 0 220 20", width: 220, height: 20, role: "img", "aria-label": "reference " + percent(reference[column]) + SIDES.map((side) => ", " + side.toUpperCase() + " " + percent(shares[side] && shares[side][column])).join("") });
      bar.append(make("line", { x1: 6, x2: 214, y1: 10, y2: 10, class: "rail" }), make("line", { x1: x(reference[column]), x2: x(reference[column]), y1: 2, y2: 18, class: "want" }));
      if (shares.a) bar.append(make("circle", { cx: x(shares.a[column]), cy: 10, r: 5, class: "a" }));
      if (shares.b) bar.append(make("rect", { x: (Number(x(shares.b[column])) - 3.5).toFixed(1), y: 6.5, width: 7, height: 7, class: "b", stroke: "#fff" }));
      const cells = SIDES.flatMap((side) => [make("td", { class: "n" }, percent(shares[side] && shares[side][column])), make("td", { class: "n strong" }, points(gap(side, column)))]);
      return make("tr", {}, make("td", {}, name(column)), make("td", { class: "n" }, percent(reference[column])), ...cells, make("td", {}, bar));
    });
    const key = make("svg", { viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true" }, make("circle", { cx: 6, cy: 6, r: 4.5, class: "a" }));
    const square = make("svg", { viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true" }, make("rect", { x: 2, y: 2, width: 8, height: 8, class: "b" }));
    const tick = make("svg", { viewBox: "0 0 6 12", width: 6, height: 12, "aria-hidden": "true" }, make("line", { x1: 3, x2: 3, y1: 0, y2: 12, class: "want" }));
    const headings = ["Group", "Reference", "A", "Gap A, points", "B", "Gap B, points"].map((text, i) => make("th", i ? { class: "n" } : {}, text));
    headings.push(make("th", {}, key, " A ", square, " B ", tick, " reference; 0 to " + percent(end)));
    find("groups").tHead.replaceChildren(make("tr", {}, ...headings));
    if (!block.groups.length) body.push(make("tr", {}, make("td", { colspan: 7 }, "No group shares were recorded for this query.")));
    find("groups").tBodies[0].replaceChildren(...body);
  }

  function drawItems() {
    const lists = {}, described = items.byDataset.get(block.dataset) || new Map();
    for (const side of SIDES) lists[side] = numbers(block.points[chosen[side]].i || "", block.width).map((local) => block.items[local]);
    const sets = { a: new Set(lists.a), b: new Set(lists.b) }, shared = lists.a.filter((item) => sets.b.has(item)).length;
    find("shared").textContent = shared + " of " + lists.a.length + " items of A are also in B.";
    for (const side of SIDES) {
      const other = side === "a" ? "b" : "a", entries = [];
      lists[side].forEach((item, place) => {
        const isOnly = !sets[other].has(item);
        if (!isOnly && find("differing").checked) return;
        const [, text, levels, image] = described.get(item) || [item, "", []];
        const entry = make("li", { value: place + 1 });
        if (isOnly) entry.append(make("span", { class: "only " + side }, "only in " + side.toUpperCase()), " ");
        entry.append(text || image || items.ids[item], " ", ...levels.map((level) => make("span", { class: "tag" }, items.levels[level])), make("span", { class: "id" }, items.ids[item]));
        entries.push(entry);
      });
      if (!lists[side].length) entries.push(make("li", {}, "No items: " + (block.points[chosen[side]].n || block.points[chosen[side]].s)));
      find("items-" + side).replaceChildren(...entries);
    }
  }

  function draw() {
    SIDES.forEach(readout);
    for (const panel of find("panels").children) if (panel.ring) panel.ring();
    drawGroups();
    drawItems();
  }
  function choose(side, point) { chosen[side] = point; draw(); }

  async function show(which, isAsked) {
    number = which;
    block = await unpack(which);
    if (number !== which) return;
    const top = block.series.find((one) => one.method === "top_k");
    chosen.a = top ? top.points[0] : 0;
    chosen.b = isMissing(block.default) ? block.points.length > 1 ? block.series[block.series.length - 1].points[0] : chosen.a : block.default;
    find("case").value = which;
    find("case-title").textContent = block.label;
    find("verdict").textContent = block.verdict || "No group shares were recorded for the top-k selection of this query, so no group can be named.";
    find("facts").textContent = [block.prompt ? "Prompt: \u201c" + block.prompt + "\u201d" : "", block.k + " items" + (isMissing(block.pool) ? "" : " from a pool of " + block.pool.toLocaleString("en")), "reference \u201c" + block.reference + "\u201d" + (isMissing(block.size) ? "" : ", effective size " + Math.round(block.size).toLocaleString("en"))].filter(Boolean).join("; ") + ".";
    // Where the worst group is a combination of attributes, the table must hold it.
    find("crossed").checked = Boolean(block.worst_is_crossed);
    for (const side of SIDES) find("method-" + side).replaceChildren(...block.series.map((one, place) => make("option", { value: place }, seriesName(one))));
    const at = order.indexOf(which);
    find("previous").disabled = at <= 0;
    find("next").disabled = at >= order.length - 1;
    drawPanels();
    draw();
    if (isAsked) { find("case-title").scrollIntoView(); find("case-title").focus({ preventScroll: true }); }
  }
  function asked() {
    const found = /^#case-(\d+)$/.exec(location.hash), count = find("case").options.length;
    return found && Number(found[1]) < count ? Number(found[1]) : null;
  }
  function turn(step) {
    const next = order[order.indexOf(number) + step];
    if (next !== undefined) { history.replaceState(null, "", "#case-" + next); show(next, false); }
  }

  async function start() {
    const count = find("case").options.length, worst = find("data-worst").textContent.split(" ").filter(Boolean).map(Number);
    order = worst.concat(Array.from({ length: count }, (_, which) => which).filter((which) => !worst.includes(which)));
    if (!count) throw new Error("the run holds no selections");
    head = await unpack("head");
    items = await unpack("items");
    items.byDataset = new Map(Object.entries(items.datasets).map(([name, list]) => [name, new Map(list.map((one) => [one[0], one]))]));
    find("explorer").hidden = false;
    await show(asked() ?? order[0], asked() !== null);
    find("case").addEventListener("change", (event) => { history.replaceState(null, "", "#case-" + event.target.value); show(Number(event.target.value), false); });
    find("previous").addEventListener("click", () => turn(-1));
    find("next").addEventListener("click", () => turn(1));
    for (const side of SIDES) {
      find("method-" + side).addEventListener("change", (event) => choose(side, block.series[Number(event.target.value)].points[0]));
      find("point-" + side).addEventListener("input", (event) => choose(side, seriesOf(chosen[side]).points[Number(event.target.value)]));
    }
    for (const id of ["crossed", "small", "order"]) find(id).addEventListener("change", drawGroups);
    find("differing").addEventListener("change", drawItems);
    addEventListener("hashchange", () => { const which = asked(); if (which !== null) show(which, true); });
    // Paper has no way to unfold.
    addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
    performance.mark("ready");
    document.documentElement.dataset.ready = "yes";
  }
  start().catch((error) => {
    find("problem").hidden = false;
    find("problem").textContent = "This section could not be drawn (" + error.message + "). A browser of 2023 or later is expected; the tables beside this page hold the same values.";
    document.documentElement.dataset.ready = "failed";
    console.error(error);
  });
})();
