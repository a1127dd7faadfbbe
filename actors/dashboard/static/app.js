// Small comforts on every page; each page can be read without them.
"use strict";

// A slider shows its value, and one of the weights turns the kind of question into "my own weights".
document.addEventListener("input", (event) => {
  const slider = event.target;
  if (slider.type !== "range") return;
  const output = slider.dataset.output ? document.getElementById(slider.dataset.output) : slider.nextElementSibling;
  if (output) output.value = Number(slider.value).toLocaleString("en");
  if (slider.name.startsWith("w_")) document.getElementById("profile").value = "custom";
}, true);

// A graph that is wider than a phone shows its middle first.
for (const { parentElement: box } of document.querySelectorAll(".graph")) box.scrollLeft = (box.scrollWidth - box.clientWidth) / 2;

// "/" leads to the search field.
document.addEventListener("keydown", (event) => {
  const field = document.querySelector("[data-hotkey='/']");
  if (event.key !== "/" || !field || event.target.closest("input, textarea, select")) return;
  event.preventDefault();
  field.focus();
});

// From a refused form the way back is the browser's own. Where that loads the page anew, what was typed is filled in
// again from what was kept of the last form sent; a form that hides it is opened.
document.addEventListener("submit", ({target: form}) => {
  if (form.method !== "post") return;
  const typed = [...new FormData(form)].filter(([name]) => name !== "csrf");
  const sent = {page: location.href, place: [...document.forms].indexOf(form), action: form.action, typed};
  sessionStorage.setItem("sent", JSON.stringify(sent));
});
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-back]") || history.length < 2) return;
  event.preventDefault();
  history.back();
});
window.addEventListener("pageshow", () => {
  const sent = JSON.parse(sessionStorage.getItem("sent"));
  const isBack = performance.getEntriesByType("navigation")[0].type === "back_forward";
  const form = sent && isBack && sent.page === location.href ? document.forms[sent.place] : null;
  if (form && form.action === sent.action) fillIn(form, new Map(sent.typed));
  if (!document.querySelector("[data-back]")) sessionStorage.removeItem("sent");
  // A choice in a filter belongs to the page to which it led: here the list is still that of the former one.
  for (const option of document.querySelectorAll("form.controls option")) option.selected = option.defaultSelected;
  for (const field of document.querySelectorAll("details form :is(input, textarea)")) {
    if (field.value !== field.defaultValue || field.checked !== field.defaultChecked) field.closest("details").open = true;
  }
});
function fillIn(form, typed) {
  for (const field of form.elements) {
    if (field.type === "checkbox") field.checked = typed.get(field.name) === field.value;
    else if (field.type !== "hidden" && typed.has(field.name)) field.value = typed.get(field.name);
  }
}

// A choice in a filter takes effect at once.
document.addEventListener("change", (event) => {
  const chosen = event.target, form = chosen.closest("form.controls, form#search");
  if (form && chosen.tagName === "SELECT" && !chosen.hasAttribute("hx-get") && form.checkValidity()) form.requestSubmit();
});

// A refused request is shown in the place of what it was for.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.xhr.status < 400) return;
  const page = new DOMParser().parseFromString(event.detail.xhr.responseText, "text/html");
  const told = page.querySelector("[role='alert']");
  const place = event.detail.target.cloneNode(false);  // without htmx: what is refused isn't asked for again and again
  event.detail.target.replaceWith(place);
  place.replaceChildren(Object.assign(document.createElement("p"), {
    className: "warning", textContent: told ? told.textContent : "The server did not answer as expected.",
  }));
  event.detail.shouldSwap = false;
});

// A page whose server can't be reached says so, until an answer arrives. One that was left alone for a minute asks, before
// its links lead to an error of the browser.
function showConnection(lost) { document.getElementById("connection").hidden = !lost; }
document.addEventListener("htmx:sendError", () => showConnection(true));
document.addEventListener("htmx:beforeOnLoad", () => showConnection(false));
let used = Date.now();
for (const kind of ["focus", "pointermove", "keydown"]) {
  window.addEventListener(kind, () => {
    const pause = Date.now() - used;
    used = Date.now();
    if (pause < 60_000) return;
    const health = new URL("healthz", document.querySelector(".brand").href);
    fetch(health, {cache: "no-store"}).then(() => showConnection(false), () => showConnection(true));
  }, {capture: true, passive: true});
}
