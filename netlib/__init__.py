"""netlib: how a cluster of GPUs talks, computed.

The packages are floors, in the order in which the book builds them; a module imports only from floors below its own.

    arguments                what every formula accepts, and the sentence that says what it does not
    units, hardware, links   bytes, seconds, the sourced registry, what one message costs   (1, scale-up)
    topology                 fabrics as arrays of directed links                            (2, scale-out)
    collectives              what all-reduce and its relatives cost                         (3, collectives)
    congestion               flow control, marking, rate control                            (4, congestion control)
    faults                   failures, checkpoints, stragglers                              (5, fault tolerance)
    ocs                      tori and optical circuit switches                              (6, TPU OCS)
    fieldwork                readers for what practitioners paste
    fidelity                 every model beside published measurements
    course                   figures, explorers, exercises, the book

All sizes are bytes, all times seconds, all bandwidths bytes per second one way.
"""

__version__ = "0.4.0"


def require(version: str) -> None:
    """Say in one sentence what to do when a notebook is newer than the installed netlib.

    >>> require("0.1")
    """
    if [int(part) for part in version.split(".")] > [int(part) for part in __version__.split(".")]:
        raise ImportError(
            f"this notebook needs netlib {version} and finds {__version__}: run `make start` in the folder it came from"
        )
