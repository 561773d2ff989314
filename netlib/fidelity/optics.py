"""Optical modules of a row and their watts: as stated, or as an optical Clos of so many tiers needs."""

import re

from netlib import topology as t
from netlib.fidelity.prediction import Prediction, Unanswerable
from netlib.fidelity.wording import number

MODULES = ("topology", "counts of fabrics")
WATTS = ("optics", "watts of transceivers")
_NUMBER = r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)"
_NOTE = "two modules a cable, one cable a tier and host"


def predict_optics(text: str, metric: str, fabric_modules: float | None = None) -> Prediction | None:
    """Modules or watts of a row, from its text alone; None where it states too little.

    `fabric_modules` stands in where the text names a fabric instead.

    >>> predict_optics("24576 GPUs, 3 tiers, 16 W a module", "transceiver power").value / 1e6
    2.359296
    """
    if re.search(r"ratio|\bvs\b|saving|reduction|cost|price|\bUSD\b", metric, re.IGNORECASE):
        return None
    stated = re.search(rf"{_NUMBER}\s*(?:optical )?(?:modules|transceivers)", text, re.IGNORECASE)
    hosts = re.search(rf"{_NUMBER}[- ]*(?:GPUs?|hosts?|endpoints?)", text, re.IGNORECASE)
    tiers = re.search(r"(?<![\w.])(\d)[- ]?(?:tiers?|layers?|levels?)", text, re.IGNORECASE)
    each_host = re.search(r"(?:\bper|/) ?(?:GPU|host|endpoint)", metric, re.IGNORECASE)
    many = number(hosts[1]) if hosts else None
    if stated:
        modules = number(stated[1])
    elif tiers and int(tiers[1]) > 0 and (many or each_host):
        modules = (many or 1.0) * float(t.transceivers_per_host(int(tiers[1])))
        many = many or 1.0
    elif fabric_modules is not None:
        modules, many = fabric_modules, None
    else:
        return None
    if each_host:
        if not many:
            return None
        modules /= many
    if not re.search(r"power|watt|consumption", metric, re.IGNORECASE):
        return Prediction(modules, "", "as the row states" if stated else _NOTE, MODULES)
    each = re.search(rf"{_NUMBER}\s*W\b", text)
    if not each:
        raise Unanswerable("the watts of a module are not stated")
    told = f"{modules:,.0f} modules x {each[1]} W, the row's" if stated else f"{_NOTE}; {each[1]} W a module, the row's"
    return Prediction(modules * number(each[1]), "W", told, WATTS)
