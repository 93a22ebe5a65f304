// Marks: a colour for each method and a shape for each curve, so that no two curves look alike.
function shape(kind, x, y, r) {
  const path = {
    D: [
      [0, -1.25],
      [1.25, 0],
      [0, 1.25],
      [-1.25, 0],
    ],
    s: [
      [-1, -1],
      [1, -1],
      [1, 1],
      [-1, 1],
    ],
    "^": [
      [0, -1.2],
      [1.15, 0.9],
      [-1.15, 0.9],
    ],
    v: [
      [0, 1.2],
      [1.15, -0.9],
      [-1.15, -0.9],
    ],
    P: [
      [-0.4, -1.2],
      [0.4, -1.2],
      [0.4, -0.4],
      [1.2, -0.4],
      [1.2, 0.4],
      [0.4, 0.4],
      [0.4, 1.2],
      [-0.4, 1.2],
      [-0.4, 0.4],
      [-1.2, 0.4],
      [-1.2, -0.4],
      [-0.4, -0.4],
    ],
    X: [
      [-1.1, -0.5],
      [-0.5, -1.1],
      [0, -0.6],
      [0.5, -1.1],
      [1.1, -0.5],
      [0.6, 0],
      [1.1, 0.5],
      [0.5, 1.1],
      [0, 0.6],
      [-0.5, 1.1],
      [-1.1, 0.5],
      [-0.6, 0],
    ],
    "<": [
      [-1.2, 0],
      [0.9, -1.15],
      [0.9, 1.15],
    ],
  }[kind];
  if (!path) return make("circle", { cx: x, cy: y, r: r });
  return make("path", {
    d: "M" + path.map(([dx, dy]) => (x + r * dx).toFixed(1) + " " + (y + r * dy).toFixed(1)).join("L") + "Z",
  });
}
// Black is the colour of what is audited, and of no use on a dark page.
const inkOf = (colour) => (colour === "#000000" ? "var(--ink)" : colour);
function mark(one, x, y, r, full) {
  const [styled, kind] = styleOf(one),
    colour = inkOf(styled);
  const drawn = shape(kind, x, y, r);
  drawn.style.fill = full ? colour : "var(--paper)";
  drawn.style.stroke = colour;
  drawn.setAttribute("stroke-width", full ? 0.5 : 1.4);
  return drawn;
}
