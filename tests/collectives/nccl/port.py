"""Three versions of NCCL's cost model once more: scalar, microseconds and GB/s, constants typed anew, nothing shared.

Written from the source files as loops over one cluster at a time. The tests compare it with `netlib.collectives.nccl`.
"""

from math import floor, log2

TREE, RING, DIRECT, CHAIN, NVLS, NVLSTREE, PAT = (
    "Tree",
    "Ring",
    "CollNetDirect",
    "CollNetChain",
    "NVLS",
    "NVLSTree",
    "PAT",
)
LL, LL128, SIMPLE = "LL", "LL128", "Simple"
ALL = ((TREE, LL), (TREE, LL128), (TREE, SIMPLE), (RING, LL), (RING, LL128), (RING, SIMPLE), (DIRECT, SIMPLE))
ALL += ((CHAIN, LL), (CHAIN, SIMPLE), (NVLS, SIMPLE), (NVLSTREE, SIMPLE), (PAT, SIMPLE))
CORRECTION = {
    LL: "1 1 1 1 .9 .8 .7 .7 .7 .7 .6 .5 .4 .4 .5 .6 .7 .8 .9 1 1 1 1 1",
    LL128: "1 1 1 1 1 .9 .8 .8 .8 .7 .6 .6 .6 .6 .6 .6 .8 .9 .9 .9 .9 1 1 1",
    SIMPLE: ".9 .9 .9 .9 .9 .9 .9 .8 .7 .6 .6 .5 .5 .5 .5 .6 .7 .8 .7 .7 .8 .9 .9 .9",
}
CORRECTION_27 = {
    LL: "1 1 1 1 .9 .8 .7 .7 .7 .7 .6 .5 .4 .4 .5 .6 .7 .8 .9 1 1 1",
    LL128: "1 1 1 1 1 .9 .8 .8 .8 .7 .6 .6 .6 .5 .6 .6 .7 .7 .8 .9 .9 1",
    SIMPLE: ".9 .9 .9 .9 .9 .9 .9 .8 .7 .6 .6 .5 .5 .5 .5 .5 .5 .6 .6 .7 .8 .9",
}


class Job:
    """One cluster: everything a plain number."""

    def __init__(
        self, gpu, nodes, g, ring, nvls=None, cpu="Intel", nvlink=True, nic=0.0, plain=False, same=True, chans=None
    ):
        self.gpu, self.N, self.g, self.ring, self.nvls, self.cpu = gpu, nodes, g, ring, nvls, cpu
        self.nvlink, self.nic, self.plain, self.same = nvlink, nic, plain, same
        self.n = nodes * g
        self.chans = ring[0] if chans is None else chans
        self.span = 0 if nodes == 1 else 1 if nodes == 2 else 2


def nsteps(op, n):
    if op == "all_reduce":
        return 2 * (n - 1)
    return n - 1 if op in ("all_gather", "reduce_scatter") else n


def model_2307(job, op, algo, proto):
    """(latency us, bandwidth GB/s) in 2.30.7; None if there is no such thing. CollNet is left out: off by default."""
    gather = op in ("all_gather", "reduce_scatter")
    if (algo == TREE and op != "all_reduce") or (algo == NVLSTREE and op != "all_reduce"):
        return None
    if (algo == NVLS and not (gather or op == "all_reduce")) or (algo == PAT and not gather) or algo in (DIRECT, CHAIN):
        return None
    count, wi, we = job.ring
    w = wi if job.N <= 2 else we
    bus = count * w
    number = {"Volta": 0, "Ampere": 1, "Hopper": 2, "Blackwell": 3}[job.gpu]
    one = (39.0, 87.7, 141.0, 282.0)[number]
    ll_cap = one if job.N == 1 else ((39.0, 20.4), (22.5, 19.0))[job.cpu == "AMD"][job.span - 1]
    if algo == RING:
        if proto == LL:
            bus = min(ll_cap, bus * 0.5)
        if proto == LL128:
            bus = min(bus * 0.92, count * (20.0, 20.0, 36.7, 40.0)[number])
        bw = bus * job.n / nsteps(op, job.n)
    elif algo == TREE:
        cap = ((26.5, 18.5, 10.0), (24.0, 23.6, 17.8), (38.7, 41.4, 36.0), (70.0, 42.8, 24.0))[number][job.span]
        bus = min(bus * 0.92, count * cap)
        if proto == LL:
            bus = min(bus / 3.8, ll_cap)
        if proto == LL128:
            cap = ((20.0,) * 3, (20.0,) * 3, (36.7, 36.7, 29.0), (55.6, 31.67, 20.0))[number][job.span]
            bus = min(bus * (7 / 9 if job.N == 1 else 120 / 128), count * cap)
        bw = bus * (0.85 if job.plain else 1) * 0.5
    elif algo in (NVLS, NVLSTREE):
        if job.nvls is None or number < 2:
            return None
        count, wi, we = job.nvls
        inside = wi * (0.85 if number == 2 else 0.74) * (count - 1) / count
        inside *= 2 if op == "all_reduce" else (job.g - 1) / job.g
        speed = min(inside, we * (2 if job.N <= 2 and algo == NVLSTREE else 1))
        if algo == NVLSTREE:
            speed = min(speed, ((0.0, 57.7, 45.5), (0.0, 96.0, 80.0))[number - 2][job.span])
        bw = count * speed * (job.n / nsteps(op, job.n) if op == "all_reduce" else 1)
    else:
        bw = bus * 0.75
    base = {TREE: (6.8, 14.0, 8.4), RING: (6.6, 14.0, 8.4), NVLS: (0, 0, 0), NVLSTREE: (0, 0, 0), PAT: (8, 8, 8)}[algo]
    at = (LL, LL128, SIMPLE).index(proto)
    lat = base[at]
    near = {TREE: (0.6, 1.25, 4.0), RING: (0.6, 1.9, 3.4), NVLS: (0, 0, 25), NVLSTREE: (0, 0, 25), PAT: (0, 0, 4.0)}
    pcie = {TREE: (1.0, 1.9, 4.0), RING: (1.0, 2.5, 5.7), NVLS: (0, 0, 0), NVLSTREE: (0, 0, 0), PAT: (0, 0, 4.0)}
    far = {TREE: (5.0, 8.5, 14.0), RING: (2.7, 4.0, 14.0), NVLS: (0, 0, 18), NVLSTREE: (0, 0, 20.9), PAT: (0, 0, 14)}
    inside = (near if job.nvlink else pcie)[algo][at]
    across = far[TREE if job.g == 1 else algo][at] + job.nic * (2 if proto == SIMPLE else 1)
    if algo == RING and op in ("broadcast", "reduce"):
        kind = TREE if proto == SIMPLE and not job.same else RING
        hop = ((near if job.nvlink else pcie) if job.N == 1 else far)[kind][at]
        lat += hop if job.same else nsteps(op, job.n) * hop
    elif algo == RING:
        crossing = 0 if job.N == 1 else 2 * (job.N - 1) if op == "all_reduce" else job.N - 1
        if job.N > 1:
            inside = max(inside, (2.0 if job.cpu == "AMD" else 1.0) * (3 if proto == SIMPLE else 1))
        lat += (nsteps(op, job.n) - crossing) * inside + crossing * across
    elif algo == TREE:
        lat += 2 * ((job.g - 1) * inside + floor(log2(job.N)) * across)
    elif algo == NVLS:
        lat = inside + (across if job.N > 1 else 0)
    elif algo == NVLSTREE:
        lat += inside + 2 * floor(log2(job.N)) * across
    else:
        lat += floor(log2(job.N)) * across / 3.5 + 2.8 * job.n
    return lat, bw


def model_218(job, op, algo, proto):
    """The same for 2.18.3, for one all-reduce: rings cross the network twice more, NVLSTree walks a chain."""
    if algo in (DIRECT, CHAIN, PAT) or op != "all_reduce":
        return None
    number = min({"Volta": 0, "Ampere": 1, "Hopper": 2, "Blackwell": 2}[job.gpu], 2)
    count, wi, we = job.ring
    bus = count * (wi if job.N <= 2 else we)
    at = (LL, LL128, SIMPLE).index(proto)
    ll_cap = (39.0, 87.7, 87.7)[number] if job.N == 1 else ((39.0, 20.4), (22.5, 19.0))[job.cpu == "AMD"][job.span - 1]
    nic = job.nic * (2 if proto == SIMPLE else 1)
    if algo == RING:
        if proto == LL:
            bus = min(ll_cap, bus / 4)
        if proto == LL128:
            bus = min(bus * (0.7 if job.g < 2 else 0.92), count * (20.0, 20.0, 36.7)[number])
        inside, across = ((0.6, 1.9, 3.4) if job.nvlink else (1.0, 2.5, 5.7))[at], (2.7, 4.0, 14.0)[at] + nic
        if job.N > 1:
            inside = max(inside, (2.0 if job.cpu == "AMD" else 1.0) * (3 if proto == SIMPLE else 1))
        crossing = 2 * job.N if job.N > 1 else 0
        lat = (6.6, 14.0, 8.4)[at] + (2 * (job.n - 1) - crossing) * inside + crossing * across
        return lat, bus * job.n / (2 * (job.n - 1))
    if algo == TREE:
        cap = ((26.5, 18.5, 10.0), (24.0, 23.6, 17.8), (38.7, 41.4, 36.0))[number][job.span]
        bus = min(bus * 0.92, count * cap)
        if proto == LL:
            bus = min(bus / 3.8, ll_cap)
        if proto == LL128:
            cap = ((20.0,) * 3, (20.0,) * 3, (36.7, 36.7, 29.0))[number][job.span]
            bus = min(bus * (7 / 9 if job.N == 1 else 120 / 128), count * cap)
        inside, across = ((0.6, 1.25, 4.0) if job.nvlink else (1.0, 1.9, 6.0))[at], (5.0, 8.5, 14.0)[at] + nic
        lat = (6.8, 14.0, 0.0)[at] + 2 * ((job.g - 1) * inside + floor(log2(job.N)) * across)
        return lat, bus * (0.85 if job.plain else 1) / 2
    if job.nvls is None or number < 2:
        return None
    count, wi, we = job.nvls
    bus = count * (wi if job.N <= 2 else we)
    if algo == NVLS:
        return 23.0 + (18.0 if job.N > 1 else 0.0), bus * 5 / 6
    return 23.0 + 2 * (job.N - 1) * 19.0, bus * 0.70 * job.N / max(2 * (job.N - 1), 1)


def model_27(job, op, algo, proto):
    """The same for 2.7.8, rings and trees."""
    if algo not in (TREE, RING) or (algo == TREE and op != "all_reduce"):
        return None
    at, ampere = (LL, LL128, SIMPLE).index(proto), job.gpu == "Ampere"
    count, wi, we = job.ring
    bus = count * (wi if job.N <= 2 else we)
    bus = min(bus, 235.0) if ampere else bus
    each = {"broadcast": 18.8, "reduce": 12.0, "all_gather": 18.3, "reduce_scatter": 15.2, "all_reduce": 16.7}[op]
    near = (
        {TREE: (0.52, 1.2, 28.0), RING: (0.47, 1.9, 3.4)}
        if job.nvlink
        else {TREE: (1.0, 1.9, 28.0), RING: (1.0, 2.5, 5.7)}
    )
    far = {TREE: (5.0, 8.5, 50.0), RING: (2.7, 4.0, 9.6)}
    inside, across = near[algo][at] * (1.8 if job.N > 1 and proto == LL else 1), far[algo][at]
    if algo == RING:
        if proto == LL:
            bus *= 1 / 4 if job.N > 1 or op in ("all_reduce", "reduce") else 1 / 3
        if proto == LL128:
            bus = min(bus * (0.7 if job.g < 2 else 0.92), each * count)
        lat = (3.6, 10.0, 8.4)[at]
        if op in ("broadcast", "reduce"):
            kind = TREE if proto == SIMPLE and not job.same else RING
            hop = (near if job.N == 1 else far)[kind][at]
            lat += hop if job.same else job.n * hop
        else:
            crossing = (2 if op == "all_reduce" else 1) * (job.N - 1)
            lat += (nsteps(op, job.n) - crossing) * inside + crossing * across
        return lat, bus * job.n / nsteps(op, job.n)
    top = (105.0 if job.N > 2 else 130.0) if ampere and proto == LL128 else (80.0 if job.N > 2 else 110.0)
    bus = min(bus * 0.9, top)
    if proto == LL:
        bus /= 3.8
    if proto == LL128:
        bus = min(bus * (7 / 9 if job.N == 1 else 0.915), each * count * 7 / 9)
    return (4.4, 4.4, 0.0)[at] + 2 * ((job.g - 1) * inside + floor(log2(job.N)) * across), bus / 2


MODELS = {"2.30.7": model_2307, "2.18.3": model_218, "2.7.8": model_27}


def time(version, job, op, algo, proto, size, k=1):
    """Microseconds, or None."""
    found = MODELS[version](job, op, algo, proto)
    if found is None or found[1] == 0:
        return None
    lat, bw = found
    old = version == "2.7.8"
    row = [float(each) for each in (CORRECTION_27 if old else CORRECTION)[proto].split()]
    bucket, last = -1, {"2.7.8": 22}.get(version, 23)
    if size >= 64:
        bucket = floor(log2(size // 64))
    elif version != "2.30.7":
        bucket = 0
    if algo == TREE and op == "all_reduce" and 0 <= bucket < last:
        bw *= row[bucket]
    blackwell = version == "2.30.7" and job.gpu == "Blackwell" and job.cpu in ("Intel", "AMD")
    if algo == NVLSTREE and blackwell and 0 <= bucket < 24:
        bw *= row[bucket]
    if algo == RING and proto == SIMPLE and job.N > 1 and op == "all_reduce":
        if old and size >= job.n / 16 * 65536:
            lat *= 1.9
        if not old and size // (job.chans * job.n) >= 64:
            lat *= 1.9 if job.gpu == "Volta" else 1.4
    batch = {"2.30.7": 10, "2.18.3": 9, "2.7.8": None}[version]
    repeats = 1 if batch is None else k if algo == RING else -(-k // batch)
    return lat * repeats + size / (1000 * bw)
