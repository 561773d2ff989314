// Small repairs of the theme, once per page. No library, no request.
(function () {
  "use strict";
  // A page opened from a folder may not read other pages: let the search list titles without summaries.
  if (location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined") {
    DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
  }
})();
