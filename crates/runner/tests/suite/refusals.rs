//! Crates below refuse some of what they are asked for, by an error or a panic. Checks refuse it before, with a reason
//! at its place: a table of what those crates refuse. `effects/refusals.rows` has what access on demand, signalling and
//! topologies do.

use std::path::Path;

use slantpath_runner::{Scenario, files_in};

/// Two hosts and a router between, and a flow; parts of it are replaced.
const SOUND: &str = r#"
[scenario]
name = "refusals"
duration = "10 s"
[nodes]
a = { kind = "host" }
b = { kind = "host" }
r = { kind = "router" }
[links.l]
ends = ["a", "r"]
rate = "1 Mbit/s"
delay = "10 ms"
addresses = ["10.0.0.1", "10.0.0.2"]
[links.m]
ends = ["r", "b"]
rate = "1 Mbit/s"
delay = "10 ms"
addresses = ["10.1.0.1", "10.1.0.2"]
[sctp.default]
extensions = ["dynamic-addresses", "authentication"]
[tcp.default]
[flows.f]
transport = "sctp"
from = "a"
to = "b"
streams = 1
application = { kind = "bulk", message_size = "1000 B", total = "20 kB" }
"#;

/// The help of what only the crate below has refused.
const UNSEEN: &str = "beyond what the checks before it see";
const IPV4: &str = r#"addresses = ["10.0.0.1", "10.0.0.2"]"#;
const FLOW: &str = "streams = 1";
const PROFILE: &str = "[sctp.default]";
const LINK: &str = "[links.m]";
/// Case of a refusal: the name that the crate below gives it, the replacements in the text, and what is said.
type Case = (&'static str, &'static [(&'static str, &'static str)], &'static str);

fn refusal(changes: &[(&str, &str)]) -> Option<String> {
    let mut text = SOUND.to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "`{from}` is not there to be replaced");
        text = text.replacen(from, to, 1);
    }
    let read = Scenario::parse("refusals", &text, &[], files_in(Path::new("nowhere")));
    read.err().map(|diagnostics| diagnostics.to_string())
}

#[test]
fn what_a_crate_below_refuses_is_refused_with_a_reason_before_it_is_asked() {
    assert_eq!(refusal(&[]), None);
    let cases: [Case; 31] = [
        // net::GraphError.
        ("AddressTaken", &[("10.1.0.1", "10.0.0.1")], "address `10.0.0.1` is given twice"),
        ("Loop", &[(r#"["a", "r"]"#, r#"["a", "a"]"#)], "both ends of link `l` are `a`"),
        ("MtuTooSmall", &[(IPV4, "mtu = \"67 B\"")], "an MTU of 67 B cannot be"),
        (
            "MtuTooSmall of IPv6",
            &[(IPV4, "family = \"ipv6\"\nmtu = \"1279 B\"")],
            "an MTU of 1279 B cannot be",
        ),
        ("NameTaken", &[(LINK, "[links.l]")], "l"),
        ("NoRate", &[("rate = \"1 Mbit/s\"", "rate = \"0 bit/s\"")], "rate"),
        ("NoTokens: rate", &[(IPV4, "shaper = { rate = \"0 bit/s\", burst = \"3000 B\" }")], "rate"),
        ("NoTokens: burst", &[(IPV4, "shaper = { rate = \"1 kbit/s\", burst = \"1499 B\" }")], "burst"),
        (
            "NoRoute",
            &[
                (r#"ends = ["r", "b"]"#, r#"ends = ["b", "b2"]"#),
                ("[nodes]", "[nodes]\nb2 = { kind = \"host\" }"),
            ],
            "no route leads from `a` to `b`",
        ),
        // What net::SendingConfig cannot say.
        (
            "repeated and compressed",
            &[(IPV4, "arq = { tries = 3 }\nheader_compression = { compressed = \"4 B\" }")],
            "arq",
        ),
        (
            "repeated and shaped",
            &[(IPV4, "arq = { tries = 3 }\nshaper = { rate = \"1 kbit/s\", burst = \"3000 B\" }")],
            "a link with `arq` shapes nothing",
        ),
        (
            "compressed and shaped",
            &[(
                IPV4,
                "header_compression = { compressed = \"4 B\" }\n\
                 shaper = { rate = \"1 kbit/s\", burst = \"3000 B\" }",
            )],
            "a link with `header_compression` shapes nothing",
        ),
        // sctp::Endpoint::bind, with FailoverThresholds::check.
        (
            "an address that names no single host",
            &[("10.0.0.1", "224.0.0.1")],
            "`224.0.0.1` is no address of a host",
        ),
        ("broadcast", &[("10.0.0.1", "255.255.255.255")], "is no address of a host"),
        ("unspecified", &[("10.0.0.1", "0.0.0.0")], "is no address of a host"),
        ("unspecified of IPv6", &[("10.0.0.1", "::")], "is no address of a host"),
        ("mapped", &[("10.0.0.1", "::ffff:10.0.0.1")], "write `10.0.0.1`"),
        ("mapped, at a router", &[("10.0.0.2", "::ffff:10.0.0.2")], "write `10.0.0.2`"),
        (
            "no address",
            &[(FLOW, "handover_at = \"1 s\"\nhandover_to = \"l\"")],
            "`a` is reached over link `l` alone",
        ),
        (
            "thresholds",
            &[(PROFILE, "[sctp.default]\npotentially_failed_threshold = 9\npath_max_retrans = 5")],
            "potentially_failed_threshold",
        ),
        // sctp, where both ends agree on fewer streams; a message on another breaks the association.
        ("streams", &[(FLOW, "streams = 2049")], "write `inbound_streams = 2049` in `[sctp.default]`"),
        (
            "streams of a profile",
            &[(FLOW, "streams = 3"), (PROFILE, "[sctp.default]\ninbound_streams = 2")],
            "not 2",
        ),
        ("no streams", &[(PROFILE, "[sctp.default]\ninbound_streams = 0")], "inbound_streams"),
        // sctp, which sends to addresses of its own version alone, and tcp.
        (
            "a primary that is none of the peer's",
            &[(IPV4, r#"addresses = ["fd00::1", "fd00::2"]"#)],
            "flow `f`: `a` has no address of IPv4 to send to `10.1.0.2` from",
        ),
        (
            "the same of TCP, to IPv6",
            &[("10.1.0.1", "fd00::1"), ("10.1.0.2", "fd00::2"), ("\"sctp\"", "\"tcp\"")],
            "flow `f`: `a` has no address of IPv6 to send to `fd00::2` from",
        ),
        (
            "the same of TCP, where another link of its host has such an address",
            &[
                ("10.1.0.1", "fd00::1"),
                ("10.1.0.2", "fd00::2"),
                ("\"sctp\"", "\"tcp\""),
                (
                    LINK,
                    "[links.z]\nends = [\"a\", \"r\"]\nrate = \"1 Mbit/s\"\ndelay = \"90 ms\"\n\
                     addresses = [\"fd01::1\", \"fd01::2\"]\n[links.m]",
                ),
            ],
            "flow `f`: `a` has no address of IPv6 to send to `fd00::2` from",
        ),
        // host: messages and what is numbered.
        ("a message that is too long", &[("1000 B", "65537 B")], "message_size"),
        ("a message without a stamp", &[("1000 B", "7 B")], "no message has 7 B"),
        ("ports", &[(FLOW, "count = 10001")], "count"),
        // cc: a segment without bytes, a least time-out beyond the longest.
        (
            "a segment of none",
            &[("[tcp.default]", "[tcp.default]\nmss = \"0 B\""), ("\"sctp\"", "\"tcp\"")],
            "mss",
        ),
        ("time-outs", &[(PROFILE, "[sctp.default]\nrto_min = \"61 s\"\nrto_max = \"60 s\"")], "rto_m"),
    ];
    let mut wrong = Vec::new();
    for (what, changes, said) in cases {
        match refusal(changes) {
            Some(refused) if refused.contains(said) && !refused.contains(UNSEEN) => {}
            Some(refused) => wrong.push(format!("{what}: {refused}")),
            None => wrong.push(format!("{what} is not refused")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_host_with_addresses_of_both_versions_sends_from_the_one_that_its_peer_has() {
    // Another link of the sender's, of the receiver's version: SCTP leaves by it.
    let other = "[links.n]\nends = [\"a\", \"r\"]\nrate = \"1 Mbit/s\"\ndelay = \"20 ms\"\n[links.m]";
    let mapped = (r#"addresses = ["10.0.0.1", "10.0.0.2"]"#, r#"addresses = ["fd00::1", "fd00::2"]"#);
    assert_eq!(refusal(&[mapped, ("[links.m]", other)]), None);
}
