// The chosen theme, before anything is painted.
"use strict";
{
  let chosen = null;
  try { chosen = localStorage.getItem("presentview.theme"); } catch { /* storage may be off */ }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}
