// Reads a csv file as kanon_lab/data/delimited.py does and counts its classes as kanon_lab/classes does. It runs in a worker
// where there is one; `dsvFormat` is d3's. What it gives are names of columns and counts: never a cell.
const BLANK = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\u200b\\u2060\\ufeff]+";
const AROUND = new RegExp(`^${BLANK}|${BLANK}$`, "g");
const LINES = /\r\n|\r|\n/, SEPARATORS = [",", ";", "\t", "|"];
const OTHERS = ["PK\x03\x04", "\xd0\xcf\x11\xe0", "PAR1", "$FL2", "$FL3", "<stata_dta>", "\x1f\x8b", "%PDF"];
const WHOLE = /^(0|-?[1-9]\d{0,17})$/, DECIMAL_COMMA = /^-?(0|[1-9]\d{0,14})(,\d+)?$/, THOUSANDS = /^-?[1-9]\d{0,2}(\.\d{3})+$/;
const DECIMAL = /^-?((0|[1-9]\d{0,14})(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
const MOST_BANDS = 10000, LONGEST = 20, STEP = 2 ** 15;
let table = null;
const fail = (key, parts = {}) => { throw { key, parts }; };
const inner = (code) => code > 32 && code < 127;
const trimmed = (text) =>
  text === "" || (inner(text.charCodeAt(0)) && inner(text.charCodeAt(text.length - 1))) ? text : text.replace(AROUND, "");
// A text as kanon_lab/data/values.py has it: letters composed, no blanks around them.
const tidy = (text) => trimmed(/[^\0-\x7f]/.test(text) ? text.normalize("NFC") : text);
const most = (numbers) => numbers.reduce((one, other) => (other > one ? other : one), 0);

function decoded(bytes) {
  const begins = (mark) => [...mark].every((sign, i) => bytes[i] === sign.charCodeAt(0));
  const read = (name, part = bytes, fatal = true) => new TextDecoder(name, { fatal }).decode(part);
  const wrong = (text, place, key = "encoding") => fail(key, { row: text.slice(0, place).split("\n").length });
  if (OTHERS.some(begins)) fail("not_csv");
  if (begins("\xff\xfe\0\0") || begins("\0\0\xfe\xff")) wrong("", 0);
  let encoding = begins("\xff\xfe") ? "utf-16le" : begins("\xfe\xff") ? "utf-16be" : "utf-8", text;
  try {
    text = read(encoding);
  } catch {
    const loose = read(encoding, bytes, false), place = loose.indexOf("\ufffd"), high = bytes.filter((byte) => byte > 127);
    const sound = new TextEncoder().encode(loose.replace(/[\0-\x7f\ufffd]/g, "")).length;
    if (encoding !== "utf-8" || begins("\xef\xbb\xbf") || 2 * sound >= high.length) wrong(loose, place);
    const signs = read((encoding = "windows-1252"), high), letters = signs.match(/[\p{L}ªº°€¿¡·«»–—‘’“”…]/gu) ?? [];
    if (/[\x80-\x9f]/.test(signs) || 2 * letters.length < high.length) wrong(loose, place);
    text = read(encoding);
  }
  if (text.includes("\0")) wrong(text, text.indexOf("\0"), "zero");
  return [text, encoding];
}

// The separator that the first rows tell, others that they might, and whether another sign is as often in each of them.
function separatorOf(text) {
  const lines = text.slice(0, 2 ** 16).split(/\r\n|[\n-\r\x1c-\x1e\x85\u2028\u2029]/);
  if (text.length > 2 ** 16 && lines.length > 1) lines.pop();
  const rows = lines.filter(trimmed).slice(0, 20).map((line) => line.replace(/"[^"]*"/g, ""));
  const often = (row, sign) => row.split(sign).length - 1;
  const even = (sign) => rows[0].includes(sign) && rows.every((row) => often(row, sign) === often(rows[0], sign));
  const rank = (sign) => even(sign) * 1e6 + often(rows[0], sign) * 2 + (sign !== ",");
  const found = SEPARATORS.filter((sign) => rows[0].includes(sign));
  const best = found.reduce((one, other) => (rank(other) > rank(one) ? other : one), found[0] ?? ",");
  return { best, found, others: found.filter((sign) => sign !== best && even(sign)), odd: (sign) => rows.length > 1 && even(sign) };
}

// A stray quotation mark would hide the rows between it and the next one. Says whether some cell holds several lines.
function checkQuotes(text, separator) {
  const cell = `(?<![^\\${separator}\\r\\n])"[^"]*(?:""[^"]*)*"`, end = `[^\\${separator}\\r\\n]`;
  const part = new RegExp(`[^"]+|(${cell})(?!${end})|(?<=${end})"`, "y"), closed = new RegExp(cell, "y");
  let inside = 0;
  for (let found; (found = part.exec(text)); closed.lastIndex = part.lastIndex) inside += (found[1] ?? "").split(LINES).length - 1;
  const parts = { row: text.slice(0, closed.lastIndex).split(LINES).length - inside };
  return closed.lastIndex === text.length ? inside > 0 : fail(closed.test(text) ? "after_quote" : "open_quote", parts);
}
function headed(cells) {
  const names = cells.map(tidy), named = names.filter(Boolean);
  // A file without names has data there, and names are shown.
  if (2 * named.filter((name) => /^[-+]?[\d.,]+$/.test(name)).length > named.length || !named.length) fail("no_names");
  const twice = names.findIndex((name, i) => name && names.indexOf(name) < i);
  return twice < 0 ? names : fail("same_name", { one: names.indexOf(names[twice]) + 1, other: twice + 1 });
}

// The table of a file: for each column the code of each row's cell, and the code of each different cell. `tell` hears how far.
function readTable(bytes, tell) {
  if (!bytes.length) fail("empty");
  let [text, encoding] = decoded(bytes), size = 1, rows = 0, numbered = 0, columns = null;
  const declared = /^"?sep=([^\w\s"]|[\t ])"?[ \t]*(?:\r\n|\r|\n)/i.exec(text);
  if (declared) text = text.slice(declared[0].length);
  if (!trimmed(/^[^\r\n]*/.exec(text)[0])) fail("no_names");
  const { best, found, others, odd } = separatorOf(text), separator = declared?.[1] ?? best, { parseRows } = dsvFormat(separator);
  if (parseRows(/(?:[^"\r\n]|"[^"]*")*/.exec(text)[0])[0]?.length === 1) {
    if (declared ? found.some((sign) => sign !== separator) : [..." :^~#!"].some(odd)) fail("one_column");
    // An empty cell in quotation marks is a record, an empty line is none.
    text = text.replace(/(^|[\r\n])""(?=[\r\n]|$)/g, '$1" "');
  }
  const lines = text.includes('"') && checkQuotes(text, separator);
  for (const byte of bytes) size += byte === 10 || byte === 13;
  const places = new Int32Array(size);
  parseRows(text, (cells, line) => {
    if (cells.length === 1 && cells[0] === "") return;
    const row = (lines ? (numbered += 1) : line + 1) + (declared ? 1 : 0);
    const made = (name) => ({ name, codes: new Int32Array(name ? size : 0), values: new Map() });
    if (!columns) return void (columns = headed(cells).map(made));
    if (cells.length !== columns.length) fail(cells.length < columns.length ? "fewer" : "more", { row });
    for (let i = 0; i < cells.length; i++) {
      const { name, codes, values } = columns[i];
      if (!name) continue;
      const value = values.has(cells[i]) ? cells[i] : tidy(cells[i]), code = values.get(value);
      codes[rows] = code ?? values.size;
      if (code === undefined) values.set(value, values.size);
    }
    places[rows++] = row;
    if (rows % STEP === 0) tell(rows / size);
  });
  if (!rows) fail("no_records");
  for (const column of columns) column.codes = column.codes.subarray(0, rows);
  return { columns: columns.filter(({ name }) => name), rows, places, encoding, separator, others: declared ? [] : others };
}

// What the cells of a column are: numbers, if all are; the largest, if bands fit; their length, if first characters can be taken.
function kindOf(column, na) {
  const { values, kind } = column, marks = (na = na.map(tidy)).join("\0"), commas = table.separator !== ",";
  if (kind?.marks === marks) return kind;
  const texts = [...values.keys()], known = texts.map((text) => text !== "" && !na.includes(text));
  const cells = texts.filter((_, i) => known[i]), all = (pattern) => cells.every((text) => pattern.test(text));
  const whole = all(WHOLE), comma = !whole && commas && all(DECIMAL_COMMA);
  let numbers = null;
  if (whole || comma || (all(DECIMAL) && !(commas && all(THOUSANDS)))) {
    numbers = texts.map((text, i) => (known[i] ? Number(comma ? text.replace(",", ".") : text) : NaN));
    const different = new Set(numbers.filter((_, i) => known[i]).map((each) => (Object.is(each, -0) ? "-0" : each)));
    if (!whole && different.size < cells.length) numbers = null;
  }
  const top = numbers?.every((each) => !(each < 0)) ? most(numbers) : NaN, length = most(cells.map((text) => text.length));
  const codes = whole ? top >= 0 : !numbers && cells.every((text) => text.length === length && !/[\ud800-\udfff]/.test(text));
  return (column.kind = { marks, texts, known, numbers, whole, top: top < 2 ** 53 ? top : NaN, length: codes && length <= LONGEST ? length : 0 });
}

// A key as it is counted: the code of each row, 0 where it is missing.
function keyOf({ name, codes, kind: { texts, known, numbers, whole, top, length } }, { width, first }) {
  if (width !== undefined && !(width > 0 && top / width < MOST_BANDS)) fail("bands", { name });
  if (first !== undefined && !(first > 0 && first < length)) fail("short", { name });
  const cut = (text) => (whole ? text.padStart(length, "0") : text).slice(0, first);
  // Texts of whole numbers are as different as these; of others -0.0 and 0.0 are not.
  const made = (text, i) => (first ? cut(text) : width ? numbers[i] - (numbers[i] % width) : whole ? text : (numbers?.[i] ?? text));
  const of = new Map();
  const recode = Int32Array.from(texts, (text, i) => {
    const value = known[i] ? made(text, i) : null;
    if (known[i] && !of.has(value)) of.set(value, of.size + 1);
    return of.get(value) ?? 0;
  });
  return { codes: codes.map((code) => recode[code]), size: of.size + 1 };
}

// The pairs of two columns of codes, numbered as they appear.
function paired({ codes: one, size: m }, { codes: other, size: n }) {
  const rows = one.length, codes = new Int32Array(rows);
  let size = 0;
  const bits = Math.ceil(Math.log2(2 * rows)), last = 2 ** bits - 1, number = new Int32Array(2 ** bits), first = new Int32Array(rows);
  for (let i = 0; i < rows; i++) {
    let place = (Math.imul(one[i], 0x9e3779b1) ^ Math.imul(other[i], 0x85ebca6b)) >>> (32 - bits);
    const met = (at) => one[at] === one[i] && other[at] === other[i];
    while (number[place] && !met(first[number[place] - 1])) place = (place + 1) & last;
    if (!number[place]) (first[size] = i), (number[place] = ++size);
    codes[i] = number[place] - 1;
  }
  return { codes, size };
}
const grouped = (keys, rows) => keys.reduce(paired, { codes: new Int32Array(rows), size: 1 });
function totals({ codes, size }, values, sums = new Float64Array(size)) {
  for (let i = 0; i < values.length; i++) sums[codes[i]] += values[i];
  return sums;
}
// The groups of rows as patterns: the code of each key, and what is added up in each.
function patterns(groups, keys, sums) {
  const row = new Int32Array(groups.size);
  groups.codes.forEach((code, i) => (row[code] = i));
  return [keys.map(({ codes, size }) => ({ codes: row.map((i) => codes[i]), size })), sums.map((each) => totals(groups, each))];
}

// For each pattern the sum over all compatible ones: those who miss the same keys are joined with all who share the known ones.
function compatible([keys, sums]) {
  // A bit for each key: the plain numbers have 32.
  const masks = new Map(), bits = keys.map((_, j) => (keys.length > 32 ? 1n << BigInt(j) : 1 << j)), none = bits[0] ^ bits[0];
  for (let i = 0; i < sums[0].length; i++) {
    const mask = keys.reduce((all, { codes }, j) => (codes[i] > 0 ? all | bits[j] : all), none);
    masks.get(mask)?.push(i) ?? masks.set(mask, [i]);
  }
  if (masks.size === 1) return sums;
  const found = sums.map(({ length }) => new Float64Array(length));
  for (const [mask, ours] of masks) {
    const alike = new Map();
    for (const [other, rows] of masks) alike.set(mask & other, [...(alike.get(mask & other) ?? []), rows]);
    for (const [shared, parts] of alike) {
      const rows = Int32Array.from([...parts, ours].flat()), theirs = rows.subarray(0, rows.length - ours.length);
      const known = keys.filter((_, j) => shared & bits[j]).map(({ codes, size }) => ({ codes: rows.map((i) => codes[i]), size }));
      const groups = grouped(known, rows.length);
      sums.forEach((values, s) => {
        const sum = totals(groups, Float64Array.from(theirs, (i) => values[i]));
        ours.forEach((i, at) => (found[s][i] += sum[groups.codes[theirs.length + at]]));
      });
    }
  }
  return found;
}
function weightsOf({ name, codes, kind: { numbers, known } }) {
  const fault = (each, i) => (!known[i] ? "weight_missing" : each > 0 && each < Infinity ? "" : "weight_low");
  const faults = (numbers ?? fail("weight_text", { name })).map(fault);
  const row = codes.findIndex((code) => faults[code]);
  if (row >= 0) fail(faults[codes[row]], { name, row: table.places[row] });
  return Float64Array.from(codes, (code) => numbers[code]);
}
// What the file says with some keys: `changes` are, by name, {drop}, {width} or {first}.
function measured({ keys, weight, missing, na, changes }, tell) {
  const names = keys.filter((name) => !changes[name]?.drop), at = (name) => table.columns.find((column) => column.name === name);
  for (const column of table.columns) kindOf(column, na);
  if (!names.length) fail("no_keys");
  if (keys.includes(weight)) fail("weight_key", { name: weight });
  const coded = names.map((name) => keyOf(at(name), changes[name] ?? {})), ones = new Float64Array(table.rows).fill(1);
  const own = patterns(grouped(coded, table.rows), coded, weight ? [ones, weightsOf(at(weight))] : [ones]);
  const summed = (part) => (missing === "wildcard" ? compatible(part) : part[1]);
  const [f, F = f] = summed(own), [by, [records]] = own, sizes = new Map(), singles = [];
  f.forEach((size, i) => {
    const [, classes, of] = sizes.get(size) ?? [size, 0, 0];
    sizes.set(size, [size, classes + 1, of + records[i]]);
  });
  const distribution = [...sizes.values()].sort((a, b) => a[0] - b[0]);
  const below = (k) => distribution.reduce((sum, [size, , of]) => sum + (size < k ? of : 0), 0);
  const alone = (set, groups) => {
    const part = patterns(groups, set.map((j) => by[j]), [records]), [f_k] = summed(part);
    singles.push([set.map((j) => names[j]), part[1][0].reduce((sum, of, i) => sum + (f_k[i] === 1 ? of : 0), 0)]);
  };
  for (let i = 0; tell && names.length > 2 && i < names.length; i++) {
    tell(i / names.length);
    for (let j = i + 1; j < names.length; j++) {
      const two = grouped([by[i], by[j]], f.length);
      alone([i, j], two);
      for (let k = j + 1; names.length > 3 && k < names.length; k++) alone([i, j, k], paired(two, by[k]));
    }
  }
  const sum = F.reduce((all, each, i) => all + each * records[i], 0), least = F.reduce((one, other) => Math.min(one, other));
  const counts = { rows: table.rows, classes: f.length, k: distribution[0][0], distribution, sum, least, singles };
  return { ...counts, uniques: below(2), below_3: below(3), below_5: below(5) };
}

async function answered({ file, na, measure, prove }) {
  const tell = (share) => scope.postMessage({ share });
  if (prove) return refusal(prove, (address) => fetch(address), scope);
  const after = measure && measured(measure, tell), same = after && !Object.keys(measure.changes).length;
  if (measure) return [same ? after : measured({ ...measure, changes: {} }), after];
  const stream = file.name.endsWith(".gz") ? file.stream().pipeThrough(new DecompressionStream("gzip")) : null;
  table = readTable(new Uint8Array(await (stream ? new Response(stream) : file).arrayBuffer()), tell);
  const told = (column) => ({ name: column.name, bands: kindOf(column, na).top >= 0, length: column.kind.length });
  return { ...table, places: null, columns: table.columns.map(told) };
}
scope.onmessage = ({ data }) =>
  answered(data).then((done) => scope.postMessage({ done }), ({ key, parts }) => scope.postMessage({ fault: key ?? "unread", parts }));
