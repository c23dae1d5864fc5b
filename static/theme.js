// Before anything is painted: the chosen theme, and whether the page will go to another place first.
"use strict";
{
  const root = document.documentElement;
  try {
    const chosen = localStorage.getItem("presentview.theme");
    if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
    const session = /^\/s\/([^/]+)$/.exec(location.pathname)?.[1];
    if (session && localStorage.getItem(`presentview.place.${session}`)?.includes('"at":{')) root.classList.add("settling");
  } catch { /* storage may be off */ }
}
