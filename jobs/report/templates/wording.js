// Wording: as the page's Python side writes numbers.
const isMissing = (value) => value === null || value === undefined;
const halfUp = (value, digits) =>
  (Math.sign(value) * Math.floor(Math.abs(value) * 10 ** digits + 0.5 + 1e-9)) / 10 ** digits;
function percent(share) {
  if (isMissing(share)) return "no value";
  const value = 100 * share,
    whole = halfUp(value, 0);
  return (value > 0 && value < 9.95 && Math.abs(value - whole) > 0.05 ? halfUp(value, 1).toFixed(1) : whole) + "%";
}
function points(gap) {
  if (isMissing(gap)) return "no value";
  const value = halfUp(100 * gap, 1);
  return (value > 0 ? "+" : value < 0 ? "\u2212" : "") + Math.abs(value).toFixed(1);
}
const significant = (value) =>
  isMissing(value)
    ? "no value"
    : value === 0
      ? "0"
      : Math.abs(value) >= 1000
        ? Math.round(value).toLocaleString("en")
        : String(Number(value.toPrecision(3)));
const fraction = (value) =>
  isMissing(value)
    ? "no value"
    : value === 1
      ? "100%"
      : (100 * value).toFixed(Math.abs(value - 1) < 0.01 ? 2 : 1) + "%";
const seriesName = (one) => one.method + (one.target ? " (" + one.target + ")" : "");
// Colour, shape and dashes of a curve.
const styleOf = (one) => head.styles[seriesName(one)];
const seriesOf = (point) => block.series.find((one) => one.points.includes(point));
function pointName(point) {
  const one = seriesOf(point),
    value = block.points[point].v;
  return isMissing(value)
    ? one.method
    : one.method + ", " + (one.parameter || "parameter") + " = " + significant(value);
}
const isFull = (point) => head.fulfilled.includes(block.points[point].s);
