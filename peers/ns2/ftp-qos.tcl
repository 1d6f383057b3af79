# FTP sessions over LEO or GEO behind a DiffServ edge in ns-2.35, the peer of the study of FTP sessions:
#
#   ns ftp-qos.tcl leo|geo SESSIONS BIT_ERROR_RATE EDGE SECONDS SEED TRACE
#
# SESSIONS is a file of lines `begun_s size_bytes`, EDGE (0 or 1) whether a server and a DiffServ edge stand before the
# terminal, TRACE (0 or 1) whether standard output is ns's trace of what the server sends and the client receives.
# README.md says how the case is read.

if {[llength $argv] != 7} {
    puts stderr "usage: ns ftp-qos.tcl leo|geo SESSIONS BIT_ERROR_RATE EDGE SECONDS SEED TRACE"
    exit 2
}
lassign $argv sky sessions_file bit_error_rate edge seconds seed trace
source [file join [file dirname [info script]] iridium.tcl]

set ground_bps 2Mb
set isl_bps 25Mb
set stack [list LL/Sat Queue/DropTail 100 Mac/Sat $ground_bps Phy/Sat]

HandoffManager/Term set elevation_mask_ 8.2
HandoffManager/Term set term_handoff_int_ 10
HandoffManager/Sat set sat_handoff_int_ 10
HandoffManager/Sat set latitude_threshold_ 60
HandoffManager set handoff_randomization_ 0
SatRouteObject set metric_delay_ true
SatRouteObject set data_driven_computation_ false
ns-random $seed

# 536 bytes of data and 40 of header; all else is ns's default.
Agent/TCP set packetSize_ 536
Agent/TCP set window_ 30

set ns [new Simulator]
if {$edge} { $ns rtproto Static }
$ns node-config -llType LL/Sat -ifqType Queue/DropTail -ifqLen 100 -macType Mac/Sat -phyType Phy/Sat \
    -channelType Channel/Sat -downlinkBW $ground_bps -wiredRouting [expr {$edge ? "ON" : "OFF"}]

switch $sky {
    leo {
        set first [lindex [add_iridium 1] 0]
        set access polar
    }
    geo {
        $ns node-config -satNodeType geo
        set first [$ns node]
        $first set-position -36
        set access geo
    }
    default {
        puts stderr "the sky is leo or geo, not $sky"
        exit 2
    }
}

# Bits of what arrives at a terminal are wrong, data and acknowledgements alike.
proc damage {node} {
    global bit_error_rate
    set errors [new ErrorModel]
    $errors unit byte
    $errors set rate_ [expr {1 - pow(1 - $bit_error_rate, 8)}]
    $errors ranvar [new RandomVariable/Uniform]
    $node interface-errormodel $errors
}

$ns node-config -satNodeType terminal
foreach {name latitude longitude} {london 51.53 0 boston 42.3 -71.1} {
    set $name [$ns node]
    [set $name] set-position $latitude $longitude
    # Neither it nor the one behind it is in sight of either place then, so that the first look takes the highest.
    eval [set $name] add-gsl $access $stack [$first set downlink_] [$first set uplink_]
    damage [set $name]
}
set client $boston
set server $london

if {$edge} {
    $ns unset satNodeType_
    set server [$ns node]
    set router [$ns node]
    $ns duplex-link $server $router 10Mb 1ms DropTail
    $ns queue-limit $server $router 100
    $ns queue-limit $router $server 100
    $ns simplex-link $router $london 2Mb 1ms dsRED/edge
    $ns simplex-link $london $router 2Mb 1ms DropTail
    $ns queue-limit $london $router 100
    set queue [[$ns link $router $london] queue]
    $queue meanPktSize 576
    $queue set numQueues_ 1
    $queue setNumPrec 3
    $queue setMREDMode RIO-C 0
    $ns queue-limit $router $london 100
    $queue addPolicyEntry [$server id] [$client id] TSW3CM 10 185000 190000
    $queue addPolicerEntry TSW3CM 10 11 12
    foreach {mark precedence} {10 0 11 1 12 2} {
        $queue addPHBEntry $mark 0 $precedence
        $queue configQ 0 $precedence 30 90 0.1
    }
}

if {$trace} {
    if {$edge} { $ns trace-queue $server $router stdout } else { $server trace-outlink-queue stdout }
    $client trace-inlink-queue stdout
}

set file [open $sessions_file]
set number 0
while {[gets $file line] >= 0} {
    lassign $line begun_s size_bytes
    set tcp [new Agent/TCP/Newreno]
    set sink [new Agent/TCPSink]
    $tcp set fid_ $number
    $ns attach-agent $server $tcp
    $ns attach-agent $client $sink
    $ns connect $tcp $sink
    set source [new Application/FTP]
    $source attach-agent $tcp
    $ns at $begun_s "$source send $size_bytes"
    incr number
}
close $file

set routes [new SatRouteObject]
$routes compute_routes
$ns at $seconds "exit 0"
$ns run
