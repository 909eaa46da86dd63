"""The offline HTML report and its figures."""
