"""A log over its model: published all-reduce tables, three models, and how far each is off."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Annotated, Any

import numpy as np

from netlib.collectives import busbw, busbw_factor
from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Panel, Points, Rule
from netlib.fidelity import cite
from netlib.fidelity.calibration import constants
from netlib.fidelity.models import collective_time
from netlib.units import GiB, KiB, MiB, size_name

TABLES = {
    "8 A100": "AZA100",
    "8 H200": "AZH200",
    "8 B200": "B200x8",
    "32 B200, 4 nodes": "B200x32",
    "32 B200, calls queued": "B200x32q",
}
MODELS = ("alpha and beta", "with a sqrt(size) term", "fidelity model")
LEAST = MiB  # below it NCCL changes protocol, which no two constants follow
CURVE = np.geomspace(KiB, 16 * GiB, 73)


def _longest() -> int:
    """Points of the longest table: shorter ones are padded with gaps."""
    return max(cite.log(prefix)[1].size for prefix in TABLES.values())


@cache
def _state(table: str, model: str) -> Array:
    """Curve of seconds, then padded sizes, measured busbw and relative errors, then the fit's two constants."""
    setup, size, time = cite.log(TABLES[table])
    n, alpha, rate = setup.ranks, np.nan, np.nan
    if model == "fidelity model":
        both = [float(collective_time(replace(setup, size=s), constants())[0]) for s in (*CURVE, *size)]
        curve, modelled = np.array(both[: CURVE.size]), np.array(both[CURVE.size :])
    else:
        factor = busbw_factor(n, "all_reduce")
        fit = cite.log_fit(TABLES[table], root=model != MODELS[0], least=LEAST)
        alpha, rate = fit.alpha, fit.bandwidth

        def cost(s: Array) -> Array:
            return fit.alpha + fit.root * np.sqrt(s) + factor * s / fit.bandwidth

        curve, modelled = cost(CURVE), cost(size)
    pad = np.full((3, _longest() - size.size), np.nan)
    points = np.concatenate([[size, busbw(size, time, n), modelled / time - 1], pad], axis=1)
    return np.concatenate([busbw(CURVE, curve, n), points.ravel(), [alpha, rate]])


@explorer(
    "log-over-model",
    title="A log over its model",
    caption="All-reduce tables published by Azure and by S. Bekman, with a model drawn over them. Both fits see "
    "messages of 1 MiB and more and minimise the relative error; the fidelity model is fitted to a few rows of each "
    "GPU and predicts the rest. Below 1 MiB the fits guess.",
    alt="Measured busbw as points on log axes, rising in proportion to message size and levelling off, with a curve "
    "through them; a panel below shows the model's relative error for each point around a zero line.",
)
def log_over_model(
    table: Annotated[Array, Knob(*TABLES, default="32 B200, 4 nodes", label="published table")],
    model: Annotated[Array, Knob(*MODELS)],
) -> Figure:
    """Points, curve, and errors; median and worst over the messages of 1 MiB and more."""
    got = each(lambda t, m: _state(t, m), table, model)
    k, most = CURVE.size, _longest()
    size, rate, error = (got[..., k + i * most : k + (i + 1) * most] for i in range(3))
    fair = np.where(size >= LEAST, np.abs(error), np.nan)
    worst = np.nanargmax(fair, axis=-1)[..., None]
    small = np.where(size < LEAST, np.abs(error), np.nan)
    return Figure(
        x=Axis("message size", "iB", "log", limits=(KiB / 2, 32 * GiB)),
        y=Axis("busbw", "B/s", "log"),
        elements=(
            Line("model", CURVE, np.where(got[..., :k] > 0, got[..., :k], np.nan), "model"),
            Points("measured", size, rate),
            Rule(float(LEAST), "fitted from here", ink="bound"),
        ),
        below=Panel(
            Axis("model's error in time", "%"),
            (Points("error", size, error, "model"), Rule(0.0, "", along="y")),
            height=0.6,
        ),
        numbers={
            "median": Number(np.nanmedian(fair, axis=-1)[..., None], "%", "median error from 1 MiB on"),
            "worst": Number(np.take_along_axis(error, worst, -1), "%", "worst error from 1 MiB on"),
            "where": Number(np.take_along_axis(size, worst, -1), "iB", "at"),
            "alpha": Number(got[..., -2:-1], "s", "fitted latency"),
            "rate": Number(got[..., -1:], "B/s", "fitted busbw without latency"),
            "small": Number(_most(small), "%", "worst error below 1 MiB"),
        },
        reading=_reading,
        failure=lambda s: (
            f"Below 1 MiB the model is off by up to {s['small']:.0%}: it holds from 1 MiB on."
            if s["small"] > 0.25
            else ""
        ),
    )


def _most(values: Array) -> Array:
    return np.asarray(np.max(np.where(np.isfinite(values), values, -np.inf), axis=-1))[..., None]


def _reading(s: Mapping[str, Any]) -> str:
    name = {MODELS[0]: "Two constants", MODELS[1]: "Three constants", MODELS[2]: "The fidelity model"}[s["model"]]
    verb = "predicts" if s["model"] == MODELS[2] else "describe"
    fit = f" ({s['alpha'] * 1e6:.0f} µs, {s['rate'] / 1e9:.0f} GB/s)" if s["alpha"] > 0 else ""
    off = "too slow" if s["worst"] > 0 else "too fast"
    return (
        f"{name}{fit} {verb} {s['table']} from 1 MiB on with a median error of {s['median']:.1%}; the worst is "
        f"{abs(s['worst']):.0%} {off}, at {size_name(s['where'])}."
    )
