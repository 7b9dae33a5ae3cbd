// The tabs of the page: one is shown at a time.

const tabs = {
  shown: "",

  /** Show a tab; null for an unknown name. */
  show(name) {
    const wanted = document.querySelector(`[data-tab="${CSS.escape(name)}"]`);
    if (!wanted) return null;
    for (const tab of document.querySelectorAll("[data-tab]")) tab.hidden = tab !== wanted;
    for (const link of document.querySelectorAll("[data-tab-link]")) {
      if (link.dataset.tabLink === name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.querySelector(`[data-tab-link="${CSS.escape(name)}"]`)?.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.shown = name;
    return wanted;
  },

  /** Show the tab of an element, unfold what hides it, and scroll to it. */
  reveal(id) {
    const target = document.getElementById(id);
    const tab = target?.closest("[data-tab]");
    if (!tab) return false;
    this.show(tab.dataset.tab);
    for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    target.scrollIntoView();
    return true;
  },
};
