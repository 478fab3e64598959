// Reads a csv file as kanon_lab/data/delimited.py does and counts its classes as kanon_lab/classes does. It runs in a worker
// where there is one; `dsvFormat` is d3's. What it gives are names of columns and counts: never a cell.
class Fault extends Error {
  constructor(key, parts = {}) {
    super(key);
    Object.assign(this, { key, parts });
  }
}
const BLANK = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";
const AROUND = new RegExp(`^${BLANK}|${BLANK}$`, "g");
const SEPARATORS = [",", ";", "\t", "|"];
const WHOLE = /^(0|-?[1-9]\d{0,17})$/;
const DECIMAL = /^-?((0|[1-9]\d{0,14})(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
const DECIMAL_COMMA = /^-?(0|[1-9]\d{0,14})(,\d+)?$/;
const THOUSANDS = /^-?[1-9]\d{0,2}(\.\d{3})+$/;
const MOST_BANDS = 10000, LONGEST = 20, STEP = 2 ** 15;

const inner = (code) => code > 32 && code < 127;
const trimmed = (text) =>
  text === "" || (inner(text.charCodeAt(0)) && inner(text.charCodeAt(text.length - 1))) ? text : text.replace(AROUND, "");
const rowAt = (text, place) => text.slice(0, place).split("\n").length;
const begins = (bytes, ...marks) => marks.some((mark) => [...mark].every((sign, i) => bytes[i] === sign.charCodeAt(0)));

function decoded(bytes) {
  const read = (name) => {
    try {
      return new TextDecoder(name, { fatal: true }).decode(bytes);
    } catch {
      return null;
    }
  };
  if (begins(bytes, "PK\x03\x04", "\xd0\xcf\x11\xe0", "PAR1", "$FL2", "$FL3", "<stata_dta>", "\x1f\x8b", "%PDF")) throw new Fault("not_csv");
  const utf16 = begins(bytes, "\xff\xfe") ? "utf-16le" : begins(bytes, "\xfe\xff") ? "utf-16be" : null;
  if (begins(bytes, "\xff\xfe\0\0", "\0\0\xfe\xff")) throw new Fault("encoding", { row: 1 });
  let encoding = utf16 ?? "utf-8";
  let text = read(encoding);
  if (text === null) {
    const loose = new TextDecoder(encoding).decode(bytes);
    const row = rowAt(loose, loose.indexOf("\ufffd"));
    if (utf16 || begins(bytes, "\xef\xbb\xbf")) throw new Fault("encoding", { row });
    const high = bytes.filter((byte) => byte > 127);
    if (2 * new TextEncoder().encode(loose.replace(/[\0-\x7f\ufffd]/g, "")).length >= high.length) throw new Fault("encoding", { row });
    encoding = "windows-1252";
    const signs = new TextDecoder(encoding).decode(high);
    const sound = /[\x80-\x9f]/.test(signs) ? 0 : (signs.match(/[\p{L}ªº°€¿¡·«»–—‘’“”…]/gu) ?? []).length;
    if (2 * sound < high.length) throw new Fault("encoding", { row });
    text = read(encoding);
  }
  const zero = text.indexOf("\0");
  if (zero >= 0) throw new Fault("zero", { row: rowAt(text, zero) });
  return [text, encoding];
}

function separatorOf(text) {
  const lines = text.slice(0, 2 ** 16).split(/\r\n|[\n-\r\x1c-\x1e\x85\u2028\u2029]/);
  if (text.length > 2 ** 16 && lines.length > 1) lines.pop();
  const rows = lines.filter((line) => trimmed(line)).slice(0, 20).map((line) => line.replace(/"[^"]*"/g, ""));
  const often = (row, sign) => row.split(sign).length - 1;
  const even = (sign) => rows[0].includes(sign) && rows.every((row) => often(row, sign) === often(rows[0], sign));
  const found = SEPARATORS.filter((sign) => rows[0].includes(sign));
  const rank = (sign) => [+even(sign), often(rows[0], sign), +(sign !== ",")];
  const above = (a, b) => a.map((value, i) => value - b[i]).find(Boolean) > 0;
  const best = found.reduce((one, other) => (above(rank(other), rank(one)) ? other : one), found[0] ?? ",");
  return { best, others: found.filter((sign) => sign !== best && even(sign)), odd: (sign) => rows.length > 1 && even(sign), found };
}

// A stray quotation mark would hide the rows between it and the next one. Says whether some cell holds several lines.
function checkQuotes(text, separator) {
  const sign = `\\${separator}`;
  const cell = `(?<![^${sign}\\r\\n])"[^"]*(?:""[^"]*)*"`;
  const part = new RegExp(`[^"]+|(${cell})(?![^${sign}\\r\\n])|(?<=[^${sign}\\r\\n])"`, "y");
  let lines = false, taken = 0, end = 0;
  for (let found; (found = part.exec(text)); end = part.lastIndex) {
    if (!found[1] || !/[\r\n]/.test(found[1])) continue;
    lines = true;
    taken += found[1].split(/\r\n|\r|\n/).length - 1;
  }
  if (end === text.length) return lines;
  const closed = new RegExp(cell, "y");
  closed.lastIndex = end;
  throw new Fault(closed.test(text) ? "after_quote" : "open_quote", { row: text.slice(0, end).split(/\r\n|\r|\n/).length - taken });
}

function headed(cells) {
  const names = cells.map((name) => trimmed(name).normalize("NFC"));
  const named = names.filter(Boolean);
  // A file without names has data there, and names are shown.
  const numbers = named.filter((name) => /^[-+]?[\d.,]+$/.test(name)).length;
  if (!named.length || 2 * numbers > named.length) throw new Fault("no_names");
  const twice = names.findIndex((name, i) => name && names.indexOf(name) < i);
  if (twice >= 0) throw new Fault("same_name", { one: names.indexOf(names[twice]) + 1, other: twice + 1 });
  return names;
}

// The table of a file: for each column the code of each row's cell, and the code of each different cell. `tell` hears how far.
function readTable(bytes, tell = () => {}) {
  if (!bytes.length) throw new Fault("empty");
  let [text, encoding] = decoded(bytes);
  const declared = /^"?sep=([^\w\s"]|[\t ])"?[ \t]*(?:\r\n|\r|\n)/i.exec(text);
  if (declared) text = text.slice(declared[0].length);
  if (!trimmed(/^[^\r\n]*/.exec(text)[0])) throw new Fault("no_names");
  const { best, others, odd, found } = separatorOf(text);
  const separator = declared?.[1] ?? best;
  // In a file of one column an empty cell in quotation marks is a record, and an empty line is none.
  if (dsvFormat(separator).parseRows(/(?:[^"\r\n]|"[^"]*")*/.exec(text)[0])[0].length === 1) text = text.replace(/(^|[\r\n])""(?=[\r\n]|$)/g, '$1" "');
  const lines = text.includes('"') && checkQuotes(text, separator);
  let size = 1, rows = 0, numbered = 0, names = null, columns = [];
  for (const byte of bytes) size += byte === 10 || byte === 13;
  const places = new Int32Array(size);
  dsvFormat(separator).parseRows(text, (cells, line) => {
    if (cells.length === 1 && cells[0] === "") return;
    numbered += 1;
    const row = (lines ? numbered : line + 1) + (declared ? 1 : 0);
    if (names === null) {
      names = headed(cells);
      if (names.length === 1 && (declared ? found.some((sign) => sign !== separator) : [..." :^~#!"].some(odd))) throw new Fault("one_column");
      columns = names.map((name) => ({ name, codes: new Int32Array(name ? size : 0), values: new Map() }));
      return;
    }
    if (cells.length !== names.length) throw new Fault(cells.length < names.length ? "fewer" : "more", { row });
    for (let i = 0; i < cells.length; i++) {
      if (!names[i]) continue;
      const value = trimmed(cells[i]), { codes, values } = columns[i];
      let code = values.get(value);
      if (code === undefined) values.set(value, (code = values.size));
      codes[rows] = code;
    }
    places[rows++] = row;
    if (rows % STEP === 0) tell(rows / size);
  });
  if (!rows) throw new Fault("no_records");
  for (const column of columns) column.codes = column.codes.subarray(0, rows);
  return { columns: columns.filter(({ name }) => name), rows, places, encoding, separator, others: declared ? [] : others };
}

// What the cells of a column are once some texts mean missing: which number each different one is, if all are; and what bands
// and first characters can be made of it.
function kindOf(column, separator, na) {
  const { values, kind } = column, marks = na.join("\0");
  if (kind?.marks === marks) return kind;
  const texts = [...values.keys()], known = texts.map((text) => text !== "" && !na.includes(text));
  const cells = texts.filter((_, i) => known[i]), all = (pattern) => cells.every((text) => pattern.test(text));
  const whole = all(WHOLE);
  const comma = !whole && separator !== "," && all(DECIMAL_COMMA);
  let numbers = null;
  if (whole || comma || (all(DECIMAL) && !(separator !== "," && all(THOUSANDS)))) {
    numbers = texts.map((text, i) => (known[i] ? Number(comma ? text.replace(",", ".") : text) : NaN));
    const different = new Set(numbers.filter((_, i) => known[i]).map((number) => (Object.is(number, -0) ? "-0" : number)));
    if (!whole && different.size < cells.length) numbers = null;
  }
  const most = numbers?.every((number) => !(number < 0)) ? numbers.reduce((one, other) => (other > one ? other : one), 0) : NaN;
  const lengths = cells.map((text) => [...text].length);
  const longest = lengths.reduce((one, other) => Math.max(one, other), 0);
  const codes = whole ? most >= 0 : !numbers && lengths.every((length) => length === longest);
  const length = codes && longest <= LONGEST ? longest : 0;
  return (column.kind = { marks, texts, known, numbers, whole, most: most < 2 ** 53 ? most : NaN, length });
}

function bandOf(number, width) {
  const band = Math.floor(number / width);
  return band * width > number ? band - 1 : (band + 1) * width <= number ? band + 1 : band;
}

// A key as it is counted: the code of each row, 0 where it is missing.
function keyOf(column, kind, change = {}) {
  const { texts, known, numbers, whole, most, length } = kind, { codes } = column, { name } = column;
  if ("width" in change && !(change.width > 0 && most / change.width < MOST_BANDS)) throw new Fault("bands", { name });
  if ("first" in change && !(change.first > 0 && change.first < length)) throw new Fault("short", { name });
  const made = (text, i) => {
    if (change.width) return bandOf(numbers[i], change.width);
    if (change.first) return [...(whole ? text.padStart(length, "0") : text)].slice(0, change.first).join("");
    return numbers && !whole ? numbers[i] : text; // of -0.0 and 0.0, which are equal, one would stand for both
  };
  const of = new Map(), recode = Int32Array.from(texts, (text, i) => {
    if (!known[i]) return 0;
    const value = made(text, i);
    return of.get(value) ?? (of.set(value, of.size + 1), of.size);
  });
  return { codes: codes.map((code) => recode[code]), size: of.size + 1 };
}

// The pairs of two columns of codes, numbered as they appear.
function paired(one, m, other, n) {
  const rows = one.length, of = new Int32Array(rows);
  let count = 0;
  if (m * n <= Math.max(4 * rows, 2 ** 20)) {
    const number = new Int32Array(m * n);
    for (let i = 0; i < rows; i++) of[i] = (number[one[i] * n + other[i]] ||= ++count) - 1;
    return [of, count];
  }
  const bits = Math.ceil(Math.log2(2 * rows)), last = 2 ** bits - 1;
  const table = new Int32Array(2 ** bits), first = new Int32Array(rows);
  for (let i = 0; i < rows; i++) {
    let place = (Math.imul(one[i], 0x9e3779b1) ^ Math.imul(other[i], 0x85ebca6b)) >>> (32 - bits);
    for (; table[place]; place = (place + 1) & last) {
      const at = first[table[place] - 1];
      if (one[at] === one[i] && other[at] === other[i]) break;
    }
    if (!table[place]) {
      first[count] = i;
      table[place] = ++count;
    }
    of[i] = table[place] - 1;
  }
  return [of, count];
}

const grouped = (keys, rows) =>
  keys.reduce(([of, count], { codes, size }) => paired(of, count, codes, size), [new Int32Array(rows), 1]);

function totals(of, count, values) {
  const sums = new Float64Array(count);
  for (let i = 0; i < of.length; i++) sums[of[i]] += values[i];
  return sums;
}

// The patterns of some keys: each with one row, and what is added up in it.
function patterns(keys, sums) {
  const [of, count] = grouped(keys, sums[0].length), row = new Int32Array(count);
  for (let i = of.length; i--; ) row[of[i]] = i;
  return { keys: keys.map(({ codes, size }) => ({ codes: row.map((i) => codes[i]), size })), sums: sums.map((each) => totals(of, count, each)) };
}

// For each pattern the sum over all that are compatible with it: those who miss the same keys are joined with all with whom
// they share the same known ones.
function compatible(keys, sums) {
  const masks = new Map();
  sums[0].forEach((_, i) => {
    const mask = keys.reduce((bits, { codes }, j) => bits | ((codes[i] > 0) << j), 0);
    masks.has(mask) ? masks.get(mask).push(i) : masks.set(mask, [i]);
  });
  if (masks.size === 1) return sums;
  const found = sums.map(() => new Float64Array(sums[0].length));
  for (const [mask, ours] of masks) {
    const alike = new Map();
    for (const [other, rows] of masks) alike.set(mask & other, [...(alike.get(mask & other) ?? []), rows]);
    for (const [shared, parts] of alike) {
      const rows = [...parts, ours].flat(), theirs = rows.length - ours.length;
      const known = keys.filter((_, j) => (shared >> j) & 1);
      const [of, count] = grouped(known.map(({ codes, size }) => ({ codes: Int32Array.from(rows, (i) => codes[i]), size })), rows.length);
      sums.forEach((values, s) => {
        const sum = totals(of.subarray(0, theirs), count, rows.map((i) => values[i]));
        ours.forEach((i, at) => (found[s][i] += sum[of[theirs + at]]));
      });
    }
  }
  return found;
}

function weightsOf({ columns, separator, places }, name, na) {
  const column = columns.find((each) => each.name === name), { numbers, known } = kindOf(column, separator, na);
  if (!numbers) throw new Fault("weight_text", { name });
  const bad = numbers.map((number, i) => (!known[i] ? "weight_missing" : number > 0 && number < Infinity ? "" : "weight_low"));
  const row = bad.some(Boolean) ? column.codes.findIndex((code) => bad[code]) : -1;
  if (row >= 0) throw new Fault(bad[column.codes[row]], { name, row: places[row] });
  return Float64Array.from(column.codes, (code) => numbers[code]);
}

function combinations(count, size, from = 0) {
  if (!size) return [[]];
  const found = [];
  for (let i = from; i <= count - size; i++) for (const rest of combinations(count, size - 1, i + 1)) found.push([i, ...rest]);
  return found;
}

// What a file says with some keys: `changes` are, by name, {drop}, {width} or {first}.
function measured(table, { keys, weight = "", missing = "wildcard", na = [], changes = {}, singles = false }, tell = () => {}) {
  const names = keys.filter((name) => !changes[name]?.drop);
  if (!names.length) throw new Fault("no_keys");
  if (names.includes(weight)) throw new Fault("weight_key", { name: weight });
  const columns = names.map((name) => table.columns.find((column) => column.name === name));
  const coded = columns.map((column) => keyOf(column, kindOf(column, table.separator, na), changes[column.name]));
  const ones = new Float64Array(table.rows).fill(1);
  const own = patterns(coded, weight ? [ones, weightsOf(table, weight, na)] : [ones]);
  const summed = (part) => (missing === "wildcard" ? compatible(part.keys, part.sums) : part.sums);
  const [f, F = f] = summed(own), [records] = own.sums, sizes = new Map();
  let population = 0, least = Infinity;
  f.forEach((size, i) => {
    const [classes, of] = sizes.get(size) ?? [0, 0];
    sizes.set(size, [classes + 1, of + records[i]]);
    population += F[i] * records[i];
    least = Math.min(least, F[i]);
  });
  const distribution = [...sizes].map(([size, [classes, of]]) => [size, classes, of]).sort((a, b) => a[0] - b[0]);
  const below = (k) => distribution.reduce((sum, [size, , of]) => sum + (size < k ? of : 0), 0);
  const result = { rows: table.rows, classes: f.length, k: distribution[0][0], distribution, F: { sum: population, least }, singles: [] };
  Object.assign(result, { uniques: below(2), below: [2, 3, 5].map((k) => [k, below(k)]) });
  const sets = singles ? [2, 3].flatMap((size) => (size < names.length ? combinations(names.length, size) : [])) : [];
  sets.forEach((set, i) => {
    const part = patterns(set.map((j) => own.keys[j]), [records]), [f_k] = summed(part);
    result.singles.push([set.map((j) => names[j]), part.sums[0].reduce((sum, of, row) => sum + (f_k[row] === 1 ? of : 0), 0)]);
    tell(i / sets.length);
  });
  result.singles.sort((a, b) => b[1] - a[1]);
  return result;
}

let table = null;
async function answered({ file, na, measure, prove }, tell) {
  if (prove) return refusal(prove, (address) => fetch(address), scope);
  if (file) {
    const stream = file.name.endsWith(".gz") ? file.stream().pipeThrough(new DecompressionStream("gzip")) : null;
    table = readTable(new Uint8Array(await (stream ? new Response(stream) : file).arrayBuffer()), tell);
  }
  if (!measure) {
    const columns = table.columns.map((column) => ({ name: column.name, ...kindOf(column, table.separator, na) }));
    const { rows, encoding, separator, others } = table;
    return { rows, encoding, separator, others, columns: columns.map(({ name, most, length }) => ({ name, bands: most >= 0, length })) };
  }
  const before = measured(table, { ...measure, changes: {} }, tell);
  return { before, after: measured(table, { ...measure, singles: true }, tell) };
}
scope.onmessage = async ({ data }) => {
  try {
    scope.postMessage({ done: await answered(data, (share) => scope.postMessage({ share })) });
  } catch (error) {
    scope.postMessage({ fault: error.key ?? (error instanceof RangeError ? "too_large" : "unread"), parts: error.parts });
  }
};
