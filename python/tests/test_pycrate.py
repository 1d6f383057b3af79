"""Our signalling messages, read by pycrate.

The list is the one that tshark reads too: crates/signalling/tests/oracles/messages.tsv, which the Rust tests
hold to the encoders. What pycrate reads, it writes again octet for octet, under the type that we mean.
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pycrate_asn1dir import TCAP_RAW
from pycrate_mobile import ISUP, SCCP, SIGTRAN

TABLE = Path(__file__).parents[2] / "crates/signalling/tests/oracles/messages.tsv"
LAYERS = ("m3ua", "m2ua", "sua", "iua", "m2pa", "sccp", "scmg", "isup", "tcap", "mtp3", "mtp2")
OPC, DPC, SLS = 257, 92, 5
LABEL_LEN = 5

# Words that pycrate writes in another way than the RFC's names, which are ours.
WORDS = {
    "DATA": "Payload Data",
    "DUNA": "Destination Unavailable",
    "DAVA": "Destination Available",
    "DAUD": "Destination State Audit",
    "SCON": "Signalling Congestion",
    "DUPU": "Destination User Part Unavailable",
    "DRST": "Destination Restricted",
    "REG REQ": "Registration Request",
    "REG RSP": "Registration Response",
    "DEREG REQ": "Deregistration Request",
    "DEREG RSP": "Deregistration Response",
    "BEAT": "Heartbeat",
    "BEAT Ack": "Heartbeat Ack",
    "ERR": "Error",
    "NTFY": "Notify",
    "CLDT": "Connectionless Data Transfer",
    "CLDR": "Connectionless Data Response",
    "CORE": "Connection Request",
    "COAK": "Connection Acknowledge",
    "COREF": "Connection Refused",
    "RELRE": "Release Request",
    "RELCO": "Release Complete",
    "RESCO": "Reset Confirm",
    "RESRE": "Reset Request",
    "CODT": "Connection Oriented Data Transfer",
    "CODA": "Connection Oriented Data Acknowledge",
    "COERR": "Connection Oriented Error",
    "COIT": "Inactivity Test",
}

SCCP_CLASSES = {
    "CR": "ConnectionRequest",
    "CC": "ConnectionConfirm",
    "CREF": "ConnectionRefused",
    "RLSD": "Released",
    "RLC": "ReleaseComplete",
    "DT1": "DataForm1",
    "DT2": "DataForm2",
    "AK": "DataAck",
    "UDT": "UnitData",
    "UDTS": "UnitDataService",
    "ED": "ExpeditedData",
    "EA": "ExpeditedDataAck",
    "RSC": "ResetConf",
    "IT": "InactivityTest",
    "XUDT": "ExtUnitData",
    "XUDTS": "ExtUnitDataService",
    "LUDT": "LongUnitData",
    "LUDTS": "LongUnitDataService",
}

SCMG_CLASSES = {
    "SSA": "Allowed",
    "SSP": "Prohibited",
    "SST": "StatTest",
    "SOR": "OutOfServRequest",
    "SOG": "OutOfServGrant",
    "SSC": "Congested",
}

ISUP_CLASSES = {
    "IAM": "InitialAddress",
    "SAM": "SubsequentAddr",
    "INR": "InformationReq",
    "INF": "Information",
    "COT": "Continuity",
    "ACM": "AddressComplete",
    "CON": "Connect",
    "FOT": "ForwardTransfer",
    "ANM": "Answer",
    "REL": "Release",
    "SUS": "Suspend",
    "RES": "Resume",
    "RLC": "ReleaseComplete",
    "CCR": "ContinuityCheckReq",
    "RSC": "ResetCircuit",
    "BLO": "Blocking",
    "UBL": "Unblocking",
    "BLA": "BlockingAck",
    "UBA": "UnblockingAck",
    "GRS": "CircuitGroupReset",
    "CGB": "CircuitGroupBlocking",
    "CGU": "CircuitGroupUnblocking",
    "CGBA": "CircuitGroupBlockingAck",
    "CGUA": "CircuitGroupUnblockingAck",
    "FAR": "FacilityReq",
    "FAA": "FacilityAccept",
    "FRJ": "FacilityReject",
    "LPA": "LoopbackAck",
    "GRA": "CircuitGroupResetAck",
    "CQM": "CircuitGroupQuery",
    "CQR": "CircuitGroupQueryResp",
    "CPG": "CallProgress",
    "USR": "UserToUserInfo",
    "UCIC": "UnequippedCIC",
    "CFN": "Confusion",
    "OLM": "Overload",
    "NRM": "NetworkResourceMgmt",
    "FAC": "Facility",
    "UPT": "UserPartTest",
    "UPA": "UserPartAvail",
    "IDR": "IdentificationReq",
    "IRS": "IdentificationResp",
    "SGM": "Segmentation",
    "LOP": "LoopPrevention",
    "APM": "ApplicationTransport",
    "PRI": "PreReleaseInfo",
}

# pycrate wants a pointer to an optional part behind the cause of both, where tshark ends; and its own ERR
# holds a class in place of an object, so that it reads none at all.
NOT_READ = {("sccp", "RSR"), ("sccp", "ERR")}


class Sample(NamedTuple):
    layer: str
    name: str
    octets: bytes


def samples() -> list[Sample]:
    with TABLE.open(encoding="ascii", newline="") as table:
        rows = csv.DictReader(table, delimiter="\t")
        return [Sample(row["#layer"], row["name"], bytes.fromhex(row["hex"])) for row in rows]


SAMPLES = samples()


def of(*layers: str) -> list[Any]:
    chosen = [sample for sample in SAMPLES if sample.layer in layers and sample[:2] not in NOT_READ]
    return [pytest.param(sample, id=f"{sample.layer}-{sample.name}") for sample in chosen]


def spelt(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


@pytest.mark.parametrize("sample", of("m3ua", "m2ua", "sua", "iua"))
def test_adaptation_layer(sample: Sample) -> None:
    message = SIGTRAN.SIGTRAN()
    message.from_bytes(sample.octets)
    assert message.to_bytes() == sample.octets
    header = message[0]
    assert (header["Class"].get_val(), header["Type"].get_val()) == tuple(sample.octets[2:4])
    # It prints the type with its name behind the number.
    assert spelt(WORDS.get(sample.name, sample.name)) in spelt(repr(header["Type"]))


@pytest.mark.parametrize("sample", of("m2pa"))
def test_m2pa(sample: Sample) -> None:
    message = SIGTRAN.M2PA()
    message.from_bytes(sample.octets)
    assert message.to_bytes() == sample.octets
    kind = "User Data" if sample.name in {"User Data", "Acknowledgement"} else "Link Status"
    assert SIGTRAN.TypeM2PA_dict[message[0]["Type"].get_val()] == kind


@pytest.mark.parametrize("sample", of("sccp"))
def test_sccp(sample: Sample) -> None:
    message, error = SCCP.parse_SCCP(sample.octets)
    assert error == 0
    assert message.to_bytes() == sample.octets
    assert type(message).__name__ == f"SCCP{SCCP_CLASSES[sample.name]}"


def test_what_pycrate_misses_in_a_reset_request_is_a_pointer_to_nothing() -> None:
    (request,) = [sample.octets for sample in SAMPLES if sample[:2] == ("sccp", "RSR")]
    assert SCCP.parse_SCCP(request)[1] != 0
    message, error = SCCP.parse_SCCP(request + b"\0")
    assert error == 0
    assert type(message).__name__ == "SCCPResetRequest"


@pytest.mark.parametrize("sample", of("scmg"))
def test_sccp_management(sample: Sample) -> None:
    message, error = SCCP.parse_SCMG(sample.octets)
    assert error == 0
    assert message.to_bytes() == sample.octets
    assert type(message).__name__ == f"SCMGSubsys{SCMG_CLASSES[sample.name]}"


@pytest.mark.parametrize("sample", of("isup"))
def test_isup(sample: Sample) -> None:
    message, error = ISUP.parse_ISUP(sample.octets)
    assert error == 0
    assert message.to_bytes() == sample.octets
    assert type(message).__name__ == ISUP_CLASSES[sample.name]
    if sample.name == "IAM":
        assert message["CalledPartyNum"][1].get_num() == "4912345678"


@pytest.mark.parametrize("sample", of("tcap"))
def test_tcap(sample: Sample) -> None:
    message = TCAP_RAW.TCAP_Messages.TCAP_Message
    message.from_ber(sample.octets)
    assert message.to_ber() == sample.octets
    assert message.get_val()[0] == sample.name.lower()


@pytest.mark.parametrize("sample", of("mtp3"))
def test_mtp3(sample: Sample) -> None:
    # pycrate has the label and none of the messages of management and test behind it.
    label = SIGTRAN.MTP3()
    label.from_bytes(sample.octets)
    assert label.to_bytes() == sample.octets[:LABEL_LEN]
    assert [label[field].get_val() for field in ("OPC", "DPC", "SLS")] == [OPC, DPC, SLS]
    assert label["ServiceInd"].get_val() == (1 if sample.name in {"SLTM", "SLTA"} else 0)


def test_every_layer_is_read() -> None:
    # MTP2's signal units are no part of pycrate: tshark alone judges them.
    read = [*LAYERS[:-1]]
    counts = Counter(sample.layer for sample in SAMPLES)
    assert set(counts) == set(LAYERS)
    assert sum(len(of(layer)) for layer in read) == len(SAMPLES) - counts["mtp2"] - len(NOT_READ)
