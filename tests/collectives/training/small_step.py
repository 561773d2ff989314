"""Small training steps, executed on numpy ranks that really pass the bytes: the second opinion for every volume.

`Wire` moves arrays between ranks and counts what each sends and receives, by axis. The steps below compute a result
that a single process computes too. None of this knows a formula of `netlib.collectives.training`.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

Arrays = list[np.ndarray]


class Wire:
    """n ranks; `sent[axis]` and `received[axis]` are (n,) bytes."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.sent: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(n))
        self.received: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(n))

    def move(self, axis: str, src: int, dst: int, what: np.ndarray) -> np.ndarray:
        self.sent[axis][src] += what.nbytes
        self.received[axis][dst] += what.nbytes
        return what.copy()

    def reduce_scatter(self, axis: str, ranks: list[int], buffers: Arrays) -> Arrays:
        """Ring; rows are cut among the ranks, rank i of the list ends with the sum of part i."""
        n = len(ranks)
        parts = [np.array_split(buffer.copy(), n) for buffer in buffers]
        for step in range(n - 1):
            taken = [parts[i][(i - step - 1) % n].copy() for i in range(n)]
            for i in range(n):
                there = (i + 1) % n
                parts[there][(i - step - 1) % n] += self.move(axis, ranks[i], ranks[there], taken[i])
        return [parts[i][i] for i in range(n)]

    def all_gather(self, axis: str, ranks: list[int], mine: Arrays) -> Arrays:
        n = len(ranks)
        parts: list[dict[int, np.ndarray]] = [{i: mine[i]} for i in range(n)]
        for step in range(n - 1):
            taken = [parts[i][(i - step) % n] for i in range(n)]
            for i in range(n):
                parts[(i + 1) % n][(i - step) % n] = self.move(axis, ranks[i], ranks[(i + 1) % n], taken[i])
        return [np.concatenate([part[i] for i in range(n)]) for part in parts]

    def all_reduce(self, axis: str, ranks: list[int], buffers: Arrays) -> Arrays:
        return self.all_gather(axis, ranks, self.reduce_scatter(axis, ranks, buffers))


def sharded_step(n: int, weights: np.ndarray, data: np.ndarray, zero: int, local: bool) -> tuple[Wire, Arrays]:
    """One step of linear regression; data (n, microbatches, samples, weights + 1), last column the target.

    Returns the wire and the weights that each rank holds, or can gather, after the step.
    """
    wire, ranks = Wire(n), list(range(n))
    held = [part.copy() for part in np.array_split(weights, n)]  # what a rank of stage 3 keeps between uses
    whole = [weights.copy() for _ in ranks]
    gradients = [np.zeros_like(weights) for _ in ranks]
    shards = [np.zeros_like(part) for part in held]
    for micro in range(data.shape[1]):
        here = wire.all_gather("dp", ranks, held) if zero == 3 else whole
        errors = [data[r, micro, :, :-1] @ here[r] - data[r, micro, :, -1] for r in ranks]
        here = wire.all_gather("dp", ranks, held) if zero == 3 else whole  # dropped after the forward pass
        fresh = [data[r, micro, :, :-1].T @ errors[r] + 1e-3 * here[r] for r in ranks]
        if zero >= 2 and not local:
            for shard, part in zip(shards, wire.reduce_scatter("dp", ranks, fresh), strict=True):
                shard += part
        else:
            gradients = [old + new for old, new in zip(gradients, fresh, strict=True)]
    if zero == 0:
        return wire, [w - 0.1 * g for w, g in zip(whole, wire.all_reduce("dp", ranks, gradients), strict=True)]
    if zero == 1 or local:
        shards = wire.reduce_scatter("dp", ranks, gradients)
    held = [part - 0.1 * shard for part, shard in zip(held, shards, strict=True)]
    if zero == 3:
        return wire, [np.concatenate(held)] * n
    return wire, wire.all_gather("dp", ranks, held)


def one_process_step(weights: np.ndarray, data: np.ndarray) -> np.ndarray:
    gradient = np.zeros_like(weights)
    for rank in data:
        for batch in rank:
            gradient += batch[:, :-1].T @ (batch[:, :-1] @ weights - batch[:, -1]) + 1e-3 * weights
    return weights - 0.1 * gradient


def tensor_step(
    tp: int,
    layers: int,
    tokens: int,
    hidden: int,
    *,
    sequence_parallel: bool,
    recompute: bool,
    regather: bool,
    seed: int,
) -> tuple[Wire, np.ndarray, np.ndarray]:
    """Forward and backward pass of layers of two blocks y = x + tanh(x A) B, A cut by columns and B by rows.

    Returns the wire and (sharded, unsharded) stacks of input gradient and all weight gradients.
    """
    rng = np.random.default_rng(seed)
    wire, ranks, blocks, wide = Wire(tp), list(range(tp)), 2 * layers, 2 * hidden
    a = [rng.normal(size=(hidden, wide)) / hidden for _ in range(blocks)]
    b = [rng.normal(size=(wide, hidden)) / wide for _ in range(blocks)]
    x, top = rng.normal(size=(tokens, hidden)), rng.normal(size=(tokens, hidden))

    def cut(k: int, r: int) -> tuple[np.ndarray, np.ndarray]:
        return np.split(a[k], tp, axis=1)[r], np.split(b[k], tp, axis=0)[r]

    def into(value: Arrays) -> Arrays:
        return wire.all_gather("tp", ranks, value) if sequence_parallel else value

    def out_of(value: Arrays) -> Arrays:
        return wire.reduce_scatter("tp", ranks, value) if sequence_parallel else wire.all_reduce("tp", ranks, value)

    def block(k: int, state: Arrays) -> tuple[Arrays, Arrays]:
        whole = into(state)
        partial = [np.tanh(whole[r] @ cut(k, r)[0]) @ cut(k, r)[1] for r in ranks]
        return whole, [old + new for old, new in zip(state, out_of(partial), strict=True)]

    def spread(value: np.ndarray) -> Arrays:
        return np.split(value, tp) if sequence_parallel else [value] * tp

    states, wholes = [spread(x)], []
    for k in range(blocks):
        whole, state = block(k, states[-1])
        wholes.append(whole)
        states.append(state)
    slope, weight_gradients = spread(top), []
    for layer in reversed(range(layers)):
        if recompute:
            for k in (2 * layer, 2 * layer + 1):
                block(k, states[k])
        for k in (2 * layer + 1, 2 * layer):
            back = into(slope)
            seen = wire.all_gather("tp", ranks, states[k]) if sequence_parallel and regather else wholes[k]
            partial = []
            for r in ranks:
                first, second = cut(k, r)
                bent = np.tanh(seen[r] @ first)
                inner = (back[r] @ second.T) * (1 - bent**2)
                weight_gradients.append((k, r, seen[r].T @ inner, bent.T @ back[r]))
                partial.append(inner @ first.T)
            slope = [old + new for old, new in zip(slope, out_of(partial), strict=True)]
    got = np.concatenate(slope) if sequence_parallel else slope[0]
    weight_gradients.sort(key=lambda row: row[:2])
    sharded = [got.ravel()]
    for k in range(blocks):
        rows = [row for row in weight_gradients if row[0] == k]
        sharded += [np.hstack([row[2] for row in rows]).ravel(), np.vstack([row[3] for row in rows]).ravel()]

    plain, slope1 = [x], top
    for k in range(blocks):
        plain.append(plain[-1] + np.tanh(plain[-1] @ a[k]) @ b[k])
    expected: dict[int, list[np.ndarray]] = {}
    for k in reversed(range(blocks)):
        bent = np.tanh(plain[k] @ a[k])
        inner = (slope1 @ b[k].T) * (1 - bent**2)
        expected[k] = [(plain[k].T @ inner).ravel(), (bent.T @ slope1).ravel()]
        slope1 = slope1 + inner @ a[k].T
    unsharded = [slope1.ravel(), *(part for k in range(blocks) for part in expected[k])]
    return wire, np.concatenate(sharded), np.concatenate(unsharded)


def pipeline_step(blocks: list, home: dict, length: int, p: int, m: int, tokens: int, hidden: int, seed: int):
    """A chain of `length` tanh layers worked off in the order of a schedule's blocks; `home[i, k]` is the stage of
    microbatch i at position k. Returns the wire, the summed weight gradients by position, and those of one process.
    """
    rng = np.random.default_rng(seed)
    weights = [rng.normal(size=(hidden, hidden)) / hidden for _ in range(length)]
    data = rng.normal(size=(m, tokens, hidden))
    wire = Wire(p)
    inputs: dict = {(i, 0): data[i] for i in range(m)}
    slopes: dict = {}
    inner: dict = {}
    gradients = [np.zeros((hidden, hidden)) for _ in range(length)]
    queue = [list(stage) for stage in blocks]

    def able(one) -> bool:
        kind, i, k = one
        if kind == "F":
            return (i, k) in inputs
        return (i, k) in inner if kind == "W" else (i, k) in slopes

    def work(stage: int, one) -> None:
        kind, i, k = one
        assert home[i, k] == stage
        if kind == "F":
            out = np.tanh(inputs[i, k] @ weights[k])
            if k + 1 == length:
                slopes[i, k] = out  # the loss is half of the squared output
            elif home[i, k + 1] == stage:
                inputs[i, k + 1] = out
            else:
                inputs[i, k + 1] = wire.move("pp", stage, home[i, k + 1], out)
        elif kind == "W":
            gradients[k] += inputs[i, k].T @ inner.pop((i, k))
        else:
            bent = np.tanh(inputs[i, k] @ weights[k])
            slope = slopes.pop((i, k)) * (1 - bent**2)
            down = slope @ weights[k].T
            if k:
                there = home[i, k - 1]
                slopes[i, k - 1] = down if there == stage else wire.move("pp", stage, there, down)
            if kind == "B":
                gradients[k] += inputs[i, k].T @ slope
            else:
                inner[i, k] = slope

    moved = True
    while moved:
        moved = False
        for stage in range(p):
            while queue[stage] and all(able(one) for one in queue[stage][0]):
                for one in queue[stage].pop(0):
                    work(stage, one)
                moved = True
    assert not any(queue), "the schedule waits for ever"
    assert not inner, "a weight pass is missing"

    expected = [np.zeros((hidden, hidden)) for _ in range(length)]
    for i in range(m):
        chain = [data[i]]
        for k in range(length):
            chain.append(np.tanh(chain[-1] @ weights[k]))
        slope = chain[-1]
        for k in reversed(range(length)):
            slope = slope * (1 - chain[k + 1] ** 2)
            expected[k] += chain[k].T @ slope
            slope = slope @ weights[k].T
    return wire, gradients, expected


def expert_step(routes: list, experts: int, ep: int, g: int, hidden: int, *, dedup: bool, seed: int):
    """Every rank sends each of its tokens to the experts of `routes` and adds up what comes back; `routes` is the same
    list of expert sets for each rank. With `dedup` a token goes once to each other node, to the rank with the sender's
    place in it, and from there on to ranks inside, once each. Axes: "nic" between nodes, "nvlink" inside a node.
    Returns the wire after dispatch and the (ranks, tokens, hidden) results with those of one process.
    """
    rng = np.random.default_rng(seed)
    scale = rng.normal(size=experts)
    tokens = rng.normal(size=(ep, len(routes), hidden))
    wire = Wire(ep)
    owner = np.arange(experts) // (experts // ep)
    result = np.zeros_like(tokens)

    def hop(src: int, dst: int, what: np.ndarray) -> np.ndarray:
        if src == dst:
            return what
        return wire.move("nvlink" if src // g == dst // g else "nic", src, dst, what)

    for rank in range(ep):
        for t, chosen in enumerate(routes):
            token = tokens[rank, t]
            ranks = [int(owner[e]) for e in chosen]
            if not dedup:
                for e, there in zip(chosen, ranks, strict=True):
                    result[rank, t] += scale[e] * hop(rank, there, token)
                continue
            for node in sorted({there // g for there in ranks}):
                landed = node * g + rank % g
                copy = hop(rank, landed, token)
                for there in sorted({r for r in ranks if r // g == node}):
                    arrived = hop(landed, there, copy)
                    result[rank, t] += sum(scale[e] for e in chosen if owner[e] == there) * arrived
    alone = np.stack(
        [[sum(scale[e] for e in chosen) * tokens[r, t] for t, chosen in enumerate(routes)] for r in range(ep)]
    )
    return wire, result, alone
