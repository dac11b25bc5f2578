"use strict";
(() => {
  const all = (query, where = document) => [...where.querySelectorAll(query)];

  // Trees: one level more or less, and arrows that walk through the nodes that are to be seen.
  for (const card of all(".treecard")) {
    const tree = card.querySelector(".tree");
    const level = (part) => {
      let n = 0;
      for (let at = part.parentElement; at !== tree; at = at.parentElement) n += at.tagName === "DETAILS";
      return n;
    };
    const seen = (line) => {
      for (let at = line.parentElement; at !== tree; at = at.parentElement) {
        if (at.tagName === "DETAILS" && !at.open && line.parentElement !== at) return false;
      }
      return true;
    };
    const buttons = card.querySelector(".buttons");
    buttons.hidden = false;
    buttons.addEventListener("click", (event) => {
      const step = Number(event.target.dataset.level || 0);
      const parts = all("details", tree);
      if (step > 0) {
        const closed = parts.filter((part) => !part.open).map(level);
        const least = Math.min(...closed);
        parts.forEach((part) => { if (level(part) === least) part.open = true; });
      } else if (step < 0) {
        const most = Math.max(...parts.filter((part) => part.open).map(level));
        parts.forEach((part) => { if (level(part) === most) part.open = false; });
      }
    });
    tree.addEventListener("keydown", (event) => {
      const here = event.target.closest("summary, .leaf");
      if (!here || event.altKey || event.ctrlKey || event.metaKey) return;
      const shown = all("summary, .leaf", tree).filter(seen);
      const at = shown.indexOf(here);
      const part = here.tagName === "SUMMARY" ? here.parentElement : null;
      let to = null;
      if (event.key === "ArrowDown") to = shown[at + 1];
      else if (event.key === "ArrowUp") to = shown[at - 1];
      else if (event.key === "Home") to = shown[0];
      else if (event.key === "End") to = shown[shown.length - 1];
      else if (event.key === "ArrowRight") {
        if (part && !part.open) part.open = true;
        else if (part) to = shown[at + 1];
      } else if (event.key === "ArrowLeft") {
        if (part && part.open) part.open = false;
        else {
          const above = (part || here).parentElement.closest("details");
          to = above && tree.contains(above) ? above.querySelector("summary") : null;
        }
      } else return;
      event.preventDefault();
      if (to) to.focus();
    });
  }

  // The threshold: what it finds, and what is right of it.
  for (const slider of all(".slider")) {
    const list = (name) => slider.dataset[name].split(" ").map(Number);
    const at = list("at"), flagged = list("flagged"), right = list("right");
    const positive = Number(slider.dataset.positive), rows = Number(slider.dataset.rows);
    const input = slider.querySelector("input"), says = slider.querySelector("p");
    const percent = (part, whole) => whole ? (100 * part / whole).toFixed(1) + " %" : "–";
    const show = () => {
      const k = Number(input.value);
      const text = `At ${at[k]}: finds ${right[k]} of ${positive} (${percent(right[k], positive)}); ` +
        `${right[k]} of ${flagged[k]} flagged are right (${percent(right[k], flagged[k])}); ` +
        `flags ${percent(flagged[k], rows)} of the rows.`;
      says.textContent = text;
      input.setAttribute("aria-valuetext", text);
    };
    input.addEventListener("input", show);
    slider.hidden = false;
    show();
  }

  // Tables that can be ordered by any column.
  const key = (cell) => {
    const text = cell.textContent.trim().replace(/−/g, "-").replace(/,/g, "");
    const number = parseFloat(text);
    return Number.isNaN(number) ? text : number;
  };
  for (const table of all("table.sortable")) {
    const body = table.tBodies[0];
    all("thead th", table).forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        all("thead th", table).forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const sign = down ? -1 : 1;
        const order = (a, b) => {
          const x = key(a.cells[column]), y = key(b.cells[column]);
          if (typeof x === typeof y) return sign * (x < y ? -1 : x > y ? 1 : 0);
          return typeof x === "number" ? -1 : 1;
        };
        body.append(...[...body.rows].sort(order));
      });
    });
  }

  // Code to copy.
  for (const part of navigator.clipboard ? all("pre.copy") : []) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copies";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(part.textContent);
      button.textContent = "Copied";
    });
    part.before(button);
  }

  // Where one is in the list of contents.
  const links = new Map(all("nav a").map((link) => [link.hash.slice(1), link]));
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      links.forEach((link) => link.removeAttribute("aria-current"));
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-10% 0px -80% 0px" });
  all("main > section").forEach((section) => watcher.observe(section));
})();
