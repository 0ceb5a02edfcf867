"""`config.yaml` and the environment into typed settings: a module a part of the service."""

from service.settings.auth import Auth
from service.settings.extraction import Extraction, Limits, Workers, cpus
from service.settings.fetch import Egress, Fetch
from service.settings.loading import SettingsError, load
from service.settings.render import Render
from service.settings.root import Settings
from service.settings.server import Server

__all__ = [
    "Auth",
    "Egress",
    "Extraction",
    "Fetch",
    "Limits",
    "Render",
    "Server",
    "Settings",
    "SettingsError",
    "Workers",
    "cpus",
    "load",
]
