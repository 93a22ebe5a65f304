// State of the page, and how its packed blocks and elements come to be.
// Every text of the data reaches the page through append or setAttribute, never as markup.
const SVG = "http://www.w3.org/2000/svg";
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
const VALUE = new Map(Array.from(DIGITS, (digit, value) => [digit, value]));
const PANEL = { width: 440, height: 320, left: 58, right: 14, top: 30, bottom: 46 };
const SIDES = ["a", "b"];
const find = (id) => document.getElementById(id);
let head,
  said,
  items,
  pictures = {},
  block,
  number = 0,
  order = [],
  chosen = { a: 0, b: 0 };

function make(name, attributes, ...children) {
  const isDrawn = /^(svg|g|line|circle|rect|path|text|title|polyline)$/.test(name);
  const element = isDrawn ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  element.append(...children);
  return element;
}
const written = (id) => find("data-" + id).textContent;
// A case's block, and the items and groups that its numbers refer to.
async function unpackCase(which) {
  const [items, groups, packed] = written(which).split(".");
  const found = await unpack(packed);
  found.items = numbers(items, head.item_width);
  found.groups = numbers(groups, head.group_width);
  return found;
}
async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
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
