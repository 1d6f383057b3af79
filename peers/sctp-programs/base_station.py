"""A base station: asks an MME for S1 Setup, by messages that pycrate makes, and holds its answer."""

import socket
import sys

from pycrate_asn1dir import S1AP

S1_PORT = 36_412
PATIENCE_S = 20
PLMN = bytes.fromhex("00f110")
"""Country 001, network 01."""
AREA = 12_345
S1_SETUP = 17
SERVED = 105
"""Identifier of the networks that an MME serves."""


def request() -> bytes:
    """Write an S1 Setup Request."""
    station = {"pLMNidentity": PLMN, "eNB-ID": ("macroENB-ID", (0x12345, 20))}
    areas = [{"tAC": AREA.to_bytes(2, "big"), "broadcastPLMNs": [PLMN]}]
    values = [
        {"id": 59, "criticality": "reject", "value": ("Global-ENB-ID", station)},
        {"id": 64, "criticality": "reject", "value": ("SupportedTAs", areas)},
        {"id": 137, "criticality": "ignore", "value": ("PagingDRX", "v128")},
    ]
    message = S1AP.S1AP_PDU_Descriptions.S1AP_PDU
    asked = ("S1SetupRequest", {"protocolIEs": values})
    of = {"procedureCode": S1_SETUP, "criticality": "reject", "value": asked}
    message.set_val(("initiatingMessage", of))
    written: bytes = message.to_aper()
    return written


def main() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_SCTP) as end:
        end.settimeout(PATIENCE_S)
        end.connect((sys.argv[1], S1_PORT))
        end.sendall(request())
        answer = S1AP.S1AP_PDU_Descriptions.S1AP_PDU
        answer.from_aper(end.recv(4_096))
    kind, said = answer.get_val()
    assert (kind, said["procedureCode"]) == ("successfulOutcome", S1_SETUP), (kind, said)
    served = next(one["value"][1] for one in said["value"][1]["protocolIEs"] if one["id"] == SERVED)
    assert served[0]["servedPLMNs"] == [PLMN], served
    print("whole: an S1 Setup Response of the network that was asked for")


if __name__ == "__main__":
    main()
