"""One site of the routing laboratory, in the place of its island: tunnels, and a routing program.

    island.py NUMBER ISLAND PROGRAM DIRECTORY

PROGRAM is `frr-ospf`, `frr-isis` or `bird-ospf`. To each other site lead two tunnels (VXLAN): over the
constellation, by which it is near, and over the geostationary satellite. What changes is left in DIRECTORY:
`ISLAND.routes` by the kernel, `ISLAND.log` by the routing program, and `ISLAND.pings` to the last site by the
first.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from lab import pause

FRR = Path("/usr/lib/frr")
SITES = (1, 2, 3)
HELLO_S = 1
DEAD_S = 4
RETRANSMIT_S = 2
ISIS_SETTLES_S = 1.5
PATIENCE_S = 10
"""Time for a program to read its configuration."""


def ip(lines: list[str]) -> None:
    """Have `ip` do these, by one process: a busy machine takes its time for each."""
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), text=True, check=True)


def tunnels(own: int, island: str) -> list[tuple[str, int]]:
    """Make the tunnels, which are down; list their names and costs."""
    made = []
    lines = [f"address add 192.168.{own}.1/32 dev lo"]
    for other in SITES:
        if other == own:
            continue
        pair = 10 * min(own, other) + max(own, other)
        ways = {
            "leo": (10, pair, f"10.1.0.{own}", f"10.1.0.{other}", f"leo-{island}"),
            "geo": (100, 100 + pair, f"fd00:1:{own}::1", f"fd00:1:{other}::1", f"vsat-{island}"),
        }
        for way, (cost, number, local, remote, device) in ways.items():
            name = f"{way}{other}"
            ends = f"local {local} remote {remote} dev {device} dstport 4789"
            lines.append(f"link add {name} mtu 1400 type vxlan id {number} {ends}")
            lines.append(f"address add 172.31.{number}.{own}/24 dev {name}")
            made.append((name, cost))
    ip(lines)
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    return made


Program = tuple[list[str], Path]
"""A command line, and the socket that its program makes once it has read its configuration."""


def frr(kind: str, own: int, island: str, made: list[tuple[str, int]], directory: Path) -> list[Program]:
    """Write the configuration of FRR, and list what is to be started."""
    # It becomes the user `frr`, which here is who runs it: so it needs no right of its own.
    for name, line in (("passwd", "frr:x:0:0::/:/bin/false"), ("group", "frr:x:0:\nfrrvty:x:0:")):
        file = directory / f"{island}.{name}"
        file.write_text(f"root:x:0:{'0:root:/:/bin/sh' if name == 'passwd' else ''}\n{line}\n")
        subprocess.run(["mount", "--bind", file, f"/etc/{name}"], check=True)
    log = f"log file {directory}/{island}.log\nlog timestamp precision 3\n"
    lines = []
    for name, cost in made:
        lines.append(f"interface {name}")
        if kind == "ospf":
            lines += [" ip ospf network point-to-point", f" ip ospf cost {cost}", " ip ospf area 0"]
            lines += [f" ip ospf hello-interval {HELLO_S}", f" ip ospf dead-interval {DEAD_S}"]
            lines += [f" ip ospf retransmit-interval {RETRANSMIT_S}"]
        else:
            lines += [
                " ip router isis lab",
                " isis circuit-type level-2-only",
                " isis network point-to-point",
            ]
            lines += [f" isis metric {cost}", f" isis hello-interval {HELLO_S}", " no isis hello padding"]
            lines += [f" isis hello-multiplier {DEAD_S // HELLO_S}"]
    if kind == "ospf":
        lines += ["interface lo", " ip ospf area 0", "router ospf", f" ospf router-id 192.168.{own}.1"]
        lines += [" log-adjacency-changes detail", " timers throttle spf 50 100 500"]
        lines += [" timers throttle lsa all 200", " timers lsa min-arrival 100"]
    else:
        # The interval is first: whatever else is said waits for the one of before, which has 30 s.
        process = ["router isis lab", " lsp-gen-interval 1", " spf-interval 1", " is-type level-2-only"]
        process += [f" net 49.0001.0000.0000.000{own}.00", " metric-style wide", " lsp-mtu 1300"]
        process += [" log-adjacency-changes"]
        lines = [
            f"hostname {island}",
            *process,
            *lines,
            "interface lo",
            " ip router isis lab",
            " isis passive",
        ]
    daemon = f"{kind}d"
    (directory / f"{island}.zebra.conf").write_text("log stdout\n")
    (directory / f"{island}.{daemon}.conf").write_text(log + "\n".join(lines) + "\n")
    sockets = directory / f"{island}.vty"
    sockets.mkdir()
    programs = []
    for name in ("zebra", daemon):
        files = ["-f", f"{directory}/{island}.{name}.conf", "-i", f"{directory}/{island}.{name}.pid"]
        files += ["-z", f"{directory}/{island}.zserv", "--vty_socket", str(sockets)]
        programs.append(([str(FRR / name), "-P", "0", *files], sockets / f"{name}.vty"))
    return programs


def bird(own: int, island: str, made: list[tuple[str, int]], directory: Path) -> list[Program]:
    """Write the configuration of BIRD, and list what is to be started."""
    timers = f"hello {HELLO_S}; dead {DEAD_S}; retransmit {RETRANSMIT_S};"
    interfaces = "".join(
        f'interface "{name}" {{ type ptp; cost {cost}; {timers} }};\n' for name, cost in made
    )
    (directory / f"{island}.conf").write_text(f"""\
log "{directory}/{island}.log" all;
timeformat log iso long ms;
router id 192.168.{own}.1;
protocol device {{ scan time 1; }}
protocol kernel {{ ipv4 {{ import none; export all; }}; }}
protocol ospf v2 lab {{
debug {{ events, states }};
ipv4 {{ import all; export none; }};
tick 1;
area 0 {{
{interfaces}interface "lo" {{ stub; }};
}};
}}
""")
    program = shutil.which("bird", path="/usr/sbin:/usr/bin") or "bird"
    control = directory / f"{island}.socket"
    return [([program, "-f", "-c", f"{directory}/{island}.conf", "-s", str(control)], control)]


def main() -> None:
    number, island, program, place = sys.argv[1:]
    directory = Path(place)
    os.environ["TZ"] = "UTC"
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    made = tunnels(int(number), island)
    if program == "bird-ospf":
        programs = bird(int(number), island, made, directory)
    else:
        programs = frr(program.removeprefix("frr-"), int(number), island, made, directory)
    routes = (directory / f"{island}.routes").open("w")
    running = [subprocess.Popen(["ip", "-ts", "-o", "monitor", "route"], stdout=routes)]
    if int(number) == SITES[0]:
        # From router to router, by whatever way there is.
        pings = (directory / f"{island}.pings").open("w")
        ping = ["ping", "-D", "-n", "-i", "0.2", "-I", f"192.168.{number}.1", f"192.168.{SITES[-1]}.1"]
        running.append(subprocess.Popen(ping, stdout=pings, stderr=subprocess.STDOUT))
    try:
        for command, control in programs:
            running.append(subprocess.Popen(command))
            until = time.monotonic() + PATIENCE_S
            while not control.exists():
                if time.monotonic() > until:
                    sys.exit(f"{command[0]} has not started")
                pause(running[-1], 0.02)
        # The backup is first. IS-IS of FRR 8.4 may keep the worse of two tunnels that come up together.
        for way in ("geo", "leo"):
            ip([f"link set {name} up" for name, _ in made if name.startswith(way)])
            if program == "frr-isis":
                pause(running[-1], ISIS_SETTLES_S)
        signal.pause()
    finally:
        # `ping` tells at the end what it has not told yet, if it is interrupted.
        for process in running:
            process.send_signal(signal.SIGINT)
        for process in running:
            process.wait()


if __name__ == "__main__":
    main()
