# SCTP over Iridium in ns-2.35, the peer of the study of SCTP over satellites:
#
#   ns sctp-sky.tcl PAIRS BIT_ERROR_RATE RECEIVE_BUFFER_BYTES START_S SECONDS SEED
#
# PAIRS is a file of lines `latitude longitude latitude longitude` of the two ends of an association, START_S how far
# the sky has moved when the run begins. Standard output is ns's trace of what the sinks receive. README.md says how
# the case is read.

if {[llength $argv] != 6} {
    puts stderr "usage: ns sctp-sky.tcl PAIRS BIT_ERROR_RATE RECEIVE_BUFFER_BYTES START_S SECONDS SEED"
    exit 2
}
lassign $argv pairs_file bit_error_rate buffer_bytes start_s seconds seed
source [file join [file dirname [info script]] iridium.tcl]

set ground_bps 1.5Mb
set isl_bps 25Mb
set stack [list LL/Sat Queue/DropTail 50 Mac/Sat $ground_bps Phy/Sat]

HandoffManager/Term set elevation_mask_ 8.2
HandoffManager/Term set term_handoff_int_ 10
HandoffManager/Sat set sat_handoff_int_ 10
HandoffManager/Sat set latitude_threshold_ 60
HandoffManager set handoff_randomization_ 0
SatRouteObject set metric_delay_ true
SatRouteObject set data_driven_computation_ false
Position/Sat set time_advance_ $start_s
ns-random $seed

# One message of 512 bytes a packet: 20 bytes of IP, 12 of SCTP, 16 of the chunk.
Agent/SCTP set mtu_ 560
Agent/SCTP set dataChunkSize_ 528
Agent/SCTP set initialRwnd_ $buffer_bytes
Agent/SCTP set initialSsthresh_ 10240

set ns [new Simulator]
$ns node-config -llType LL/Sat -ifqType Queue/DropTail -ifqLen 50 -macType Mac/Sat -phyType Phy/Sat \
    -channelType Channel/Sat -downlinkBW $ground_bps -wiredRouting OFF

set first [add_iridium 1]

# Bits of what arrives at a terminal are wrong, data and SACKs alike.
proc damage {node} {
    global bit_error_rate
    set errors [new ErrorModel]
    $errors unit byte
    $errors set rate_ [expr {1 - pow(1 - $bit_error_rate, 8)}]
    $errors ranvar [new RandomVariable/Uniform]
    $node interface-errormodel $errors
}

$ns node-config -satNodeType terminal
set starts [new RandomVariable/Uniform]
$starts set min_ 0.5
$starts set max_ 1.5
set file [open $pairs_file]
while {[gets $file line] >= 0} {
    lassign $line latitude(0) longitude(0) latitude(1) longitude(1)
    foreach end {0 1} {
        set node($end) [$ns node]
        $node($end) set-position $latitude($end) $longitude($end)
        # Which satellite does not matter: the first look hands over.
        eval [set node($end)] add-gsl polar $stack [$first set downlink_] [$first set uplink_]
        damage $node($end)
        set agent($end) [new Agent/SCTP]
        $ns attach-agent $node($end) $agent($end)
    }
    $node(1) trace-inlink-queue stdout
    $ns connect $agent(0) $agent(1)
    set source [new Application/FTP]
    $source attach-agent $agent(0)
    $ns at [$starts value] "$source start"
}
close $file

set routes [new SatRouteObject]
$routes compute_routes
$ns at $seconds "exit 0"
$ns run
