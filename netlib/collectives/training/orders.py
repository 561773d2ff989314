"""Orders: the same layout numbered in every way, and what each way costs on a cluster.

Bytes do not change with the order of the axes, links do: what is innermost shares a node. Read with the chapter
"Collectives", section "Who moves what".
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from netlib.arguments import declared
from netlib.collectives.training.layout import AXES, Layout, Placement, placement
from netlib.collectives.training.shapes import Model
from netlib.collectives.training.step import TrainingStep, step_time
from netlib.collectives.training.volumes import Flow
from netlib.collectives.training.wires import Cluster


@dataclass(frozen=True)
class Ordered:
    """A step with the axes in one `order`, innermost first, and where the groups of each axis then lie."""

    order: tuple[str, ...]
    places: tuple[Placement, ...]
    step: TrainingStep


@declared
def by_order(model: Model, layout: Layout, cluster: Cluster, flows: Sequence[Flow]) -> tuple[Ordered, ...]:
    """The step in every order of the axes that have more than one rank, fastest first; nothing overlapped.

    >>> from netlib.collectives.training.shapes import model
    >>> from netlib.collectives.training.volumes import step_flows
    >>> from netlib.links import Link
    >>> a100 = Cluster("A100", 312e12, 271e12, Link(0, 235e9), Link(0, 25e9))
    >>> layout = Layout(tp=8, dp=8, pp=8, microbatches=8)
    >>> [one.order for one in by_order(model("gpt3-175b"), layout, a100, step_flows(model("gpt3-175b"), layout))][0]
    ('tp', 'dp', 'pp')
    """
    used = [axis for axis in AXES if getattr(layout, axis) > 1]
    rest = tuple(axis for axis in AXES if axis not in used)
    found = []
    for order in permutations(used):
        turned = replace(layout, order=(*order, *rest))
        places = tuple(placement(turned, axis, cluster.g) for axis in order)
        found.append(Ordered(order, places, step_time(model, turned, cluster, flows)))
    return tuple(sorted(found, key=lambda one: one.step.total))
