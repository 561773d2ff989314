"""Why the models miss where they miss. A test demands that these are all misses, and nothing else."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Explained:
    """Misses with one cause: its name, what we think and how sure, the rows."""

    cause: str
    reason: str
    rows: tuple[str, ...]

    @property
    def title(self) -> str:
        """The cause with a capital, and no other letter changed."""
        return self.cause[:1].upper() + self.cause[1:]


EXPLAINED = (
    Explained(
        "racks of 72, alone or joined",
        "The byte count lets all 72 links, and between racks all 72 cards, work at full rate at once. Published runs "
        "reach 75 to 85 % of that inside a rack and as little as 30 % between racks. We know no published cause; the "
        "model does not hold.",
        ("CW-006", "CW-011", "CW-012", "CW-015", "CW-018", "CW-022", "GTC-019"),
    ),
    Explained(
        "all-to-all on NVIDIA's slide",
        "Inside a node the slide reaches 87 % of the planned link. Across nodes it shows exactly one card per GPU, "
        "where counting bytes gives N/(N-1) of it for N nodes, since a share stays inside. The slide may count "
        "differently.",
        tuple(f"GTC-{i:03d}" for i in range(20, 28)),
    ),
    Explained(
        "small and middle sizes on EFA",
        "The price of a network level was fitted to one InfiniBand cluster; on EFA it seems to be higher. The first "
        "rows of one table took up to milliseconds where a later table of the same author shows a tenth of one.",
        ("B200x32-001", "B200x32-002", "B200x32-003", "AWS-004", "AWS-009", "AWS-010", "AWS-011"),
    ),
    Explained(
        "4 to 16 MiB on four nodes with NCCL 2.30.7",
        "At 16 MiB their author measured 53 % more with NCCL 2.27.7 on the same nodes, which is near the model. What "
        "2.30.7 does there is not known to us.",
        ("B200x32q-008", "B200x32q-009", "B200x32q-010"),
    ),
    Explained(
        "a hierarchy forced on EFA",
        "Forced to NVLSTree, four nodes lost a sixth of the ring's busbw. The model lets the tree keep its cards as "
        "busy as rings do.",
        ("B200x32f-002",),
    ),
    Explained(
        "thousands of ranks at 16 MiB",
        "We suspect that a medium message waits for the slowest of thousands of ranks; the model has no jitter.",
        ("NVT-017", "NVT-018"),
    ),
    Explained(
        "reported as a problem",
        "These values come from issues whose authors thought that something was wrong.",
        ("ISS-022", "ISS-029"),
    ),
    Explained(
        "a change of protocol",
        "These tables rise in steps: one shows 101 us from 1 to 4 MiB, another 42 us from 128 KiB to 1 MiB; a third "
        "gains a fifth of its busbw from 2 to 4 MiB and more than triples it from 4 to 16 MiB. We suspect NCCL's "
        "change of protocol, which the model lacks.",
        ("A100x8-005", "A100x8-006", "AZH100-008", "B200x8-008", "B200x8-009"),
    ),
    Explained(
        "rates that are printed lower than their own bytes and times",
        "DeepEP's printed rates are up to 2 % below its bytes over its printed times, which are whole microseconds; "
        "two of twelve are a hair further away.",
        ("DEP-030", "DEP-044"),
    ),
    Explained("TCP sockets", "The share of line rate was taken from RDMA; sockets reach less.", ("GTC-007",)),
    Explained(
        "a threshold that its paper prints twice",
        "The text says 0.85 KB; the formula beside it gives 0.765. We compute the formula.",
        ("CC-039",),
    ),
    Explained(
        "one point of a published curve",
        "0.1 degrees off, where the points around it agree to 0.05 and mostly to 0.01. We suspect the grid of "
        "frequencies on which the authors' program looks for the crossing.",
        ("CC-164",),
    ),
    Explained(
        "permutations on one path each",
        "Each simulator hashed one matrix once; the model is the mean of six draws. Which draw it was decides: shared "
        "out max-min fairly, without any queue, 200 draws finish on average at 408 us with a standard deviation of 16, "
        "and last at 709 with one of 103; in a quarter of them the last is later than 800. Their tails are those of an "
        "unlucky draw. We do not have their hashes and so cannot run it.",
        ("CC-245", "CC-246", "CC-254", "CC-337", "CC-338", "CC-339", "CC-340", "CC-345", "CC-346"),
    ),
    Explained(
        "packets sprayed in turn",
        "Here each sender deals its packets over its ways in turn, from a random first one, and hardly a queue forms. "
        "In htsim the turn is kept elsewhere; how its switches fall out of step is not known to us.",
        ("CC-258",),
    ),
    Explained(
        "two packets of queue",
        "Eight senders with credits keep one packet of 4,150 bytes here, and two in htsim. On our star credits come in "
        "a regular order; its packets cross a fat tree and meet at the last port. With two senders both keep two.",
        ("CC-266",),
    ),
    Explained(
        "queues that do not stand",
        "Bursts of 11 to 30 MB drain through much of the time over which the mean is taken, so it tells when senders "
        "come back. Here some come back sooner. First bursts and finish times of the same runs agree better.",
        ("CC-294", "CC-314", "CC-326"),
    ),
    Explained(
        "32 senders of DCQCN with high thresholds",
        "Our last sender is done 11 % sooner and the peak is 12 % higher: some senders start again while others' "
        "burst still drains. The mean is within its tolerance. We know of no setting that differs.",
        ("CC-312",),
    ),
    Explained(
        "all-to-all of laws that read stamps",
        "Our acknowledgements take no room. In ns-3 they share the links with data: an all-to-all that marks nothing "
        "takes 4.5 % longer there (DCQCN's). The stamps see them too.",
        ("CC-332", "CC-334"),
    ),
)
