# Iridium, as both cases have it: `add_iridium NEXT` adds nodes 0 to 65, plane by plane, in the direction of flight, and
# their links, and returns them. NEXT (0 or 1) is whether a terminal that loses its satellite first tries the next
# in the same plane. The simulator is `ns`, the rate between satellites `isl_bps`.

proc add_iridium {next} {
    global ns isl_bps
    $ns node-config -satNodeType polar
    for {set plane 0} {$plane < 6} {incr plane} {
        for {set slot 0} {$slot < 11} {incr slot} {
            set satellite($plane,$slot) [$ns node]
            set phase [expr {360.0 / 11 * ($slot + 0.5 * ($plane % 2))}]
            $satellite($plane,$slot) set-position 780 86.4 [expr {31.6 * $plane}] $phase [expr {$plane + 1}]
        }
    }
    for {set plane 0} {$plane < 6} {incr plane} {
        for {set slot 0} {$slot < 11} {incr slot} {
            set here $satellite($plane,$slot)
            if {$next} { $here set_next $satellite($plane,[expr {($slot + 10) % 11}]) }
            $ns add-isl intraplane $here $satellite($plane,[expr {($slot + 1) % 11}]) $isl_bps Queue/DropTail 50
            if {$plane < 5} {
                $ns add-isl interplane $here $satellite([expr {$plane + 1}],$slot) $isl_bps Queue/DropTail 50
            }
        }
    }
    set satellites {}
    for {set plane 0} {$plane < 6} {incr plane} {
        for {set slot 0} {$slot < 11} {incr slot} { lappend satellites $satellite($plane,$slot) }
    }
    return $satellites
}
