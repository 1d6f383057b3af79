"""Command lines of signalling programs: their configurations, and how what came is judged."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from line import Line, counted, hold, said, whole

CERTIFICATE = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2")


def files(**texts: str) -> Callable[[Path, dict[str, str]], None]:
    """Write configurations; words in square brackets are replaced."""

    def write(where: Path, words: dict[str, str]) -> None:
        values = {**words, "where": str(where)}
        for name, text in texts.items():
            written = re.sub(r"\[([a-z0-9-]+)\]", lambda word: values[word.group(1)], text)
            (where / f"{name}.conf").write_text(written)

    return write


STP = """log stderr
 logging level lss7 debug
 logging print category 1
line vty
 no login
 bind [console] 4239
cs7 instance 0
"""
STP_SERVER = (
    STP.replace("[console]", "127.[console].1")
    + " point-code 1.1.1\n asp near [near] [port] m3ua\n  remote-ip [client]\n  local-ip [server]\n"
    "  role sg\n  sctp-role server\n as near m3ua\n  asp near\n  routing-key 7 2.2.2\n"
    " listen m3ua [port]\n  local-ip [server]\n"
)
STP_CLIENT = (
    STP.replace("[console]", "127.[console].2")
    + " point-code 2.2.2\n asp far [port] [near] m3ua\n  remote-ip [server]\n  local-ip [client]\n"
    "  role asp\n  sctp-role client\n as far m3ua\n  asp far\n  routing-key 7 2.2.2\n"
)


def transfer_points(where: Path, words: dict[str, str]) -> None:
    """Write what two signalling transfer points have, with consoles of their own."""
    high, low = divmod(int(words["port"]), 256)
    files(far=STP_SERVER, near=STP_CLIENT)(
        where, {**words, "console": f"{high}.{low}", "near": str(int(words["port"]) - 1)}
    )


DIAMETER = """Identity = "[own].example.net";
Realm = "example.net";
Port = [own-port];
SecPort = 0;
No_TCP;
No_IPv6;
ListenOn = "[at]";
TLS_Cred = "[where]/[own].pem", "[where]/[own].key";
TLS_CA = "[where]/[own].pem";
ConnectPeer = "[peer].example.net" { ConnectTo = "[to]"; Port = [peer-port]; No_TLS; No_TCP; No_IPv6; };
"""


def diameter(where: Path, words: dict[str, str]) -> None:
    """Write what two Diameter peers have."""
    for own in ("near", "far"):
        names = ["-keyout", f"{own}.key", "-out", f"{own}.pem", "-subj", f"/CN={own}.example.net"]
        made = subprocess.run([*CERTIFICATE, *names], cwd=where, capture_output=True, check=False)
        hold(made.returncode == 0, "openssl made no certificate")
    port = int(words["port"])
    for own, peer, at, to, shift in (
        ("near", "far", "client", "server", 0),
        ("far", "near", "server", "client", 1),
    ):
        ends = {"own": own, "peer": peer, "at": words[at], "to": words[to]}
        ports = {"own-port": str(port + shift), "peer-port": str(port + 1 - shift)}
        files(**{own: DIAMETER})(where, {**ends, **ports})


MME = """logger:
    file: [where]/mme.log
parameter:
    no_ipv6: true
mme:
    freeDiameter: [where]/hss.conf
    s1ap:
      addr: [server]
    gtpc:
      addr: [server]
    gummei:
      plmn_id:
        mcc: 001
        mnc: 01
      mme_gid: 2
      mme_code: 1
    tai:
      plmn_id:
        mcc: 001
        mnc: 01
      tac: 12345
    security:
        integrity_order : [ EIA1, EIA2, EIA0 ]
        ciphering_order : [ EEA0, EEA1, EEA2 ]
    network_name:
        full: Example
sgw:
    gtpc:
      addr: [server2]
pgw:
    gtpc:
      addr:
        - [server2]
"""


def mme(where: Path, words: dict[str, str]) -> None:
    """Write what an MME has. Its HSS is not there, and no S1 Setup asks for it."""
    shipped = Path("/etc/nextepc/freeDiameter/mme.conf").read_text()
    files(mme=MME, hss=shipped.replace("127.0.0.2", words["server"]))(where, words)


PROXY = """debug=2
log_stderror=yes
fork=yes
children=1
disable_tcp=yes
enable_sctp=yes
listen=sctp:[server]:[port]
mpath="/usr/lib/x86_64-linux-gnu/kamailio/modules/"
loadmodule "sctp.so"
loadmodule "sl.so"
request_route {
    sl_send_reply("200", "OK");
    exit;
}
"""

OPTIONS = """<?xml version="1.0" encoding="ISO-8859-1" ?>
<scenario name="OPTIONS">
  <send retrans="500"><![CDATA[
OPTIONS sip:[service]@[remote_ip]:[remote_port] SIP/2.0
Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]
From: <sip:near@[local_ip]:[local_port]>;tag=[call_number]
To: <sip:far@[remote_ip]:[remote_port]>
Call-ID: [call_id]
CSeq: 1 OPTIONS
Max-Forwards: 70
Content-Length: 0

]]></send>
  <recv response="200"/>
</scenario>
"""


def proxy(where: Path, words: dict[str, str]) -> None:
    """Write what the proxy has, and the requests that it gets."""
    files(proxy=PROXY)(where, words)
    (where / "options.xml").write_text(OPTIONS)


def calls_went_through(where: Path) -> str:
    """Hold SIPp to its count of calls: its status says that none has failed."""
    told = said(where, "client")
    hold("Successful call" in told, told[-200:])
    return "20 of 20 calls"


SIPP = "exec sipp -t s1 -i {client} -m 20 -r 20 -l 1 -nostdin -timeout 6 -timeout_error"
"""It waits for good if nobody is there at first, so that it is tried anew."""

SIGNALLING_LINES = (
    Line(
        name="osmo-stp",
        package="osmo-stp",
        program="osmo-stp",
        prepare=transfer_points,
        server="exec osmo-stp -c far.conf",
        client="osmo-stp -c near.conf & own=$!;"
        " trap 'kill -9 $own' INT TERM;"
        " until grep -q 'XUA_ASP(far).*ASP_ACTIVE' client.out; do sleep 0.2; done;"
        " kill $own; wait; exit 0",
        judge=counted(r"XUA_ASP.*state_chg to ASP_ACTIVE", "server", 1),
        is_stopped=True,
    ),
    Line(
        name="freeDiameterd",
        package="freediameterd",
        program="freeDiameterd",
        prepare=diameter,
        server="exec freeDiameterd -d -c far.conf",
        client="freeDiameterd -d -c near.conf & own=$!;"
        " trap 'kill -9 $own' INT TERM; until grep -q -- '-> .STATE_OPEN' client.out; do sleep 0.2; done;"
        # Its threads wait in calls that the preloading door does not let them be cancelled in.
        " kill -9 $own; wait; exit 0",
        judge=counted(r"'STATE_OPEN'", "server", 1),
        is_stopped=True,
    ),
    Line(
        name="nextepc-mmed",
        package="nextepc-mme, python3-pip: pycrate",
        program="nextepc-mmed",
        module="pycrate_asn1dir",
        prepare=mme,
        server="exec nextepc-mmed -f mme.conf -l mme.log -p mme.pid",
        client="exec {python} {here}/base_station.py {server}",
        judge=whole,
        is_stopped=True,
    ),
    Line(
        name="kamailio",
        package="kamailio, kamailio-sctp-modules, sip-tester",
        program="/usr/lib/x86_64-linux-gnu/kamailio/modules/sctp.so",
        prepare=proxy,
        server="exec kamailio -f proxy.conf -DD -E -w . -Y .",
        client=f"{SIPP} -sf options.xml {{server}}:{{port}}",
        judge=calls_went_through,
        is_stopped=True,
    ),
    Line(
        name="SIPp",
        package="sip-tester",
        program="sipp",
        server="exec sipp -sn uas -t s1 -i {server} -p {port} -nostdin",
        client=f"{SIPP} -sn uac -d 0 {{server}}:{{port}}",
        judge=calls_went_through,
        is_stopped=True,
    ),
)
