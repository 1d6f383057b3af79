// The theme's arrows that fold parts of the contents have no name: each gets that of its part.
addEventListener("DOMContentLoaded", () => {
  for (const label of document.querySelectorAll("label.md-nav__link[for]")) {
    const part = label.parentElement.querySelector(".md-ellipsis");
    if (!part || label.textContent.trim()) continue;
    label.setAttribute("role", "button");
    label.setAttribute("aria-label", `Fold ${part.textContent.trim()}`);
  }
});
