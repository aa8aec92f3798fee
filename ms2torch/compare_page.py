"""The comparison as one HTML page without a network: the error over depth as a plot, and the table."""

from __future__ import annotations

import html
import math

from ms2torch.compare import Difference

WIDTH, HEIGHT, LEFT, BOTTOM = 960, 320, 60, 30
FLOOR = 1e-12  # errors below are drawn on the axis

STYLE = """
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem; color: #222; background: #fff }
table { border-collapse: collapse } td, th { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #ddd }
td:first-child, th:first-child { text-align: left; font-family: ui-monospace, monospace }
tr.fault td { background: #fde8e8 } svg { background: #fafafa; border: 1px solid #ddd; max-width: 100% }
"""


def page(found: list[Difference], fault: Difference | None, atol: float, rtol: float) -> str:
    """The page's text."""
    outputs = [d for d in found if d.kind == "output" and not d.why]
    head = (
        "No difference beyond rounding."
        if fault is None
        else f"First difference: {fault.path or 'the model'}"
    )
    rows = "".join(_row(d, d.beyond(atol, rtol)) for d in found)
    names = ("module", "tensor", "shape", "dtype", "max abs", "max rel", "cosine")
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>ms2torch compare</title><style>{STYLE}</style>'
        f"<h1>{html.escape(head)}</h1><p>{len(found)} tensors; differences up to {atol:g} (absolute) or {rtol:g} "
        "(relative to the largest value) count as rounding.</p><h2>Error over depth</h2>"
        f"{_plot(outputs)}<h2>Tensors</h2><table>"
        f"<tr>{''.join(f'<th>{n}</th>' for n in names)}</tr>{rows}</table></html>\n"
    )


def _row(d: Difference, fault: bool) -> str:
    values = (d.why, "", "") if d.why else (f"{d.max_abs:.3e}", f"{d.max_rel:.3e}", f"{d.cosine:.8f}")
    cells = (
        d.path,
        f"{d.kind} {d.number}".strip(),
        "×".join(map(str, d.shape)) or "scalar",
        d.dtype,
        *values,
    )
    kind = ' class="fault"' if fault else ""
    return f"<tr{kind}>{''.join(f'<td>{html.escape(c)}</td>' for c in cells)}</tr>"


def _plot(outputs: list[Difference]) -> str:
    """Largest relative error of each module's output, in the order of the run, on a logarithmic axis."""
    if not outputs:
        return "<p>No module outputs were recorded by both.</p>"
    low = math.log10(FLOOR)
    high = max(0.0, *(math.log10(max(d.max_rel, FLOOR)) for d in outputs))
    step = (WIDTH - LEFT - 10) / max(len(outputs) - 1, 1)

    def y(value: float) -> float:
        share = (math.log10(max(value, FLOOR)) - low) / (high - low)
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - 10)

    points = [(LEFT + i * step, y(d.max_rel), d) for i, d in enumerate(outputs)]
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b, _ in points)
    dots = "".join(
        f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="#c0392b">'
        f"<title>{html.escape(d.path)}: {d.max_rel:.2e}</title></circle>"
        for a, b, d in points
    )
    marks = "".join(
        f'<text x="{LEFT - 6}" y="{y(10.0**e) + 4:.1f}" text-anchor="end">1e{e}</text>'
        f'<line x1="{LEFT}" x2="{WIDTH - 10}" y1="{y(10.0**e):.1f}" y2="{y(10.0**e):.1f}" stroke="#e5e5e5"/>'
        for e in range(int(low), int(high) + 1, 3)
    )
    words = "modules in the order in which they ended"
    label = f'<text x="{WIDTH / 2}" y="{HEIGHT - 8}" text-anchor="middle">{words}</text>'
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" font-size="12" role="img" aria-label="error over depth">'
        f'{marks}<polyline points="{line}" fill="none" stroke="#c0392b"/>{dots}{label}</svg>'
    )
