// The words of a query. Modules have their full names in the index: `nl.load` is
// `nkijit.language.load`. conf.py defines MODULES.
var splitQuery = (query) =>
  query
    .replace(/\b(\w+)\./g, (all, name) => (MODULES[name] ? `${MODULES[name]}.` : all))
    .split(/[^\p{L}\p{N}_]+/gu)
    .filter(Boolean);

// Scores of search results, highest first: names whose last part is that of the query, instructions
// whose name has the query, collectives whose name has it, everything else as Sphinx scores it, and
// files of the repository last.
var Scorer = {
  score: ([docname, title, _anchor, _descr, found]) => {
    const query = (new URLSearchParams(location.search).get("q") ?? "").toLowerCase().trim();
    const named = query && title.toLowerCase().includes(query);
    const last = (name) => name.split(".").pop();
    const score = found + (query && last(title.toLowerCase()) === last(query) ? 25 : 0);
    if (docname.startsWith("reference/instructions/nisa.")) return score + (named ? 20 : 1);
    if (docname.startsWith("reference/instructions/ncc.")) return score + (named ? 15 : 0);
    return docname.startsWith("source/") ? score - 4 : score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
