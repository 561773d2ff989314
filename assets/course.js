// Small repairs of the theme, once per page. No library, no request.
(function () {
  "use strict";
  // A page opened from a folder may not read other pages: let the search list titles without summaries.
  if (location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined") {
    DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
  }
  // A formula wider than the page scrolls on its own: the keyboard must reach it.
  function reach() {
    document.querySelectorAll('mjx-container[display="true"]').forEach(function (formula) {
      if (formula.scrollWidth > formula.clientWidth) formula.tabIndex = 0;
      else formula.removeAttribute("tabindex");
    });
  }
  window.addEventListener("load", function () {
    if (window.MathJax && MathJax.startup) MathJax.startup.promise.then(reach);
    window.addEventListener("resize", reach);
  });
})();
