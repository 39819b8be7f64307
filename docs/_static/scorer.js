// Scores of search results, highest first: instructions whose name has the query, collectives whose
// name has it, everything else as Sphinx scores it, and files of the repository last.
var Scorer = {
  score: ([docname, title, _anchor, _descr, score]) => {
    const query = new URLSearchParams(location.search).get("q") ?? "";
    const named = query && title.toLowerCase().includes(query.toLowerCase().trim());
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
