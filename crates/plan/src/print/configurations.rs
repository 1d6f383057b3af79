//! Settings as they are typed into equipment.

use core::fmt::Write as _;

use crate::answer::Answer;

/// Gives a value in milliseconds.
pub(super) fn ms(answer: &Answer, name: &str) -> String {
    format!("{:.0}", answer.value(name) * 1e3)
}

fn number(answer: &Answer, name: &str) -> String {
    format!("{:.0}", answer.value(name))
}

/// The largest `int`, which Linux keeps these settings in.
const INT_MAX: f64 = 2_147_483_647.0;

/// The longest RTO that Linux takes, in milliseconds: a day.
const RTO_MS_MAX: f64 = 86_400_000.0;

/// For `sysctl`: Linux's names for the settings of its SCTP. It has no fixed window. Each value lies in the range that
/// `net/sctp/sysctl.c` has for it, whatever stood there before.
pub fn linux_sysctl(answer: &Answer) -> String {
    // Both directions of what is in flight, and as much again for the kernel's own bookkeeping.
    let memory = (4.0 * answer.value("sctp.cwnd")).min(INT_MAX);
    let rto = |name: &str| format!("{:.0}", (answer.value(name) * 1e3).clamp(1.0, RTO_MS_MAX));
    let mut text = String::from(
        "# Linux: the window follows RFC 9260; sockets need room for it in both directions.\n\
             # rto_min stands twice: Linux lets neither bound pass the other one, whatever stood there before.\n",
    );
    if let Some(control) = answer.setting("sctp.congestion_control")
        && control.least.is_some_and(|least| control.value < least)
    {
        let (reached, needed) = (control.value / 1e3, control.least.unwrap_or_default() / 1e3);
        writeln!(text, "# NOT ENOUGH: with this loss its window reaches {reached:.0} kbit/s of {needed:.0}.")
            .expect("a string takes everything");
    }
    for impossible in &answer.impossible {
        writeln!(text, "# NOT POSSIBLE: {}", impossible.demand).expect("a string takes everything");
    }
    for (key, value) in [
        ("net.sctp.rto_initial", rto("sctp.rto_initial")),
        // Neither bound may pass the other one, and what stands there is unknown: down first, then both up.
        ("net.sctp.rto_min", "1".to_owned()),
        ("net.sctp.rto_max", rto("sctp.rto_max")),
        ("net.sctp.rto_min", rto("sctp.rto_min")),
        ("net.sctp.sack_timeout", ms(answer, "sctp.sack_delay")),
        ("net.sctp.path_max_retrans", number(answer, "sctp.path_max_retrans")),
        // Linux passes a path over beyond this, if it is less than the retransmissions of a path.
        (
            "net.sctp.pf_retrans",
            answer.setting("sctp.pf_max_retrans").map_or_else(
                || number(answer, "sctp.path_max_retrans"),
                |potentially_failed| format!("{:.0}", potentially_failed.value),
            ),
        ),
        ("net.sctp.association_max_retrans", number(answer, "sctp.association_max_retrans")),
        ("net.core.rmem_max", format!("{memory:.0}")),
        ("net.core.wmem_max", format!("{memory:.0}")),
    ] {
        writeln!(text, "{key} = {value}").expect("a string takes everything");
    }
    text
}

/// A line of comment for each demand that is not met, for equipment whose comments begin with `!`.
pub(super) fn unmet(answer: &Answer) -> String {
    let mut text = String::new();
    for impossible in &answer.impossible {
        writeln!(text, "! NOT POSSIBLE: {}", impossible.demand).expect("a string takes everything");
    }
    text
}

/// For signalling gateways of the kind that the trial had, by the names of its settings.
pub fn signalling_gateway(answer: &Answer) -> String {
    let carried = if answer.setting("m2pa.t7").is_some() {
        "of M2PA"
    } else if answer.setting("m3ua.t_r").is_some() {
        "of M3UA"
    } else {
        "of SCTP"
    };
    let mut text = format!("! per association {carried}; times in milliseconds, sizes in bytes\n");
    text.push_str(&unmet(answer));
    for (key, value) in [
        ("init-cwnd-size", number(answer, "sctp.cwnd")),
        ("retransmit-cwnd-rate", "0".to_owned()),
        ("fast-cwnd-rate", "0".to_owned()),
        ("minimum-rto", ms(answer, "sctp.rto_min")),
        ("maximum-rto", ms(answer, "sctp.rto_max")),
        ("init-rto", ms(answer, "sctp.rto_initial")),
        ("cumulative-sack", ms(answer, "sctp.sack_delay")),
        ("path-retransmit", number(answer, "sctp.path_max_retrans")),
        ("assoc-retransmit", number(answer, "sctp.association_max_retrans")),
    ] {
        writeln!(text, " {key} {value}").expect("a string takes everything");
        if key == "fast-cwnd-rate" && answer.setting("gateway.transmission_queue").is_some() {
            let depth = number(answer, "gateway.transmission_queue");
            writeln!(text, " tx-queue-depth {depth}").expect("a string takes everything");
        }
    }
    for (key, name) in [
        ("m2pa timer t7", "m2pa.t7"),
        ("mtp3 timer t02", "mtp3.t2"),
        ("mtp3 timer t04", "mtp3.t4"),
        ("mtp3 timer t05", "mtp3.t5"),
        ("mtp3 timer t12", "mtp3.t12"),
        ("mtp3 timer t14", "mtp3.t14"),
        ("mtp3 timer slt-t01", "mtp3.slt_t1"),
        ("m3ua timer t-ack", "m3ua.t_ack"),
        ("m3ua timer t-r", "m3ua.t_r"),
    ] {
        if answer.setting(name).is_some() {
            writeln!(text, " {key} {}", ms(answer, name)).expect("a string takes everything");
        }
    }
    if answer.setting("m3ua.queue").is_some() {
        writeln!(text, " m3ua queue {}", number(answer, "m3ua.queue")).expect("a string takes everything");
    }
    text
}
