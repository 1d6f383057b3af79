# SCTP over Iridium, over geostationary satellites, or over both, in ns-2.35, the peer of the study of SCTP over
# satellites:
#
#   ns sctp-sky.tcl SKY PAIRS BIT_ERROR_RATE ERRORS_PER RECEIVE_BUFFER_BYTES STREAMS START_S SECONDS SEED PRIMARY
#
# SKY is iridium, geo, supplemented (by geo as second path) or two-antennas (to Iridium). PAIRS is a file of lines
# `latitude longitude latitude longitude` of the two ends of an association. ERRORS_PER is path (what arrives at
# terminals) or link (what arrives at satellites and gateways, too). START_S is how far the sky has moved when the
# run begins. PRIMARY is what becomes of a primary path that has been given up, once it answers again: changes (the
# other is the primary path from then on, as ns-2 has it) or stays. Standard output is ns's trace of what the sinks
# receive. README.md says how the case is read.

set usage "SKY PAIRS BIT_ERROR_RATE ERRORS_PER RECEIVE_BUFFER_BYTES STREAMS START_S SECONDS SEED PRIMARY"
if {[llength $argv] != [llength $usage]} {
    puts stderr "usage: ns sctp-sky.tcl $usage"
    exit 2
}
lassign $argv sky pairs_file bit_error_rate errors_per buffer_bytes streams start_s seconds seed primary
if {$primary ni {changes stays}} {
    puts stderr "the primary path changes or stays, not $primary"
    exit 2
}
if {$errors_per ni {path link}} {
    puts stderr "errors are per path or link, not $errors_per"
    exit 2
}
source [file join [file dirname [info script]] iridium.tcl]

# What the antennas of a terminal are for, that of the primary path first.
switch $sky {
    iridium { set antennas iridium }
    geo { set antennas geo }
    supplemented { set antennas {iridium geo} }
    two-antennas { set antennas {iridium iridium} }
    default {
        puts stderr "the sky is iridium, geo, supplemented or two-antennas, not $sky"
        exit 2
    }
}
array set ground_bps {iridium 1.5Mb geo 2Mb}
set isl_bps 25Mb
proc stack {constellation} {
    return [list LL/Sat Queue/DropTail 50 Mac/Sat $::ground_bps($constellation) Phy/Sat]
}

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
# More errors in a row than any path has.
if {$primary eq "stays"} { Agent/SCTP set changePrimaryThresh_ 1000 }
# Messages take them in turn.
Agent/SCTP set numOutStreams_ $streams

set ns [new Simulator]
$ns node-config -llType LL/Sat -ifqType Queue/DropTail -ifqLen 50 -macType Mac/Sat -phyType Phy/Sat \
    -channelType Channel/Sat -downlinkBW $ground_bps(iridium) -wiredRouting [expr {$sky eq "iridium" ? "OFF" : "ON"}]

# Bits of what arrives over an interface of a node are wrong, data and SACKs alike.
proc damage {node interface rate} {
    set errors [new ErrorModel]
    $errors unit byte
    $errors set rate_ [expr {1 - pow(1 - $rate, 8)}]
    $errors ranvar [new RandomVariable/Uniform]
    $node interface-errormodel $errors $interface
}

# Nodes of the primary path between the terminals, where errors are of each link.
proc damage_links {nodes} {
    global errors_per bit_error_rate
    if {$errors_per eq "path"} { return }
    foreach node $nodes {
        for {set interface 0} {$interface < [$node set nifs_]} {incr interface} {
            damage $node $interface $bit_error_rate
        }
    }
}

# Three satellites, a gateway below each, and cables between these as long as the chord at the speed of light. Gives
# these six.
proc add_geo {} {
    global ns satellite ground_bps
    $ns node-config -satNodeType geo -downlinkBW $ground_bps(geo)
    foreach slot {-90 30 150} {
        set satellite($slot) [$ns node]
        $satellite($slot) set-position $slot
    }
    $ns node-config -satNodeType terminal
    foreach slot {-90 30 150} {
        set gateway($slot) [$ns node]
        $gateway($slot) set-position 0 $slot
        eval $gateway($slot) add-gsl geo [stack geo] [$satellite($slot) set downlink_] [$satellite($slot) set uplink_]
    }
    foreach {one other} {-90 30 30 150 150 -90} {
        $ns duplex-link $gateway($one) $gateway($other) 100Mb 36.85ms DropTail
        $ns queue-limit $gateway($one) $gateway($other) 50
        $ns queue-limit $gateway($other) $gateway($one) 50
    }
    set nodes {}
    foreach slot {-90 30 150} { lappend nodes $satellite($slot) $gateway($slot) }
    return $nodes
}

# The geostationary satellite that is nearest in longitude.
proc nearest {longitude} {
    global satellite
    foreach slot {-90 30 150} {
        set apart($slot) [expr {abs(fmod($longitude - $slot + 540, 360) - 180)}]
    }
    set best -90
    foreach slot {30 150} { if {$apart($slot) < $apart($best)} { set best $slot } }
    return $satellite($best)
}

if {"iridium" in $antennas} {
    set satellites [add_iridium 1]
    damage_links $satellites
}
if {"geo" in $antennas} {
    set nodes [add_geo]
    # As a backup they have errors of their own.
    if {$sky eq "geo"} { damage_links $nodes }
}

# The satellite of Iridium that is farthest from a place when the run begins: below the horizon, with the one behind it
# in its plane. So the first look takes the highest, where it would else take the satellite behind the one that the
# terminal began with, wherever that has moved above the mask.
proc farthest {latitude longitude} {
    global satellites start_s
    set radian [expr {acos(-1) / 180}]
    # The Earth turns in a sidereal day, and a satellite at 780 km in 6,027 s.
    set turned [expr {360.0 * $start_s / 86164}]
    set moved [expr {360.0 * $start_s / 6027}]
    set least 2
    for {set number 0} {$number < 66} {incr number} {
        set plane [expr {$number / 11}]
        # As add_iridium has them, in radians: along the orbit from the equator, and east of the place at the equator.
        set along [expr {(360.0 / 11 * ($number % 11 + 0.5 * ($plane % 2)) + $moved) * $radian}]
        set east [expr {(31.6 * $plane - $turned - $longitude) * $radian}]
        set inclination [expr {86.4 * $radian}]
        set x [expr {cos($along) * cos($east) - sin($along) * cos($inclination) * sin($east)}]
        set z [expr {sin($along) * sin($inclination)}]
        set cosine [expr {$x * cos($latitude * $radian) + $z * sin($latitude * $radian)}]
        if {$cosine < $least} {
            set least $cosine
            set found [lindex $satellites $number]
        }
    }
    return $found
}

# A terminal of one antenna, which is the place of an address.
proc terminal {latitude longitude constellation} {
    global ns sky bit_error_rate
    $ns node-config -satNodeType terminal
    set node [$ns node]
    $node set-position $latitude $longitude
    if {$constellation eq "geo"} {
        set held [nearest $longitude]
        eval $node add-gsl geo [stack geo] [$held set downlink_] [$held set uplink_]
    } else {
        set held [farthest $latitude $longitude]
        eval $node add-gsl polar [stack iridium] [$held set downlink_] [$held set uplink_]
    }
    # As a backup geostationary satellites have a rate of errors of their own.
    damage $node 0 [expr {$sky eq "supplemented" && $constellation eq "geo" ? 1e-6 : $bit_error_rate}]
    return $node
}

set starts [new RandomVariable/Uniform]
$starts set min_ 0.5
$starts set max_ 1.5
set file [open $pairs_file]
while {[gets $file line] >= 0} {
    lassign $line latitude(0) longitude(0) latitude(1) longitude(1)
    foreach end {0 1} {
        set agent($end) [new Agent/SCTP]
        set interfaces($end) {}
        foreach constellation $antennas {
            lappend interfaces($end) [terminal $latitude($end) $longitude($end) $constellation]
        }
        if {[llength $antennas] == 1} {
            $ns attach-agent $interfaces($end) $agent($end)
        } else {
            # ns's way to several addresses: a node that sends nothing itself, and one for each address beside it.
            $ns unset satNodeType_
            set core($end) [$ns node]
            foreach interface $interfaces($end) { $ns multihome-add-interface $core($end) $interface }
            $ns multihome-attach-agent $core($end) $agent($end)
        }
    }
    foreach interface $interfaces(1) { $interface trace-inlink-queue stdout }
    if {[llength $antennas] > 1} {
        # Each address of the other end by the antenna of the same place.
        foreach {end other} {0 1 1 0} {
            foreach own $interfaces($end) theirs $interfaces($other) {
                set link [$ns link $core($end) $own]
                $core($end) add-route [$theirs node-addr] [$link head]
            }
        }
    }
    $ns connect $agent(0) $agent(1)
    if {[llength $antennas] > 1} { $agent(0) set-primary-destination [lindex $interfaces(1) 0] }
    set source [new Application/FTP]
    $source attach-agent $agent(0)
    $ns at [$starts value] "$source start"
}
close $file

set routes [new SatRouteObject]
$routes compute_routes
$ns at $seconds "exit 0"
$ns run
