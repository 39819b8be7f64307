// Adds to each search result the first paragraph of its section, from `EXCERPTS`
// (docs/_site/excerpts.py). Sphinx would read the pages, which browsers forbid for local files.
(() => {
  const results = document.getElementById("search-results");
  if (!results || typeof EXCERPTS === "undefined") return;

  const excerpt = (link) => {
    const [page, anchor] = link.getAttribute("href").split("#");
    const sections = EXCERPTS[page.replace(/\.html.*$/, "")] ?? {};
    return sections[anchor ?? ""] ?? sections[""];
  };
  const add = (item) => {
    const link = item.tagName === "LI" && item.querySelector("a");
    const text = link && !item.querySelector(".excerpt") && excerpt(link);
    if (!text) return;
    const paragraph = item.appendChild(document.createElement("p"));
    paragraph.className = "excerpt";
    paragraph.textContent = text;
  };
  const observer = new MutationObserver((changes) =>
    changes.forEach((change) => change.addedNodes.forEach(add)),
  );
  observer.observe(results, { childList: true, subtree: true });
  results.querySelectorAll("li").forEach(add);
})();
