// The page "Your file": asks for a file, its keys and changes, has `engine` count, and shows counts. SAID are its words.
const root = document.querySelector(".kanon-own"), form = root.querySelector("form"), language = document.documentElement.lang || "en";
const at = (name) => root.querySelector(`.kanon-own-${name}`);
const say = (key, parts = {}) => SAID[key].replace(/\{(\w+)\}/g, (_, name) => (typeof parts[name] === "number" ? number(parts[name]) : parts[name]));
const number = (value, digits = 1) => value.toLocaleString(language, { maximumFractionDigits: digits });
const BINS = [1, 2, 3, 4, 5, 10, 20, 50, 100, 1000, Infinity], SHOWN = 10;
let worker = null, pending = null, file = null, head = null;

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// The directive of the policy by which the browser refuses to ask for an address; nothing where it does not.
function refusal(address, act, heard) {
  const origin = address.split("/").slice(0, 3).join("/").replace("file://", "file");
  return new Promise((resolve) => {
    heard.addEventListener("securitypolicyviolation", (event) => event.blockedURI.startsWith(origin) && resolve(event.effectiveDirective));
    setTimeout(resolve, 2000);
    Promise.resolve(address).then(act).catch(() => {});
  });
}

// Everything is counted in a worker; where the browser has none, in the page.
function start() {
  const scope = { postMessage: (data) => setTimeout(heard, 0, { data }), addEventListener: (...heard) => document.addEventListener(...heard) };
  try {
    worker = new Worker(URL.createObjectURL(new Blob([`${refusal}(${engine})(self)`], { type: "text/javascript" })));
    worker.onmessage = heard;
  } catch {
    engine(scope);
    worker = { postMessage: (data) => scope.onmessage({ data }), terminate() {} };
  }
}
function heard({ data: { share, done, fault, parts } }) {
  if (share !== undefined) return (at("progress").value = share);
  if (fault) pending.reject({ key: fault, parts });
  else pending.resolve(done);
}
function ask(data) {
  if (!worker) start();
  return new Promise((resolve, reject) => {
    pending = { resolve, reject };
    worker.postMessage(data);
  });
}

// Does something that takes a while, and says how it ended.
async function busy(words, work) {
  at("status").textContent = say(words);
  for (const name of ["progress", "cancel"]) at(name).hidden = false;
  at("progress").removeAttribute("value");
  try {
    at("status").textContent = await work();
  } catch ({ key, parts }) {
    at("status").textContent = SAID[key] ? say(key, parts) : say("unread");
    at("result").hidden = true;
  }
  for (const name of ["progress", "cancel"]) at(name).hidden = true;
}

// Tries to connect in every way, from here and from the worker; true where the browser refused all.
async function prove() {
  const away = (name) => `https://${name}.example.invalid/`;
  const ways = {
    here: [location.href, (address) => fetch(address)],
    fetch: [away("fetch"), (address) => fetch(address)],
    socket: [away("socket").replace("http", "ws"), (address) => new WebSocket(address)],
    beacon: [away("beacon"), (address) => navigator.sendBeacon(address, "")],
    picture: [away("picture"), (address) => (new Image().src = address)],
  };
  const found = [];
  for (const [way, [address, act]] of Object.entries(ways)) found.push([say(way), await refusal(address, act, document)]);
  found.push([say("worker"), await ask({ prove: away("worker") })]);
  const sound = found.every(([, directive]) => directive);
  const rows = found.map(([way, by]) => [way, by ? say("refused", { by }) : say("let_through")]);
  at("proof").replaceChildren(element("p", {}, say(sound ? "proven" : "not_proven")), tableOf([say("attempt"), say("answer")], rows, say("attempts")));
  return sound;
}

function tableOf(heads, rows, label) {
  const cell = (text, i, tag = i ? "td" : "th") => element(tag, i ? { class: "number" } : { scope: "row" }, text);
  const top = element("tr", {}, ...heads.map((text, i) => element("th", { scope: "col", ...(i && { class: "number" }) }, text)));
  const body = rows.map((row) => element("tr", {}, ...row.map((text, i) => cell(text, i))));
  const table = element("table", { class: "kanon-table" }, element("thead", {}, top), element("tbody", {}, ...body));
  return element("div", { class: "kanon-scroll", tabindex: "0", role: "region", "aria-label": label }, table);
}

// The fields of each column: whether it is a key, and what to make of it.
function fields({ name, bands, length }) {
  const key = element("input", { type: "checkbox", name: "key", value: name, "aria-label": say("is_key", { name }) });
  const offered = ["same", "drop", ...(bands ? ["width"] : []), ...(length > 1 ? ["first"] : [])];
  const change = element("select", { "aria-label": say("change_of", { name }) }, ...offered.map((each) => new Option(say(each), each)));
  const size = element("input", { type: "number", min: "1", step: "1", "aria-label": say("size_of", { name }), hidden: "" });
  change.onchange = () => {
    size.hidden = !["width", "first"].includes(change.value);
    size.max = change.value === "first" ? length - 1 : "";
    size.value = change.value === "first" ? length - 1 : 5;
  };
  const row = element("tr", {}, element("td", {}, key), element("th", { scope: "row" }, name), element("td", {}, change, " ", size));
  return Object.assign(row, { given: () => ({ name, key: key.checked, change: change.value, size: Number(size.value), length }) });
}

const marks = () => form.elements.na.value.split(/[\s,]+/).filter(Boolean);
async function read(chosen) {
  file = null;
  for (const name of ["roles", "result"]) at(name).hidden = true;
  await busy("reading", async () => {
    if (!(await prove())) throw { key: "not_proven" };
    if (!/\.csv(\.gz)?$/i.test(chosen.name)) throw { key: "ending" };
    head = await ask({ file: chosen, na: marks() });
    file = chosen;
    at("columns").replaceChildren(...head.columns.map(fields));
    form.elements.weight.replaceChildren(new Option(say("no_weight"), ""), ...head.columns.map(({ name }) => new Option(name, name)));
    at("roles").hidden = false;
    const sign = (each) => say({ ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar" }[each] ?? "other_sign");
    const parts = { file: chosen.name, rows: head.rows, columns: head.columns.length, encoding: head.encoding, separator: sign(head.separator) };
    const several = head.others.length ? " " + say("several", { ...parts, others: head.others.map(sign).join(", ") }) : "";
    return say("read", parts) + several;
  });
}

function given() {
  const rows = [...at("columns").children].map((row) => row.given()).filter(({ key }) => key);
  const changes = rows.filter(({ change }) => change !== "same");
  const settings = { keys: rows.map(({ name }) => name), weight: form.elements.weight.value, missing: form.elements.missing.value, na: marks() };
  const change = (each) => (each.change === "drop" ? { drop: true } : { [each.change]: each.size });
  return { ...settings, rows: changes, changes: Object.fromEntries(changes.map((each) => [each.name, change(each)])) };
}

async function count(event) {
  event.preventDefault();
  const asked = given();
  at("result").hidden = true;
  await busy("counting", async () => {
    if (!asked.keys.length) throw { key: "no_keys" };
    const { rows, ...measure } = asked;
    show(asked, await ask({ measure }));
    at("result").hidden = false;
    return at("words").textContent;
  });
}

function show(asked, { before, after }) {
  const both = asked.rows.length ? [before, after] : [before], share = (part, { rows }) => `${number(part)} (${number((100 * part) / rows)} %)`;
  const named = (words) => [words, ...(asked.rows.length ? [say("before"), say("after")] : [say("value")])];
  const last = both.at(-1);
  at("words").textContent = say(asked.rows.length ? "result_both" : "result", { ...last, k_before: before.k, uniques_before: before.uniques });
  const rows = [["k", (each) => number(each.k)], ["uniques", (each) => share(each.uniques, each)], ["classes", (each) => number(each.classes)]];
  for (const [k] of before.below.slice(1)) rows.push([`below_${k}`, (each) => share(each.below.find(([of]) => of === k)[1], each)]);
  if (asked.weight) rows.push(["least_F", (each) => number(each.F.least)], ["sum_F", (each) => number(each.F.sum)]);
  at("summary").replaceChildren(tableOf(named(say("measure")), rows.map(([name, of]) => [say(name), ...both.map(of)]), say("summary")));
  const bins = BINS.slice(0, -1).map((from, i) => [from, BINS[i + 1]]);
  const bin = (each, [from, to]) => each.distribution.reduce((sum, [size, , records]) => sum + (size >= from && size < to ? records : 0), 0);
  const label = ([from, to]) => (to === Infinity ? say("or_more", { from }) : to - from === 1 ? number(from) : `${number(from)}–${number(to - 1)}`);
  at("distribution").replaceChildren(
    bars(bins.map((each) => [label(each), both.map((one) => bin(one, each))]), before.rows),
    tableOf(named(say("f_k")), bins.map((each) => [label(each), ...both.map((one) => share(bin(one, each), one))]), say("distribution")),
  );
  at("singles").replaceChildren(
    ...[2, 3].flatMap((size) => {
      const found = last.singles.filter(([names]) => names.length === size).slice(0, SHOWN);
      const cells = found.map(([names, alone]) => [names.join(" × "), share(alone, last)]);
      return found.length ? [tableOf([say(`set_${size}`), say("alone")], cells, say(`set_${size}`))] : [];
    }),
    ...(last.singles.length ? [] : [element("p", {}, say("no_sets"))]),
  );
  at("command").textContent = command(asked);
  at("recipe").textContent = recipe(asked);
}

// Bars of records by f_k, before and after; what they show stands in the table beside them.
function bars(rows, most) {
  const bar = ([label, values]) => [
    element("dt", {}, label),
    ...values.map((value, i) => element("dd", {}, element("span", { class: `kanon-own-bar-${i}`, style: `width: ${(100 * value) / most}%` }))),
  ];
  return element("dl", { class: "kanon-own-bars", "aria-hidden": "true" }, ...rows.map((row) => element("div", {}, ...bar(row))));
}

const quoted = (text) => (/^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);
const column = (name) => (/[",]|^\s|\s$/.test(name) ? `"${name.replace(/"/g, '""')}"` : name);
const path = () => quoted(file.name.startsWith("-") ? `./${file.name}` : file.name);
function command({ keys, weight, missing, na }) {
  const options = [["keys", keys.map(column).join(",")], ...(weight ? [["weight", weight]] : []), ...(missing === "wildcard" ? [] : [["missing", missing]])];
  return ["kanon-lab measure", path(), ...[...options, ...na.map((mark) => ["na", mark])].map(([name, value]) => `--${name} ${quoted(value)}`)].join(" ");
}

// JSON is YAML too: every name stands in quotation marks.
function recipe({ keys, weight, missing, na, rows }) {
  const text = JSON.stringify;
  const made = { width: ({ size }) => `width: ${size}`, first: ({ size, length }) => `hierarchy: {masks: [${length}, ${size}], width: ${length}}, level: 1` };
  const steps = rows.map((row) => {
    if (row.change === "drop") return `  - remove_variables: {variables: [${text(row.name)}]}`;
    return `  - recode: {variable: ${text(row.name)}, ${made[row.change](row)}}`;
  });
  const lines = [`key_variables: ${text(keys)}`, ...(weight ? [`weight: ${text(weight)}`] : []), `missing: ${missing}`, ...(na.length ? [`na: ${text(na)}`] : [])];
  return [...lines, ...(steps.length ? ["steps:", ...steps] : [])].join("\n") + "\n";
}

form.addEventListener("submit", count);
form.elements.file.addEventListener("change", ({ target }) => target.files[0] && read(target.files[0]));
for (const event of ["dragover", "drop"]) root.addEventListener(event, (dragged) => dragged.preventDefault());
root.addEventListener("drop", ({ dataTransfer: { files } }) => files[0] && read(files[0]));
at("try").addEventListener("click", () => busy("trying", async () => say((await prove()) ? "proven" : "not_proven")));
at("cancel").addEventListener("click", () => {
  worker.terminate();
  worker = null;
  at("roles").hidden = true;
  pending.reject({ key: "cancelled" });
});
for (const button of root.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const text = at(button.dataset.copy);
    getSelection().selectAllChildren(text);
    await navigator.clipboard?.writeText(text.textContent).then(() => (at("status").textContent = say("copied")), () => {});
  });
}
// What the page needs is there: from now on it may not even ask for a part of itself.
addEventListener("load", () => {
  const policy = "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; font-src 'self' file:; worker-src blob:";
  document.head.append(element("meta", { "http-equiv": "Content-Security-Policy", content: policy }));
  form.hidden = false;
});
