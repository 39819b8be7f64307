// Scores of search results, highest first: pages of instructions before those of collectives,
// both before pages that have the word in their title, and files of the repository last.
var Scorer = {
  score: ([docname, _title, _anchor, _descr, score]) => {
    const named = score >= Scorer.partialTitle;
    if (docname.startsWith("reference/instructions/nisa.")) return score + (named ? 12 : 1);
    if (docname.startsWith("reference/instructions/ncc.")) return score + (named ? 10 : 0);
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
