# London to Boston over satellites in ns-2.35, the peer of `slantpath-orbit`:
#
#   ns sky.tcl geo|iridium SECONDS POLL_S RANDOM NEXT
#
# One packet of 210 bytes every minute, from 30.02 s on. Standard output is ns's trace of every hop, and for each
# packet a line `arrived NUMBER SECONDS` with the time to the nanosecond. README.md says how the case is read.
# POLL_S is how often terminals and satellites look whether a link must change, RANDOM (0 or 1) whether those
# times are spread, NEXT (0 or 1) whether a terminal that loses its satellite first tries the next in the same
# plane.

if {[llength $argv] != 5} {
    puts stderr "usage: ns sky.tcl geo|iridium SECONDS POLL_S RANDOM NEXT"
    exit 2
}
lassign $argv sky seconds poll_s random next
set tcl_precision 17
source [file join [file dirname [info script]] iridium.tcl]

set packet_bytes 210
set first_packet_s 30.02
set interval_s 60
set ground_bps 1.5Mb
set isl_bps 25Mb
set stack [list LL/Sat Queue/DropTail 50 Mac/Sat $ground_bps Phy/Sat]

HandoffManager/Term set elevation_mask_ 8.2
HandoffManager/Term set term_handoff_int_ $poll_s
HandoffManager/Sat set sat_handoff_int_ $poll_s
HandoffManager/Sat set latitude_threshold_ 60
HandoffManager set handoff_randomization_ $random
SatRouteObject set metric_delay_ true
# Routes are worked out for each packet at each node, from the delays of that instant.
SatRouteObject set data_driven_computation_ true
ns-random 1

set ns [new Simulator]
$ns trace-all stdout
$ns node-config -llType LL/Sat -ifqType Queue/DropTail -ifqLen 50 -macType Mac/Sat -phyType Phy/Sat \
    -channelType Channel/Sat -downlinkBW $ground_bps -wiredRouting OFF

switch $sky {
    geo {
        $ns node-config -satNodeType geo
        set first [$ns node]
        $first set-position -30
        set access geo
    }
    iridium {
        set first [lindex [add_iridium $next] 0]
        set access polar
    }
    default {
        puts stderr "the sky is geo or iridium, not $sky"
        exit 2
    }
}

$ns node-config -satNodeType terminal
foreach {name latitude longitude} {london 51.53 0 boston 42.3 -71.1} {
    set $name [$ns node]
    [set $name] set-position $latitude $longitude
    # Which satellite does not matter: the first look hands over.
    eval [set $name] add-gsl $access $stack [$first set downlink_] [$first set uplink_]
}
$ns trace-all-satlinks stdout

set source [new Agent/UDP]
set sink [new Agent/LossMonitor]
$ns attach-agent $london $source
$ns attach-agent $boston $sink
$ns connect $source $sink
set number 0
for {set at $first_packet_s} {$at < $seconds} {set at [expr {$at + $interval_s}]} {
    $ns at $at "$source send $packet_bytes"
    $ns at [expr {$at + 1}] "puts \"arrived $number \[$sink set lastPktTime_\]\""
    incr number
}
set routes [new SatRouteObject]
$routes compute_routes
$ns at $seconds "exit 0"
$ns run
