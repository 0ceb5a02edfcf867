"""Fit the weights of the block model to labelled pages: `bonmun tune CORPUS…`. Not part of the service at run time.

A corpus is a folder with `truth.jsonl.gz` (a line a page: `id`, `url`, optionally `charset`, and `body`, or
`present` and `absent`) and `pages/ID.html.gz`.
"""

from service.tune.corpus import CorpusError
from service.tune.fit import tune
from service.tune.report import Report

__all__ = ["CorpusError", "Report", "tune"]
