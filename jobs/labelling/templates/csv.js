// CSV as RFC 4180 has it.
const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const csvOf = (rows) => rows.map((row) => row.map((one) => quoted(String(one))).join(",") + "\r\n").join("");

function rowsOf(text) {
  const rows = [];
  let row = [],
    field = "",
    isQuoted = false;
  const end = () => {
    row.push(field);
    field = "";
  };
  for (let at = text.charCodeAt(0) === 0xfeff ? 1 : 0; at < text.length; at++) {
    const one = text[at];
    if (isQuoted) {
      if (one !== '"') field += one;
      else if (text[at + 1] === '"') field += text[++at];
      else isQuoted = false;
    } else if (one === '"' && field === "") isQuoted = true;
    else if (one === ",") end();
    else if (one === "\n" || one === "\r") {
      if (one === "\r" && text[at + 1] === "\n") at++;
      end();
      rows.push(row);
      row = [];
    } else field += one;
  }
  if (field !== "" || row.length) {
    end();
    rows.push(row);
  }
  return rows.filter((one) => one.length > 1 || one[0] !== "");
}
