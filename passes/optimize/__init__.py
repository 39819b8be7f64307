"""`optimize`: a search that composes the changes of `advise`, each verified and proven."""
