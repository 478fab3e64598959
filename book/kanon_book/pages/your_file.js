// The page "Your file": asks for a file, its keys and changes, has `engine` count, and shows counts. SAID are its words.
const root = document.querySelector(".kanon-own"), form = root.querySelector("form"), at = (name) => root.querySelector(`.kanon-own-${name}`);
const number = (value, digits = {}) => value.toLocaleString(document.documentElement.lang || "en", { useGrouping: "always", ...digits });
const share = (part, { rows }) => `${number(part)} (${number((100 * part) / rows, { maximumSignificantDigits: 3 })}\u00a0%)`;
const said = (part) => (typeof part === "number" ? number(part) : part);
const say = (key, parts = {}) => (SAID[key] ?? SAID.unread).replace(/\{(\w+)\}/g, (_, name) => said(parts[name]));
const SHOWN = 10, SIGNS = { ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar" };
let worker = null, cancel = null, file = null, taken = "";

// The directive of the policy by which the browser refuses to ask for an address; nothing where it does not.
function refusal(address, act, heard) {
  const named = ({ blockedURI }) => blockedURI.includes(new URL(address).host || "file");
  return new Promise((resolve) => {
    heard.addEventListener("securitypolicyviolation", (event) => named(event) && resolve(event.effectiveDirective));
    setTimeout(resolve, 2000);
    Promise.resolve(address).then(act).catch(() => {});
  });
}

// What is counted is counted in a worker.
function ask(data) {
  worker ??= new Worker(URL.createObjectURL(new Blob([`${refusal}(${engine})(self)`], { type: "text/javascript" })));
  return new Promise((resolve, reject) => {
    cancel = () => reject({ key: "cancelled" });
    worker.onmessage = ({ data: { share, done, fault, parts } }) => {
      if (share !== undefined) at("progress").value = share;
      else fault ? reject({ key: fault, parts }) : resolve(done);
    };
    worker.postMessage(data);
  });
}

// Does something that takes a while, and says how it ended; the first of the parts is shown where it ends well.
async function busy(words, work, ...parts) {
  if (root.classList.contains("kanon-own-busy")) return;
  root.classList.add("kanon-own-busy");
  at("status").textContent = say(words);
  at("progress").removeAttribute("value");
  for (const name of parts) at(name).hidden = true;
  try {
    at("status").textContent = await work();
    if (parts.length) at(parts[0]).hidden = false;
  } catch ({ key, parts }) {
    at("status").textContent = say(key, parts);
  }
  root.classList.remove("kanon-own-busy");
}

// Tries to connect in every way, from here and from the worker; fails unless the browser refused all.
async function prove() {
  const acts = {
    socket: (address) => new WebSocket(address.replace("http", "ws")),
    beacon: (address) => navigator.sendBeacon(address, ""),
    picture: (address) => (new Image().src = address),
  };
  at("proof").hidden = false;
  const found = [...at("proof").querySelectorAll("[data-way]")].map(async (cell) => {
    const { way } = cell.dataset, address = way === "here" ? location.href : `https://${way}.example.invalid/`;
    const by = await (way === "worker" ? ask({ prove: address }) : refusal(address, acts[way] ?? ((here) => fetch(here)), document));
    cell.textContent = by ? say("refused", { by }) : say("let_through");
    return by;
  });
  if (!(await Promise.all(found)).every(Boolean)) throw { key: "not_proven" };
  return say("proven");
}

// The fields of each column: whether it is a key, and what to make of it.
function fields({ name, bands, length }) {
  const row = at("row").content.cloneNode(true).firstElementChild, [key, change, size] = row.querySelectorAll("input, select");
  row.querySelector("span").textContent = name;
  for (const each of [change, size]) each.setAttribute("aria-label", `${name}: ${each.getAttribute("aria-label")}`);
  const offered = { same: true, drop: true, width: bands, first: length > 1 };
  for (const option of [...change.options]) if (!offered[option.value]) option.remove();
  change.onchange = () => {
    size.hidden = !["width", "first"].includes(change.value);
    size.value = change.value === "first" ? length - 1 : 5;
  };
  row.given = () => ({ name, length, key: key.checked, change: change.value, size: Number(size.value) });
  return row;
}
const marks = () => form.elements.na.value.split(/[\s,]+/).filter(Boolean);
async function read(chosen) {
  const proven = await prove();
  taken = marks().join();
  if (!/\.csv(\.gz)?$/i.test(chosen.name)) throw { key: "ending" };
  const { columns, separator, others, ...head } = await ask({ file: (file = chosen), na: marks() });
  at("columns").replaceChildren(...columns.map(fields));
  form.elements.weight.replaceChildren(new Option(say("no_weight"), ""), ...columns.map(({ name }) => new Option(name, name)));
  const sign = (each) => say(SIGNS[each] ?? "other_sign"), parts = { file: file.name, columns: columns.length, separator: sign(separator) };
  const several = others.length ? say("several", { others: others.map(sign).join(", ") }) : "";
  return [proven, say("read", { ...head, ...parts }), several].join(" ").trim();
}

async function count() {
  const rows = [...at("columns").children].map((row) => row.given()).filter(({ key }) => key), { weight, missing } = form.elements;
  const steps = rows.filter(({ change }) => change !== "same"), changes = steps.map(({ name, change, size }) => [name, { [change]: size }]);
  const asked = { keys: rows.map(({ name }) => name), weight: weight.value, missing: missing.value, na: marks() };
  const results = await ask({ measure: { ...asked, changes: Object.fromEntries(changes) } });
  show(results, asked.weight, steps.length);
  at("command").textContent = command(asked);
  at("recipe").textContent = recipe(asked, steps);
  const [before, after] = results, parts = { ...after, k_before: before.k, uniques_before: before.uniques };
  return (at("words").textContent = say(steps.length ? "result_both" : "result", parts));
}
function show(results, weighted, changed) {
  for (const [name, on] of Object.entries({ weighted, changed })) at("result").classList.toggle(`kanon-own-${name}`, Boolean(on));
  for (const cell of root.querySelectorAll("[data-value]")) {
    const [which, name, from, to] = cell.dataset.value.split(" "), result = results[which];
    const records = (sum, [size, , each]) => sum + (size >= from && (!to || size < to) ? each : 0);
    const part = from ? result.distribution.reduce(records, 0) : result[name];
    if (name === "bar") cell.style.width = `${(100 * part) / result.rows}%`;
    else cell.textContent = ["k", "classes", "least", "sum"].includes(name) ? number(part, { maximumFractionDigits: 1 }) : share(part, result);
  }
  for (const size of [2, 3]) {
    const sets = results[1].singles.filter(([names]) => names.length === size).sort((a, b) => b[1] - a[1]);
    at(`set-${size}`).replaceChildren(...sets.slice(0, SHOWN).map(([names, alone]) => {
      const row = at("set").content.cloneNode(true);
      [names.join(" × "), share(alone, results[1])].forEach((text, i) => (row.firstElementChild.cells[i].textContent = text));
      return row;
    }));
  }
}
const quoted = (text) => (/^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);
const listed = (name) => (/[",\r\n]/.test(name) ? `"${name.replace(/"/g, '""')}"` : name);
function command({ keys, weight, missing, na }) {
  const options = [["keys", keys.map(listed).join(",")], ["weight", weight], ["missing", missing === "wildcard" ? "" : missing]];
  const given = [...options, ...na.map((mark) => ["na", mark])].filter(([, value]) => value);
  return ["kanon-lab measure", quoted(file.name.replace(/^-/, "./-")), ...given.map(([name, value]) => `--${name} ${quoted(value)}`)].join(" ");
}
// JSON is YAML too, but for a few signs: every name stands in quotation marks.
const escaped = (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
function recipe(asked, steps) {
  const { keys, weight, ...others } = asked, settings = { key_variables: keys, ...(weight && { weight }), ...others };
  const json = (value) => JSON.stringify(value, null, 1).replace(/\n */g, " ").replace(/[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g, escaped), made = {
    drop: ({ name }) => ({ remove_variables: { variables: [name] } }),
    width: ({ name, size }) => ({ recode: { variable: name, width: size } }),
    first: ({ name, size, length }) => ({ recode: { variable: name, hierarchy: { masks: [length, size], width: length }, level: 1 } }),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}: ${json(value)}`);
  return [...lines, ...(steps.length ? ["steps:", ...steps.map((step) => `  - ${json(made[step.change](step))}`)] : []), ""].join("\n");
}
const choose = (files) => files[0] && busy("reading", () => read(files[0]), "roles", "result");
form.addEventListener("submit", (event) => (event.preventDefault(), busy("counting", count, "result")));
form.elements.file.addEventListener("click", ({ target }) => (target.value = "")); // or the same file would be no change
form.elements.file.addEventListener("change", ({ target }) => choose(target.files));
form.elements.na.addEventListener("change", () => file && marks().join() !== taken && choose([file]));
for (const event of ["dragover", "drop"]) root.addEventListener(event, (dragged) => dragged.preventDefault());
root.addEventListener("drop", ({ dataTransfer }) => choose(dataTransfer.files));
at("try").addEventListener("click", () => busy("trying", prove));
at("cancel").addEventListener("click", () => {
  worker = worker?.terminate();
  at("roles").hidden = true;
  form.elements.file.value = "";
  cancel?.();
});
// What the page needs is there: from now on it may not even ask for a part of itself.
addEventListener("load", () => document.head.append(at("policy").content));
form.hidden = false;
