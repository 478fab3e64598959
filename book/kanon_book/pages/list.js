// Fills every list of the page, with words of words.csv: controls to filter its rows by, how many are left, and the rows, some at a time.
((SAID) => {
  const AT_ONCE = 40;
  const WORDS = "q";

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  function rowsOf({ values, said = {} }) {
    const names = Object.keys(values);
    const rows = values[names[0]].at.map((_, i) =>
      Object.fromEntries(names.map((name) => [name, values[name].of[values[name].at[i]]])),
    );
    // What words are looked for in: all that stands in the row, its code too.
    for (const row of rows) row[""] = plain(Object.values(row).flatMap((text) => [text, said[text] ?? ""]).join(" "));
    return rows;
  }

  // Without capitals and accents: "Benalmadena" finds Benalmádena.
  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const counted = (number) => number.toLocaleString(document.documentElement.lang || "en", { useGrouping: "always" });
  const filled = (words, parts) => words.replace(/\{(\w+)\}/g, (_, name) => parts[name]);

  // A value that can be chosen by, in the language of the page; an address keeps it as it is.
  const sayOf = (data, text) => data.said?.[text] ?? text;

  // The rows that meet all that was chosen, but for one filter, whose values are to be counted.
  function met(rows, chosen, filters, except) {
    const words = plain(chosen[WORDS] || "").split(/\s+/).filter(Boolean);
    const kept = filters.filter((name) => name !== except && chosen[name]);
    return rows.filter(
      (row) => kept.every((name) => row[name] === chosen[name]) && words.every((word) => row[""].includes(word)),
    );
  }

  function cell(row, [heading, parts], data) {
    const shown = parts.filter((name) => row[name]).map((name) => {
      const value = data.filters.includes(name) ? sayOf(data, row[name]) : row[name];
      const fill = (text, own = row[name]) => text.replace("{}", own);
      const words = fill(data.words[name] || "{}", value);
      const attributes = { class: "kanon-part", "data-part": name };
      const href = data.links[name] && fill(data.links[name]);
      // A link to this very page would lose what was chosen.
      if (href && !location.pathname.endsWith(`/${href}`)) return element("a", { ...attributes, href }, words);
      if (data.codes[name]) return element("code", attributes, fill(data.codes[name]));
      return element("span", attributes, words);
    });
    return element("td", { role: "cell", "data-heading": heading }, ...shown);
  }

  function controls(data, place) {
    const form = element("form", { class: "kanon-filters", role: "search", "aria-label": filled(SAID.list_filter, data) });
    form.onsubmit = () => false;
    for (const name of data.filters) form.append(element("label", {}, `${sayOf(data, name)} `, element("select", { name })));
    const words = element("input", { type: "search", name: WORDS, autocomplete: "off" });
    form.append(element("label", {}, `${SAID.list_words} `, words), element("button", { type: "reset" }, SAID.list_reset));
    place.append(form);
    return form;
  }

  function table(data) {
    const heads = data.columns.map(([name]) => element("th", { scope: "col", role: "columnheader" }, name));
    const body = element("tbody", { role: "rowgroup" });
    const head = element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...heads));
    // Roles are named because a telephone shows the rows as cards, and then they would be no table any more.
    const all = element("table", { class: "kanon-table", role: "table" }, head, body);
    const scroll = { class: "kanon-scroll", tabindex: "0", role: "region", "aria-label": data.label };
    return [element("div", scroll, all), body];
  }

  function offer(select, data, rows, chosen) {
    const left = new Map();
    for (const row of rows) left.set(row[select.name], (left.get(row[select.name]) || 0) + 1);
    const options = data.values[select.name].of.map(
      (value) => new Option(`${sayOf(data, value)} (${counted(left.get(value) || 0)})`, value),
    );
    select.replaceChildren(new Option(filled(SAID.list_all, { count: counted(rows.length) }), ""), ...options);
    select.value = chosen || "";
  }

  function fill(place) {
    const data = JSON.parse(place.querySelector(".kanon-rows").textContent);
    const rows = rowsOf(data);
    const form = controls(data, place);
    const status = element("p", { class: "kanon-count", role: "status" });
    const [scroll, body] = table(data);
    const more = element("button", { type: "button", class: "kanon-more" });
    place.append(status, scroll, more);
    let chosen = {};
    let found = rows;

    function addRows() {
      const before = body.rows.length;
      const next = found.slice(before, before + AT_ONCE);
      body.append(...next.map((row) => element("tr", { role: "row" }, ...data.columns.map((one) => cell(row, one, data)))));
      const shown = body.rows.length;
      const first = shown < found.length ? filled(SAID.list_first, { count: counted(shown) }) : "";
      const told = { count: counted(found.length), all: counted(rows.length), rows: data.rows };
      status.textContent = filled(SAID.list_count, told) + first;
      more.hidden = shown === found.length;
      more.textContent = filled(SAID.list_more, { count: counted(Math.min(AT_ONCE, found.length - shown)) });
      return body.rows[before];
    }

    function show() {
      found = met(rows, chosen, data.filters);
      for (const name of data.filters) {
        offer(form.elements[name], data, met(rows, chosen, data.filters, name), chosen[name]);
      }
      body.replaceChildren();
      addRows();
    }

    function choose() {
      const given = [...data.filters, WORDS].map((name) => [name, form.elements[name].value.trim()]);
      chosen = Object.fromEntries(given.filter(([, value]) => value));
      const address = new URLSearchParams(chosen).toString();
      history.replaceState(null, "", address ? `#${address}` : location.pathname + location.search);
      show();
    }

    // What the address asks for; a value that there is not is left out. An address of a section has no "=".
    function follow() {
      const asked = new URLSearchParams(location.hash.slice(1));
      const known = ([name, value]) =>
        name === WORDS ? value : data.filters.includes(name) && data.values[name].of.includes(value);
      const given = [...asked].filter(known);
      if (!location.hash || location.hash.includes("=")) chosen = Object.fromEntries(given);
      form.elements[WORDS].value = chosen[WORDS] || "";
      show();
      if (given.length) place.scrollIntoView();
    }

    form.addEventListener("input", choose);
    form.addEventListener("reset", () => setTimeout(choose));
    more.addEventListener("click", () => {
      const first = addRows();
      if (!more.hidden) return;
      // The button is gone, and the keyboard's place with it.
      first.tabIndex = -1;
      first.focus({ preventScroll: true });
    });
    window.addEventListener("hashchange", follow);
    // On the way back a browser may put its own words into the field.
    window.addEventListener("pageshow", () => (form.elements[WORDS].value = chosen[WORDS] || ""));
    follow();
    place.classList.add("kanon-filled");
  }

  const fillAll = () => document.querySelectorAll(".kanon-list").forEach(fill);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", fillAll);
  else fillAll();
})(__WORDS__);
