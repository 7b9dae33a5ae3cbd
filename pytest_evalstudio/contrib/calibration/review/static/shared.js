// What the pages of raters and voters share: the token, requests, one action at a time.
"use strict";

const at = (id) => document.getElementById(id);
const KEEP = "evalstudio-review";

let token = "";
let busy = false;   // between a click and the server's word that it is kept

function takeToken() {
  const given = location.hash.slice(1);
  if (given) {
    sessionStorage.setItem(KEEP, given);
    history.replaceState(null, "", location.pathname);
  }
  return given || sessionStorage.getItem(KEEP) || "";
}

async function ask(path, body) {
  const options = { headers: { "X-Review-Token": token }, cache: "no-store" };
  if (body !== undefined) {
    options.method = "POST";
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error("The server cannot be reached, and nothing was changed. Start the command again and open the address that it prints.");
  }
  const found = await response.json().catch(() => ({}));
  if (!response.ok) {
    throw new Error(found.error || `The server answered ${response.status}.`);
  }
  return found;
}

// One thing at a time: what is pressed meanwhile is not taken for an answer that nobody has seen.
async function alone(work) {
  if (busy) return;
  busy = true;
  document.body.setAttribute("aria-busy", "true");
  try {
    await work();
    at("trouble").hidden = true;
  } catch (error) {
    at("trouble").textContent = error.message;
    at("trouble").hidden = false;
    at("trouble").scrollIntoView({ block: "nearest" });
  } finally {
    busy = false;
    document.body.removeAttribute("aria-busy");
  }
}

function setKeys(on) {
  at("with-keys").checked = on;
  document.body.classList.toggle("no-keys", !on);
  sessionStorage.setItem(`${KEEP}-keys`, on ? "yes" : "no");
}

// Connects the buttons and the keys of one letter with their actions; `mayAct` says which are allowed now.
function listen(actions, keys, mayAct) {
  const act = (name) => {
    if (mayAct(name)) alone(actions[name]);
  };
  document.addEventListener("keydown", (event) => {
    if (event.target instanceof HTMLInputElement && event.target.type === "text") return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing || at("keys").open || !at("with-keys").checked) return;
    if (event.key === "?") at("keys").showModal();
    else if (keys[event.key]) act(keys[event.key]);
    else return;
    event.preventDefault();
  });
  for (const name of Object.keys(actions)) at(name).addEventListener("click", () => act(name));
  at("help").addEventListener("click", () => at("keys").showModal());
  at("close").addEventListener("click", () => at("keys").close());
  at("with-keys").addEventListener("change", (event) => setKeys(event.target.checked));
  setKeys(sessionStorage.getItem(`${KEEP}-keys`) !== "no");
}
