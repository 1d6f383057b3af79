# A dumbbell for ns-2.35, the peer of `make bench`:
#
#   ns dumbbell.tcl PROTOCOL FLOWS DELAY_MS SECONDS [count]
#
# PROTOCOL is `tcp` (Agent/TCP/Sack1 to Agent/TCPSink/Sack1) or `sctp` (Agent/SCTP, one path). README.md says
# how the case is read. With `count` the run prints the packet-hops; without it nothing is counted or traced, so
# that the time of a run is the simulation's alone. A run is deterministic: both do the same work.

if {[llength $argv] < 4} {
    puts stderr "usage: ns dumbbell.tcl tcp|sctp FLOWS DELAY_MS SECONDS ?count?"
    exit 2
}
lassign $argv protocol flows delay_ms seconds mode
set is_counted [string equal $mode count]

set bottleneck_bps 100e6
set access_bps 1e9
set access_ms 1.0
set packet_bytes 1500
set bottleneck_ms [expr {$delay_ms - 2 * $access_ms}]
set queue_packets [expr {round($bottleneck_bps * 2 * $delay_ms / 1e3 / 8 / $packet_bytes)}]
# More than two windows that fill the path and the queue: the receiver never limits.
set window_packets [expr {4 * $queue_packets + 1000}]

# Only the packet headers that are used: the others would make every packet larger.
remove-all-packet-headers
add-packet-header IP TCP SCTP Flags

Agent/TCP set packetSize_ [expr {$packet_bytes - 40}]
Agent/TCP set window_ $window_packets
Agent/TCP set maxcwnd_ 0
Agent/TCP set numdupacks_ 3
# RFC 6298's least RTO.
Agent/TCP set minrto_ 1.0

Agent/SCTP set mtu_ $packet_bytes
# A chunk of 16 + 1452 bytes in 20 + 12 bytes of IP and common header.
Agent/SCTP set dataChunkSize_ [expr {$packet_bytes - 32}]
Agent/SCTP set initialRwnd_ [expr {$window_packets * $packet_bytes}]
Agent/SCTP set initialSsthresh_ [expr {$window_packets * $packet_bytes}]
Agent/SCTP set initialCwnd_ 2

set ns [new Simulator]
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right $bottleneck_bps ${bottleneck_ms}ms DropTail
$ns queue-limit $left $right $queue_packets
$ns queue-limit $right $left $queue_packets
if {$is_counted} {
    set forward [$ns monitor-queue $left $right ""]
    set backward [$ns monitor-queue $right $left ""]
}

set access_queue_packets [expr {2 * $window_packets}]
for {set flow 0} {$flow < $flows} {incr flow} {
    set source [$ns node]
    set sink [$ns node]
    foreach {a b} [list $source $left $right $sink] {
        $ns duplex-link $a $b $access_bps ${access_ms}ms DropTail
        $ns queue-limit $a $b $access_queue_packets
        $ns queue-limit $b $a $access_queue_packets
    }
    switch $protocol {
        tcp {
            set sender [new Agent/TCP/Sack1]
            set receiver [new Agent/TCPSink/Sack1]
        }
        sctp {
            set sender [new Agent/SCTP]
            set receiver [new Agent/SCTP]
        }
        default {
            puts stderr "the protocol is tcp or sctp, not $protocol"
            exit 2
        }
    }
    $ns attach-agent $source $sender
    $ns attach-agent $sink $receiver
    $ns connect $sender $receiver
    set application [new Application/FTP]
    $application attach-agent $sender
    # Flow k starts at k * 10 ms: no two slow starts in step.
    $ns at [expr {0.01 * $flow}] "$application start"
    if {$is_counted} { lappend first_hops [$ns monitor-queue $source $left ""] }
}

proc finish {} {
    global is_counted forward backward first_hops
    if {$is_counted} {
        # A packet crosses access, bottleneck and access; what the bottleneck drops crosses only the first.
        set hops [expr {2 * [$forward set pdepartures_] + 3 * [$backward set pdepartures_]}]
        foreach monitor $first_hops { incr hops [expr {round([$monitor set pdepartures_])}] }
        puts -nonewline "packet-hops [expr {round($hops)}] "
        puts "drops [$forward set pdrops_] delivered-bytes [$forward set bdepartures_]"
    }
    exit 0
}
$ns at $seconds finish
$ns run
