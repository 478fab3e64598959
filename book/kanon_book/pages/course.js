// Exercises of a page: answers checked by the rule of judging.py, and what was done kept in the browser. SAID are its words.
const KEPT = "kanon-lab-progress";
const PERCENT = /^(?:%|per ?cent|por ?ciento|(?:out )?of (?:(?:a|every) )?(?:hundred|100)|de cada (?:cien|100)|puntos porcentuales)/i;
const SIGN = new RegExp(` ?${PERCENT.source.slice(1)}$`, "i");
const GROUPED = /^[1-9][0-9]{0,2}([,. '])[0-9]{3}(?:\1[0-9]{3})*(?:([.,])([0-9]+))?$/;
const PLAIN = /^(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:e[+-]?[0-9]{1,3})?$/i;

function plainReadings(text) {
  const sign = /^[+-]/.test(text) ? text[0] : "";
  const digits = text.slice(sign.length).trim();
  const found = PLAIN.test(digits) ? [Number(digits.replace(",", "."))] : [];
  const grouped = GROUPED.exec(digits);
  if (grouped && grouped[1] !== grouped[2]) {
    const whole = grouped[2] ? digits.slice(0, digits.length - grouped[3].length - 1) : digits;
    found.push(Number(whole.replace(/[^0-9]/g, "") + (grouped[2] ? `.${grouped[3]}` : "")));
  }
  return sign === "-" ? found.map((value) => -value) : found;
}

// Every number that a text may mean; none where it is no number.
function readings(typed, unit) {
  let text = typed.replace(/[\u2212\u2013]/g, "-").replace(/[\u00a0\u202f\u2009]/g, " ").replace(/\u2019/g, "'").trim();
  let shares = false;
  const sign = SIGN.exec(text);
  if (unit && text.toLowerCase().endsWith(unit.toLowerCase())) {
    text = text.slice(0, text.length - unit.length).trim();
  } else if (sign) {
    text = text.slice(0, sign.index).trim();
    shares = !PERCENT.test(unit);
  }
  const line = text.indexOf("/");
  let found = plainReadings((line < 0 ? text : text.slice(0, line)).trim());
  if (line >= 0) {
    const below = plainReadings(text.slice(line + 1).trim()).filter((value) => value !== 0);
    found = found.flatMap((a) => below.map((b) => a / b));
    if (PERCENT.test(unit)) found = [...found, ...found.filter((value) => value > 0 && value <= 1).map((value) => 100 * value)];
  }
  return (shares ? found.map((value) => value / 100) : found).filter(Number.isFinite);
}

// Whether a value other than 0 is the answer with fewer decimals; a half may be rounded up or down.
function isRounded(value, answer) {
  return value !== 0 && [1, 10, 100].some((step) =>
    Math.abs(value * step - Math.round(value * step)) < 1e-9 && Math.abs(value - answer) * step <= 0.5 + 1e-9);
}

// Whether one of the readings is right; else the place of the nearest wrong answer, or a word of SAID.
function judge(task, values) {
  const fits = (value, one) => one.low <= value && value <= one.high;
  if (values.some((value) => fits(value, task))) return { right: true, known: "" };
  let nearest = null;
  for (const value of values) {
    task.wrong.forEach((one, place) => {
      const far = Math.abs(value - one.answer);
      if (fits(value, one) && (!nearest || far < nearest.far || (far === nearest.far && place < nearest.place))) {
        nearest = { far, place };
      }
    });
  }
  if (nearest) return { right: false, known: nearest.place };
  const moved = values.flatMap((value) => [value * 100, value / 100]);
  if (!fits(0, task) && moved.some((value) => fits(value, task))) return { right: false, known: "unit" };
  if (values.some((value) => isRounded(value, task.answer))) return { right: false, known: "rounded" };
  return { right: false, known: values[0] > task.answer ? "high" : "low" };
}

const filled = (words, parts) => words.replace(/\{(\w+)\}/g, (_, name) => parts[name]);

const counted = (value) => (Number.isSafeInteger(value) && value > 0 ? value : 0);
const isMap = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

// What is kept of each exercise. Other pages of this address may write there too: what has another form is left out.
function readKept(text) {
  let found = null;
  try {
    found = JSON.parse(text)?.exercises;
  } catch {
    // damaged: begin anew
  }
  const some = isMap(found) ? Object.entries(found).filter(([, one]) => isMap(one)) : [];
  const typed = (texts) => (Array.isArray(texts) ? texts.filter((text) => typeof text === "string" && text.length <= 40).slice(-5) : []);
  const own = ({ right, tries, hints, answers }) => ({ right: right === true, tries: counted(tries), hints: counted(hints), answers: typed(answers) });
  return Object.fromEntries(some.map(([key, one]) => [key, own(one)]));
}

let kept = {};
let keeps = true;
try {
  kept = readKept(localStorage.getItem(KEPT));
} catch {
  keeps = false;
}

function keep() {
  try {
    localStorage.setItem(KEPT, JSON.stringify({ exercises: kept }));
  } catch {
    keeps = false;
  }
  tellCounts();
}

function note(key, change) {
  kept[key] = { right: false, tries: 0, hints: 0, answers: [], ...kept[key] };
  Object.assign(kept[key], change(kept[key]));
  keep();
}

// What was answered, the last five: a teacher who is given the file sees which wrong answers are common.
const noteAnswer = (task, text, right) =>
  note(task.key, (one) => ({ right: one.right || right, tries: one.tries + 1, answers: [...one.answers, text].slice(-5) }));

// What is in a file and what is kept here, together.
function merge(other) {
  for (const [key, one] of Object.entries(other)) {
    const { right, tries, hints, answers } = kept[key] ?? { right: false, tries: 0, hints: 0, answers: [] };
    const most = { tries: Math.max(tries, one.tries), hints: Math.max(hints, one.hints) };
    kept[key] = { right: right || one.right, ...most, answers: one.tries > tries ? one.answers : answers };
  }
  keep();
}

const solvedIn = (chapter) =>
  Object.entries(kept).filter(([key, one]) => one.right && key.slice(0, key.lastIndexOf(".")) === chapter).length;

function tellCounts() {
  let right = 0;
  let all = 0;
  const seen = new Set();
  for (const place of document.querySelectorAll("[data-chapter][data-exercises]")) {
    const total = Number(place.dataset.exercises);
    const here = Math.min(solvedIn(place.dataset.chapter), total);
    place.textContent = total === 0 ? "" : filled(place.closest(".kanon-bar") ? SAID.count : SAID.share, { right: here, all: total });
    if (!seen.has(place.dataset.chapter)) [right, all] = [right + here, all + total];
    seen.add(place.dataset.chapter);
  }
  for (const place of document.querySelectorAll(".kanon-progress > p[role=status]")) {
    place.textContent = `${filled(SAID.count, { right, all })} ${keeps ? SAID.kept : SAID.not_kept}`;
  }
  for (const form of document.querySelectorAll(".kanon-exercise")) mark(form);
}

// In the heading of an exercise that is solved, the word.
function mark(form) {
  const task = JSON.parse(form.dataset.exercise);
  const legend = form.querySelector("legend");
  const done = Boolean(kept[task.key]?.right);
  if (form.classList.contains("kanon-guess") || done === Boolean(legend.querySelector(".kanon-done"))) return;
  if (!done) return legend.querySelector(".kanon-done").remove();
  const word = document.createElement("span");
  word.className = "kanon-done";
  word.textContent = ` ${SAID.solved}`;
  legend.append(word);
}

function say(form, right, words, reason) {
  const place = form.querySelector(".kanon-said");
  place.classList.toggle("kanon-right", right === true);
  const line = document.createElement("p");
  line.textContent = words;
  place.replaceChildren(...(words ? [line] : []), ...(reason ? [...reason.childNodes].map((one) => one.cloneNode(true)) : []));
  for (const field of form.querySelectorAll("input[type=text]")) field.setAttribute("aria-invalid", String(right === false));
}

const reasonOf = (form, place) => form.querySelectorAll(".kanon-reasons .kanon-says")[place];

function checkChoice(form, task) {
  const chosen = [...form.elements.answer].findIndex((one) => one.checked);
  if (chosen < 0) return say(form, null, SAID.choose);
  const right = chosen === task.answer;
  if ("answer" in task) say(form, right, right ? "" : SAID.wrong, reasonOf(form, chosen));
  else say(form, null, SAID.noted);
  noteAnswer(task, form.elements.answer[chosen].value, right);
}

function checkNumber(form, task) {
  // The unit as it stands on the page, in its language.
  const values = readings(form.elements.answer.value, form.querySelector(".kanon-unit")?.textContent || task.unit);
  if (!values.length) return say(form, null, SAID.unread);
  // 1.234 may be two numbers: too high or too low is said of the one it is in the language of the page.
  if (form.elements.answer.value.includes(document.documentElement.lang === "es" ? "." : ",")) values.reverse();
  const text = form.elements.answer.value.trim().slice(0, 40);
  if (!("answer" in task)) {
    say(form, null, SAID.noted);
    return noteAnswer(task, text, false);
  }
  const { right, known } = judge(task, values);
  const shown = form.querySelector(".kanon-shown").textContent;
  if (form.classList.contains("kanon-guess")) {
    const near = right ? "guess_close" : values[0] > task.answer ? "guess_high" : "guess_low";
    say(form, right || null, `${filled(SAID.it_is, { answer: shown })} ${SAID[near]}`, form.querySelector(".kanon-explained"));
    reveal(form);
  } else if (right) say(form, true, `${SAID.right} ${shown}`);
  else if (known in SAID) say(form, false, `${SAID.wrong} ${SAID[known]}`);
  else say(form, false, SAID.wrong, reasonOf(form, known));
  const counts = right && !form.classList.contains("kanon-guess");
  noteAnswer(task, text, counts);
}

const guessedOf = (form) => document.querySelector(`[data-guess="${form.id}"]`);

// Neither keys nor a screen reader come to what waits for a guess.
function veil(place, waits) {
  if (!place) return;
  place.classList.toggle("kanon-veiled", waits);
  place.inert = waits;
  place.ariaHidden = waits ? "true" : null;
}

function reveal(form) {
  veil(guessedOf(form), false);
  const button = form.querySelector(".kanon-reveal");
  if (button) button.hidden = true;
  window.dispatchEvent(new Event("resize"));
}

function begin(form) {
  const task = JSON.parse(form.dataset.exercise);
  const hints = [...form.querySelectorAll(".kanon-hint")];
  hints.forEach((hint, place) => {
    hint.hidden = place > 0;
    hint.addEventListener("toggle", () => {
      if (!hint.open) return;
      if (hints[place + 1]) hints[place + 1].hidden = false;
      note(task.key, (one) => ({ hints: Math.max(one.hints, place + 1) }));
    });
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    (task.choice ? checkChoice : checkNumber)(form, task);
  });
  const veiled = guessedOf(form);
  if (veiled && !kept[task.key]?.tries) {
    veil(veiled, true);
    form.querySelector(".kanon-reveal").addEventListener("click", () => {
      reveal(form);
      veiled.tabIndex = -1;
      veiled.focus({ preventScroll: true });
    });
  } else if (veiled) reveal(form);
  form.classList.add("kanon-ready");
}

function controls(place) {
  const button = (words, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = words;
    made.addEventListener("click", act);
    return made;
  };
  const save = button(SAID.save, () => {
    const link = document.createElement("a");
    const text = JSON.stringify({ exercises: kept }, null, 1);
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = `${KEPT}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  const reset = button(SAID.reset, () => {
    if (!confirm(SAID.sure)) return;
    kept = {};
    keep();
    for (const said of document.querySelectorAll(".kanon-said, .kanon-progress > span")) said.replaceChildren();
  });
  const file = document.createElement("input");
  Object.assign(file, { type: "file", accept: ".json", hidden: true });
  file.addEventListener("change", async () => {
    const found = readKept(await file.files[0].text());
    merge(found);
    loaded.textContent = filled(Object.keys(found).length ? SAID.loaded : SAID.not_loaded, { count: Object.keys(found).length });
    file.value = "";
  });
  const load = button(SAID.load, () => file.click());
  const words = document.createElement("p");
  words.setAttribute("role", "status");
  const loaded = document.createElement("span");
  loaded.setAttribute("aria-live", "polite");
  place.replaceChildren(words, save, " ", load, " ", reset, file, " ", loaded);
}

// On paper the solutions stand at the end of the page, open, not under their questions.
function forPaper() {
  const page = document.querySelector("article, main, body");
  const list = document.createElement("section");
  list.className = "kanon-solutions";
  const heading = document.createElement("h2");
  heading.textContent = SAID.solutions;
  list.append(heading);
  for (const form of document.querySelectorAll(".kanon-exercise")) {
    const title = document.createElement("p");
    title.append(...[...form.querySelector("legend").childNodes].map((one) => one.cloneNode(true)));
    const copy = form.querySelector(".kanon-solution")?.cloneNode(true);
    if (!copy) continue;
    copy.open = true;
    list.append(title, copy);
  }
  if (list.childNodes.length > 1) page.append(list);
}

function start() {
  document.querySelectorAll(".kanon-exercise").forEach(begin);
  document.querySelectorAll(".kanon-progress:not([data-chapter])").forEach(controls);
  tellCounts();
  window.addEventListener("beforeprint", forPaper);
  window.addEventListener("afterprint", () => document.querySelector(".kanon-solutions")?.remove());
  window.kanonCourse = { readings, judge };
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
