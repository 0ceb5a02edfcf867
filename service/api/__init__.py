"""The HTTP face of the service, on Starlette."""

from service.api.app import create_app

__all__ = ["create_app"]
