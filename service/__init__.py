"""Bonmun: the body of a page. `extract` reads bytes, `Reader` reads addresses; failures have names."""

from service.extraction import extract
from service.failures import Failure
from service.page import Page
from service.reader import Reader
from service.settings import Settings

__all__ = ["Failure", "Page", "Reader", "Settings", "extract"]
