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
