#!/bin/bash
# In the guest: makes it a router between its two sides, whose links can be damaged, and does what the test says, line
# by line, over a connection to it. `guest.sh LINKS HOST PORT`.
sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
for ((n = 0; n < $1; n++)); do
    ip route add 10.82.$n.0/26 via 10.82.$n.66
    ip -6 route add fd82:$n:0:1::/64 via fd82:$n:0:2::2
    # What comes in by a link passes a device of its own, since only what leaves a device can be delayed.
    ip link add ifb$n type ifb
    ip link set ifb$n up
    tc qdisc add dev vec$n clsact
    tc filter add dev vec$n ingress matchall action mirred egress redirect dev ifb$n
done
exec 3<>"/dev/tcp/$2/$3"
while read -r line <&3; do
    said=$(eval "$line" 2>&1 3>&-)
    printf '%s %s\n' $? "${said//$'\n'/ }" >&3
done
