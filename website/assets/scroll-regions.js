// What scrolls sideways is reached by keyboard: Tab goes there, and the arrow keys scroll.
const regions = ".md-typeset pre > code, .md-typeset table, .md-typeset__scrollwrap";
const reach = () => {
  for (const region of document.querySelectorAll(regions)) {
    if (region.scrollWidth > region.clientWidth) {
      region.tabIndex = 0;
    } else {
      region.removeAttribute("tabindex");
    }
  }
};
addEventListener("DOMContentLoaded", reach);
addEventListener("load", reach);
addEventListener("resize", reach);
