"""All the sections as one."""

from __future__ import annotations

from service.settings.auth import Auth
from service.settings.extraction import Extraction, Limits, Workers
from service.settings.fetch import Egress, Fetch
from service.settings.render import Render
from service.settings.section import Section
from service.settings.server import Server


class Settings(Section):
    """Every setting, by section."""

    server: Server = Server()
    auth: Auth = Auth()
    limits: Limits = Limits()
    fetch: Fetch = Fetch()
    egress: Egress = Egress()
    extraction: Extraction = Extraction()
    workers: Workers = Workers()
    render: Render = Render()
