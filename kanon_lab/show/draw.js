// Draws every figure of the page. It runs inside the bundle, where vegaEmbed is known.
// Text and lines take the colour of the page's text, so that light and dark themes are both readable.
const guide = { labelColor: "currentColor", titleColor: "currentColor" };
const config = {
  background: "transparent",
  axis: { ...guide, domainColor: "currentColor", tickColor: "currentColor", gridColor: "currentColor", gridOpacity: 0.15 },
  header: guide,
  legend: guide,
  title: { color: "currentColor", subtitleColor: "currentColor" },
  text: { color: "currentColor" },
  view: { stroke: "transparent" },
};

// The lines of a title are as short as a telephone needs; in a drawing of at least 480 pixels they may be longer.
function widened(title) {
  const fitted = (lines, length) =>
    Array.isArray(lines) && lines.length > 1
      ? { signal: `width < 480 ? ${JSON.stringify(lines)} : ${JSON.stringify(wrapped(lines.join(" "), length))}` }
      : lines;
  return title && { ...title, text: fitted(title.text, 64), subtitle: fitted(title.subtitle, 95) };
}

function wrapped(text, length) {
  const lines = [];
  for (const word of text.split(" ")) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && longer.length <= length) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function draw(figure) {
  const spec = JSON.parse(figure.querySelector(".kanon-spec").textContent);
  return vegaEmbed(figure.querySelector(".kanon-drawing"), spec, {
    actions: false,
    bind: figure.querySelector(".vega-bindings"),
    config,
    patch: (compiled) => ({ ...compiled, title: widened(compiled.title) }),
    renderer: "svg",
  }).then(({ view }) => {
    for (const [name, texts] of Object.entries(spec.usermeta?.labels ?? {})) label(figure, texts, name);
    if (spec.usermeta?.live) tell(figure, view, spec.usermeta.live);
    figure.classList.add("kanon-drawn");
  });
}

// The result in words of a chart with controls, for screen readers: said when it changes, and part of the description.
function tell(figure, view, { signal, description }) {
  const place = figure.querySelector(".kanon-live");
  const say = (_, words) => {
    place.textContent = words.filter(Boolean).join(" ") + ".";
    view.description(`${description} ${place.textContent}`);
  };
  say(signal, view.signal(signal));
  // Only from now on: nobody wants to hear every figure of a page while it loads.
  place.setAttribute("aria-live", "polite");
  view.addSignalListener(signal, say);
  // With the words, the lines of a title and the labels of an axis change: what is around the plot is measured anew.
  view.addSignalListener(signal, () => view.resize().runAsync());
}

// A slider over the places of a list shows, and says, what stands at each; Vega writes the place, at every event anew.
function label(figure, texts, name) {
  const slider = figure.querySelector(`input[type="range"][name="${name}"]`);
  const say = () => {
    slider.nextElementSibling.textContent = texts[slider.value];
    slider.setAttribute("aria-valuetext", texts[slider.value]);
  };
  say();
  for (const event of ["input", "change"]) slider.addEventListener(event, say);
}

function failed(figure, error) {
  const drawing = figure.querySelector(".kanon-drawing");
  drawing.textContent = drawing.getAttribute("aria-label");
  console.error("chart not drawn:", error);
}

// Charts take the width of their place when the window changes; but the place may go on changing after it, while the
// side bars of a page move. When it has come to rest, they measure once more.
let rest;
const places = new ResizeObserver(() => {
  clearTimeout(rest);
  rest = setTimeout(() => window.dispatchEvent(new Event("resize")), 150);
});

function drawAll() {
  for (const figure of document.querySelectorAll(".kanon-figure")) {
    Promise.resolve(figure).then(draw).then(() => places.observe(figure), (error) => failed(figure, error));
  }
}

if (document.readyState === "loading") {
  document.addEventListener("DOMContentLoaded", drawAll);
} else {
  drawAll();
}
