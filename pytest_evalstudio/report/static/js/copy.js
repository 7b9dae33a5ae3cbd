// Buttons that copy a text; where the clipboard is closed to the page, the text is selected instead.

function copyButton(text, label) {
  return el("button", { type: "button", class: "copy", "data-copy": text }, label);
}

/** A key; of a UUID its first digits, and all of it on the clipboard. */
function keyButton(key) {
  if (!UUID_KEY.test(key)) return said(key);
  return el("button", { type: "button", class: "link key-copy", "data-copy": key, title: `Copy ${key}` }, key.slice(0, 8));
}

async function copy(button) {
  const text = button.dataset.copy;
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    announce("Copied to the clipboard.");
  } catch {
    const source = button.parentElement.querySelector("code");
    if (source) getSelection().selectAllChildren(source);
    button.textContent = "Press Ctrl+C";
    announce("Selected; copy it with Ctrl+C.");
  }
  setTimeout(() => {
    button.textContent = label;
  }, 2000);
}

function watchCopyButtons() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button[data-copy]");
    if (button) copy(button);
  });
}

/** What to type to run an item again, null where its id cannot be pasted into a shell safely; as `commands.py` has it. */
function pytestCommand(nodeid) {
  if (!nodeid.includes("::") || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(nodeid)) return null;
  return /^[\w@%+=:,./-]+$/.test(nodeid) ? `pytest ${nodeid}` : `pytest '${nodeid.replaceAll("'", `'"'"'`)}'`;
}
