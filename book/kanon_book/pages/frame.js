// Shows what a term means while the pointer or the keyboard is at its link; Escape closes it.
(() => {
  const box = document.createElement("div");
  box.className = "kanon-definition";
  box.setAttribute("role", "tooltip");
  let leaving;
  const hide = () => (box.hidden = true);
  const later = () => (leaving = setTimeout(hide, 200));
  const stay = () => clearTimeout(leaving);

  function show({ currentTarget: link }) {
    stay();
    box.textContent = link.dataset.definition;
    box.hidden = false;
    // Within the window, below the word where there is room.
    const [place, own] = [link.getClientRects()[0], box.getBoundingClientRect()];
    const left = Math.min(place.left, document.documentElement.clientWidth - own.width - 8);
    const below = place.bottom + 4 + own.height < innerHeight;
    box.style.left = `${Math.max(8, left)}px`;
    box.style.top = `${below ? place.bottom + 4 : Math.max(8, place.top - own.height - 4)}px`;
  }

  function begin() {
    const links = document.querySelectorAll(".kanon-term");
    links.forEach((link, number) => {
      // What a screen reader speaks after the link, whether it is shown or not.
      const told = document.createElement("span");
      told.id = `kanon-definition-${number}`;
      told.hidden = true;
      told.textContent = link.dataset.definition;
      link.after(told);
      link.setAttribute("aria-describedby", told.id);
      link.addEventListener("mouseenter", show);
      link.addEventListener("focus", show);
      link.addEventListener("mouseleave", later);
      link.addEventListener("blur", hide);
    });
    if (!links.length) return;
    box.addEventListener("mouseenter", stay);
    box.addEventListener("mouseleave", later);
    document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
    document.addEventListener("scroll", hide, { capture: true, passive: true });
    hide();
    document.body.append(box);
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
