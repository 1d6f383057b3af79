//! Words of the field, and of other programs, for what a file calls otherwise.

/// Words in small letters without `-`, `_`, `+` and blanks, each with the names that may be meant, the likeliest first.
#[rustfmt::skip]
pub const SYNONYMS: &[(&str, &[&str])] = &[
    // Controllers, and what governs a window.
    ("reno", &["new-reno", "rfc9260"]), ("newreno", &["new-reno", "rfc9260"]), ("tahoe", &["new-reno", "rfc9260"]),
    ("aimd", &["new-reno", "rfc9260"]), ("standard", &["rfc9260", "new-reno"]), ("rfc5681", &["new-reno"]),
    ("rfc6582", &["new-reno"]), ("rfc4960", &["rfc9260"]), ("sctp", &["rfc9260"]), ("bbrv1", &["bbr"]),
    ("bbr1", &["bbr"]),
    ("bbrv2", &["bbr3"]), ("bbr2", &["bbr3"]), ("bbrv3", &["bbr3"]), ("tcpw", &["westwood"]),
    ("cmt", &["concurrent"]), ("cmtrp", &["pooled-v1"]), ("cmtrpv1", &["pooled-v1"]), ("cmtrpv2", &["pooled-v2"]),
    ("plpmtud", &["probing"]), ("dplpmtud", &["probing"]), ("pmtud", &["icmp"]),
    ("prsctp", &["partial-reliability"]), ("idata", &["interleaving"]), ("asconf", &["dynamic-addresses"]),
    ("auth", &["authentication"]), ("reconfig", &["stream-reconfiguration"]),
    // Queues and schedulers.
    ("fq", &["fq-codel", "drr"]), ("sfq", &["fq-codel", "drr"]), ("cake", &["fq-codel"]), ("dwrr", &["drr"]),
    ("wrr", &["drr"]),
    ("wfq", &["weighted-fair-queueing", "drr"]), ("prio", &["priority"]), ("strict", &["priority"]),
    ("strictpriority", &["priority"]), ("rio", &["rio-c"]), ("gred", &["wred"]), ("fcfs", &["first-come-first-served"]),
    ("fifo", &["first-come-first-served"]), ("rr", &["round-robin"]), ("trtcm", &["tr-tcm"]), ("srtcm", &["sr-tcm"]),
    // Applications, nodes and transports.
    ("cbr", &["constant-rate"]), ("constant", &["constant-rate"]), ("constantbitrate", &["constant-rate"]),
    ("onoff", &["bursts", "on-off"]), ("ftp", &["bulk"]), ("file", &["bulk"]), ("iperf", &["bulk"]),
    ("greedy", &["bulk"]),
    ("voip", &["voice"]), ("exponential", &["poisson"]), ("echo", &["ping"]), ("replay", &["trace"]),
    ("pcap", &["trace"]),
    ("switch", &["router"]), ("server", &["host"]), ("client", &["host"]), ("endpoint", &["host"]), ("ue", &["host"]),
    ("tap", &["attached"]), ("tun", &["attached"]), ("real", &["attached"]), ("container", &["attached"]),
    ("namespace", &["attached"]), ("gtp", &["gtp-u"]), ("gtpv1u", &["gtp-u"]),
    // Skies.
    ("walker", &["shell"]), ("walkerdelta", &["delta"]), ("walkerstar", &["star"]), ("tle", &["elements"]),
    ("omm", &["elements"]), ("sgp4", &["elements"]), ("geo", &["slots"]), ("gso", &["slots"]),
    ("transparent", &["bent-pipe"]), ("processing", &["regenerative"]), ("onboard", &["regenerative"]),
    ("mesh", &["grid"]), ("hard", &["break-before-make"]), ("soft", &["make-before-break"]),
    ("shortest", &["least-delay"]), ("fewesthops", &["least-hops"]),
    // Signalling.
    ("gt", &["global-title"]), ("dpc", &["point-code"]), ("pc", &["point_code"]), ("pcr", &["preventive-cyclic"]),
    ("stp", &["transfer-point"]), ("sep", &["end-point"]), ("loadsharing", &["loadshare"]),
    // Keys.
    ("bandwidth", &["rate"]), ("bitrate", &["rate"]), ("datarate", &["rate"]), ("speed", &["rate"]),
    ("capacity", &["rate"]),
    ("latency", &["delay"]), ("propagation", &["delay"]), ("onewaydelay", &["delay"]), ("packetloss", &["loss"]),
    ("per", &["loss"]), ("plr", &["loss"]), ("ber", &["bit_error_rate"]), ("buffer", &["queue"]),
    ("buffersize", &["queue"]),
    ("queuesize", &["queue"]), ("queuelimit", &["queue"]), ("scheduler", &["stream_scheduling", "discipline"]),
    ("aqm", &["discipline"]), ("qdisc", &["discipline"]), ("cc", &["congestion_control"]),
    ("congestion", &["congestion_control"]), ("controller", &["congestion_control"]), ("bdp", &["cwnd"]),
    ("rain", &["fade"]),
    ("heartbeat", &["hb_interval"]), ("heartbeatinterval", &["hb_interval"]),
    ("pfmaxretrans", &["potentially_failed_max_retrans"]), ("pfretrans", &["potentially_failed_max_retrans"]),
    ("pfmr", &["potentially_failed_max_retrans"]), ("pmr", &["path_max_retrans"]),
    ("cwnd", &["fixed_cwnd"]),
    ("amr", &["association_max_retrans"]), ("size", &["message_size"]), ("packetsize", &["message_size"]),
    ("messagelength", &["message_size"]), ("period", &["interval"]), ("length", &["duration"]), ("time", &["duration"]),
    ("warmup", &["warm_up"]), ("reps", &["repetitions"]), ("runs", &["repetitions"]),
    ("replications", &["repetitions"]),
    ("source", &["from"]), ("src", &["from"]), ("destination", &["to"]), ("dst", &["to"]), ("protocol", &["transport"]),
    ("lat", &["latitude"]), ("lon", &["longitude"]), ("lng", &["longitude"]), ("long", &["longitude"]),
    ("alt", &["altitude"]), ("elevation", &["min_elevation"]), ("minimumelevation", &["min_elevation"]),
];

/// Name among these that a word of the field stands for.
pub(crate) fn meant<'a>(given: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let folded: String = given.to_lowercase().chars().filter(|letter| !"-_+ ".contains(*letter)).collect();
    let (_, names) = SYNONYMS.iter().find(|(word, _)| *word == folded)?;
    names.iter().find_map(|name| candidates.iter().copied().find(|candidate| candidate == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_the_field_leads_to_the_name_that_is_there() {
        assert_eq!(meant("Reno", &["bbr", "new-reno"]), Some("new-reno"));
        assert_eq!(meant("new_reno", &["bbr", "rfc9260"]), Some("rfc9260"));
        assert_eq!(meant("reno", &["bbr"]), None);
        assert_eq!(meant("Walker-Delta", &["delta", "star"]), Some("delta"));
    }

    #[test]
    fn words_are_folded_and_each_stands_once() {
        for (place, (word, names)) in SYNONYMS.iter().enumerate() {
            assert!(
                word.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit()),
                "{word}"
            );
            assert!(!names.is_empty() && !names.contains(word), "{word}");
            assert!(SYNONYMS[..place].iter().all(|(other, _)| other != word), "{word}");
        }
    }
}
