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

function draw(figure) {
  const spec = JSON.parse(figure.querySelector(".kanon-spec").textContent);
  return vegaEmbed(figure.querySelector(".kanon-drawing"), spec, {
    actions: false,
    bind: figure.querySelector(".vega-bindings"),
    config,
    renderer: "svg",
  }).then(
    () => figure.classList.add("kanon-drawn"),
    (error) => console.error("chart not drawn:", error)
  );
}

// Charts take the width of their place when the window changes; but the place may go on changing after it, while the
// side bars of a page move. When it has come to rest, they measure once more.
let rest;
const places = new ResizeObserver(() => {
  clearTimeout(rest);
  rest = setTimeout(() => window.dispatchEvent(new Event("resize")), 150);
});

function drawAll() {
  document.querySelectorAll(".kanon-figure").forEach((figure) => draw(figure).then(() => places.observe(figure)));
}

if (document.readyState === "loading") {
  document.addEventListener("DOMContentLoaded", drawAll);
} else {
  drawAll();
}
