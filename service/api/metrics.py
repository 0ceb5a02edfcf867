"""`/metrics`: what the service does now and has done, in Prometheus' text format."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from service.reader import Reader

_GAUGES = {
    "pages": "Pages that may be rendered at once.",
    "active": "Pages being rendered.",
    "waiting": "Pages waiting for the browser.",
    "memory_bytes": "Private memory of the browser and its driver.",
}
_COUNTS = {
    "pages_rendered": "Pages rendered.",
    "pages_retried": "Pages tried again because their browser ended.",
    "browsers_started": "Browsers started.",
    "browsers_start_failed": "Starts of a browser that failed.",
    "browsers_died": "Browsers that ended by themselves or had to be killed.",
    "browsers_replaced": "Browsers replaced because they were worn.",
}


class ReaderCollector(Collector):
    """Asks the reader when asked: nothing is counted twice."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def collect(self) -> Iterator[Metric]:
        """The reader's components and its render tier."""
        state, render = self._reader.state, self._reader.render_state
        components = {name: value == "ok" for name, value in state.items()}
        components["render"] = render.sound and render.status in ("ok", "not started", "off")
        up = GaugeMetricFamily("bonmun_component_up", "Whether a component can serve.", labels=["component"])
        for name, fine in components.items():
            up.add_metric([name], float(fine))
        yield up
        for name, text in _GAUGES.items():
            value = render.details.get(name, 0)
            yield GaugeMetricFamily(f"bonmun_render_{name}", text, value=float(str(value)))
        for name, value in self._reader.render_counts.items():
            yield CounterMetricFamily(f"bonmun_render_{name}", _COUNTS[name], value=value)


def registry_of(reader: Reader) -> CollectorRegistry:
    """A registry of this reader's own: there may be several in a process."""
    registry = CollectorRegistry()
    registry.register(ReaderCollector(reader))
    return registry
