"""Colours that colour-blind readers can tell apart, and their counterparts on a dark page."""

GREY = "#5f6368"
# The lightest that a mark may have: 3 to 1 on white.
LIGHT_GREY = "#8a9099"
# Black, red and blue as in the study's Figura 1, in the shades that Okabe and Ito chose for colour-blind readers.
BLACK, ORANGE, BLUE = "#000000", "#d55e00", "#0072b2"
# For charts of more series: theirs too, the purple darker.
GREEN, PURPLE = "#009e73", "#a8407f"

INK = "#1f2328"
# Of lines and grounds behind the marks.
GRID = "#e6e8eb"
# Of bars inside an outline, and of outcomes from the worst to the best.
PALE_ORANGE, PALE_GREY = "#f8d9c4", "#e3e5e8"
OUTCOMES = ("#8c2d04", "#e6763a", "#f8cfae", "#f7f7f8")

#: Of areas on a map: from few to many.
RAMP = ("#eef4fa", "#d3e3f3", "#a9cbe6", "#74add4", "#3f8cc0", "#13679f", "#08406f")

#: Light colour -> its counterpart on a dark page: a page swaps them where the reader's theme is dark.
DARK = {
    INK: "#e6e8eb",
    GREY: "#989fa9",
    LIGHT_GREY: "#666e79",
    GRID: "#3a4048",
    BLACK: "#ffffff",
    ORANGE: "#ff8c42",
    BLUE: "#56b4e9",
    GREEN: "#2bc79a",
    PURPLE: "#e58fc4",
    PALE_ORANGE: "#59331b",
    PALE_GREY: "#343a42",
    **dict(zip(OUTCOMES, ("#ffb380", "#d9652b", "#7d3d17", "#23282e"))),
    **dict(zip(RAMP, ("#16202a", "#21405a", "#285b80", "#3578a6", "#549acb", "#85bde6", "#c9e5fb"))),
}
