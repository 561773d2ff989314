from netlib.collectives import ring_allreduce_time, shard_bytes
from netlib.course.exercises import exercise
from netlib.hardware import bandwidth
from netlib.links import Link
from netlib.units import show

PARAMETERS, MODEL, PODS, TAPER, REPLICAS = 405e9, 128, 8, 7, 24
SHARD = float(shard_bytes(2 * PARAMETERS, MODEL, 1))
NIC = bandwidth("ndr-400")


def time(taper: float, size: float = SHARD) -> float:
    return float(ring_allreduce_time(size, PODS, Link(0, NIC / taper)))


EXERCISE = exercise(
    id="taper-01",
    chapter="scale-out",
    skill="what a taper costs",
    stars=3,
    minutes=(8, 14),
    place=280,
    ask="A 405B model is split 128 ways inside a pod of 3,072 GPUs; gradients are BF16. Eight pods train together, and "
    "each of the 128 shards is all-reduced by a ring of 8 ranks, one in each pod (no latency). Each GPU has one NIC of "
    "50e9 bytes/s; above the pods the fabric is tapered 7:1, and all NICs cross at once. How long does the all-reduce "
    "take without the taper (`full`) and with it (`tapered`)? A pod has room for 24 replicas: if these reduce-scatter "
    "inside the pod first, so that each rank takes only its 24th of the shard across, how long does the ring across "
    "the pods take then, with the taper (`scattered`)?",
    answer=lambda: {"full": time(1), "tapered": time(TAPER), "scattered": time(TAPER, SHARD / REPLICAS)},
    unit={"full": "s", "tapered": "s", "scattered": "s"},
    rtol=0.01,
    ranks=8,
    hints=(
        "How many bytes does one GPU hold of the model's gradients?",
        "shard = 405e9 x 2 / 128; time = 2 (8-1)/8 x shard / rate.",
        "`shard = 405e9 * 2 / 128`; `full = 2 * 7 / 8 * shard / ...`",
    ),
    wrong={
        "full": {
            0.127: "that is shard / rate; a ring moves 2(n-1)/n of it",
            0.111: "BF16 takes two bytes a parameter",
            28.35: "the model is split 128 ways before any replica is added up",
        },
        "tapered": {
            0.0316: "the taper makes it slower, not faster",
            0.886: "that is shard x 7 / rate; a ring moves 2(n-1)/n of it",
            0.775: "BF16 takes two bytes a parameter",
        },
        "scattered": {
            0.00923: "that is without the taper",
            37.2: "the reduce-scatter leaves each rank less to send, not more",
        },
    },
    right=(("0.221 s", "1.55 s", "64.6 ms"), {"full": "221 ms", "tapered": 1.55, "scattered": "0.0646"}),
    explain=lambda: (
        f"A shard is {show(SHARD, 'GB')}. Its ring over eight pods takes {show(time(1), 's')}, and "
        f"{show(time(TAPER), 's')} when every NIC gets a seventh. With the reduce-scatter inside the pod it is "
        f"{time(TAPER, SHARD / REPLICAS):.4f} s: a taper does little harm to a job whose traffic shrinks before it "
        "meets the taper."
    ),
)
