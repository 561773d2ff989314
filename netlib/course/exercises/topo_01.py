from netlib.course.exercises import exercise
from netlib.hardware import bandwidth
from netlib.units import GB, show

# Invented in the format of `nvidia-smi topo -m`: half of a node, its second socket wired crosswise
SHOWN = """\
        GPU0    GPU1    GPU2    GPU3    NIC0    NIC1    NIC2    NIC3
GPU0     X      NV18    NV18    NV18    PIX     NODE    SYS     SYS
GPU1    NV18     X      NV18    NV18    NODE    PIX     SYS     SYS
GPU2    NV18    NV18     X      NV18    SYS     SYS     NODE    PIX
GPU3    NV18    NV18    NV18     X      SYS     SYS     PIX     NODE"""
NEAREST_FIRST = ("PIX", "PXB", "PHB", "NODE", "SYS")
NICS = {"a": "NIC0", "b": "NIC1", "c": "NIC2", "d": "NIC3"}
PAIRS = {"a": "those with neighbouring numbers", "b": "those on the same socket", "c": "all of them", "d": "none"}

HEAD, *LINES = (line.split() for line in SHOWN.splitlines())
MATRIX = {name: dict(zip(HEAD, cells, strict=True)) for name, *cells in LINES}


def nic() -> str:
    return min(NICS, key=lambda letter: NEAREST_FIRST.index(MATRIX["GPU2"][NICS[letter]]))


def pairs() -> str:
    linked = {frozenset((a, b)) for a, row in MATRIX.items() for b, cell in row.items() if cell.startswith("NV")}
    every = {frozenset((a, b)) for a in MATRIX for b in MATRIX if a != b}
    socket = {frozenset(("GPU0", "GPU1")), frozenset(("GPU2", "GPU3"))}
    return {frozenset(every): "c", frozenset(socket): "b", frozenset(): "d"}.get(frozenset(linked), "a")


def rate() -> float:
    return int(MATRIX["GPU0"]["GPU1"].removeprefix("NV")) * bandwidth("nvlink4-link")


EXERCISE = exercise(
    id="topo-01",
    chapter="collectives",
    skill="reading a topology matrix",
    stars=1,
    minutes=(4, 7),
    place=45,
    ask="The source program's last exercise: run `nvidia-smi topo -m` and say which pairs are on NVLink and which NIC "
    "is closest. Here is one from H100 GPUs. Which `pairs` of GPUs are on NVLink? Which `nic` is closest to GPU2? "
    "And at what `rate` can GPU0 send over NVLink, one way, in GB/s?",
    shown=SHOWN,
    answer=lambda: {"pairs": pairs(), "nic": nic(), "rate": rate()},
    unit={"rate": "GB/s"},
    compare={"pairs": "choice", "nic": "choice"},
    options={"pairs": PAIRS, "nic": NICS},
    hints=(
        "NV and a number is NVLink. PIX is one PCIe switch away, SYS another socket.",
        "rate = number of links x bandwidth of one NVLink 4, one way.",
        "`rate = 18 * ...`",
    ),
    wrong={
        "pairs": {
            "a": "look at the row of GPU0: three cells say NV18",
            "b": "GPU0 and GPU2 sit on different sockets, and their cell says NV18",
            "d": "a cell that says NV18 is eighteen NVLinks",
        },
        "nic": {
            "a": "from GPU2 that one is on the other socket (SYS)",
            "b": "from GPU2 that one is on the other socket (SYS)",
            "c": "same number, but NODE: across the socket's PCIe root. The numbering promises nothing",
        },
        "rate": {
            2 * rate() / GB: "that adds the two directions",
            bandwidth("nvlink4-link") / GB: "that is one link; NV18 says how many there are",
        },
    },
    right=({"pairs": "c", "nic": "d", "rate": "450 GB/s"}, ("all of them", "NIC3", "3600 Gb/s")),
    explain=lambda: (
        f"All pairs: the GPUs reach each other over {MATRIX['GPU0']['GPU1']}, eighteen links, "
        f"{show(rate(), 'GB/s')} one way. GPU2's nearest card is {NICS[nic()]}, not the one with its number: check the "
        "pairing before you trust a rail. PIX: one PCIe switch; PXB: several; PHB: the CPU's bridge; NODE: another "
        "bridge of the same socket; SYS: the other socket."
    ),
)
