// Before anything is drawn: the theme that was chosen last time, if one was.
const chosen = localStorage.getItem("theme");
if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
