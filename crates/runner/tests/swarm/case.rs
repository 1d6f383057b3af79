//! Draws a scenario from a seed.

use std::fmt::Write;

use slantpath_base::{Seed, Stream};

/// Time at which all faults are healed, in seconds.
pub(crate) const HEALED_S: u64 = 60;
/// Time at which every flow must have ended, in seconds: an RTO of at most 60 s may have to double its way up and the
/// peer be found dead after a dozen of them.
pub(crate) const END_S: u64 = 1_500;

/// Faults that a seed has.
#[allow(clippy::struct_excessive_bools, reason = "each is a coin of its own, thrown apart from the others")]
pub(crate) struct Faults {
    pub(crate) loss: bool,
    pub(crate) bit_errors: bool,
    duplicates: bool,
    reordering: bool,
    pub(crate) small_queues: bool,
    outages: bool,
}

impl Faults {
    pub(crate) fn draw(stream: &mut Stream) -> Self {
        let mut coin = || stream.below(2) == 1;
        Self {
            loss: coin(),
            bit_errors: coin(),
            duplicates: coin(),
            reordering: coin(),
            small_queues: coin(),
            outages: coin(),
        }
    }
}

/// The scenario of a seed.
pub(crate) fn toml(seed: u64) -> String {
    let mut stream = Seed::new(seed, 0).stream("swarm");
    let faults = Faults::draw(&mut stream);
    let mut text = format!(
        "[scenario]\nname = \"swarm-{seed}\"\nduration = \"{END_S} s\"\nseed = {seed}\nrouting = \"{}\"\n\n",
        pick(&mut stream, &["static", "dynamic"]),
    );
    let links = topology(&mut stream, &mut text);
    for (name, first, second) in &links {
        link(&mut stream, &faults, name, first, second, &mut text);
    }
    profiles(&mut stream, &faults, &mut text);
    for number in 0..=stream.below(3) {
        flow(&mut stream, &faults, &links, number, &mut text);
    }
    script(&mut stream, &faults, &links, &mut text);
    text
}

pub(crate) fn pick<'a>(stream: &mut Stream, of: &[&'a str]) -> &'a str {
    of[usize::try_from(stream.below(of.len() as u64)).expect("an index")]
}

pub(crate) type Link = (String, &'static str, &'static str);

/// Two hosts joined by one to three links, by two chains of routers, or over one bottleneck.
fn topology(stream: &mut Stream, text: &mut String) -> Vec<Link> {
    text.push_str("[nodes]\na = { kind = \"host\" }\nb = { kind = \"host\" }\n");
    let mut routers: &[&str] = &[];
    let links: Vec<Link> = match stream.below(3) {
        0 => (0..=stream.below(3)).map(|number| (format!("direct{number}"), "a", "b")).collect(),
        1 => {
            routers = &["r1", "r2"];
            let ends = [("a", "r1"), ("r1", "b"), ("a", "r2"), ("r2", "b")];
            ends.iter().enumerate().map(|(n, (x, y))| (format!("chain{n}"), *x, *y)).collect()
        }
        _ => {
            routers = &["r1", "r2"];
            let ends = [("a", "r1"), ("r1", "r2"), ("r2", "b")];
            ends.iter().enumerate().map(|(n, (x, y))| (format!("bell{n}"), *x, *y)).collect()
        }
    };
    for router in routers {
        let _ = writeln!(text, "{router} = {{ kind = \"router\" }}");
    }
    text.push('\n');
    links
}

fn link(stream: &mut Stream, faults: &Faults, name: &str, first: &str, second: &str, text: &mut String) {
    let _ = writeln!(text, "[links.{name}]\nends = [\"{first}\", \"{second}\"]");
    let _ = writeln!(text, "rate = \"{} kbit/s\"", 64 << stream.below(8));
    let _ = writeln!(text, "delay = \"{} ms\"", stream.below(300));
    let queue = if faults.small_queues { 2 + stream.below(10) } else { 200 };
    let in_bytes = stream.below(2) == 1;
    let _ = if in_bytes {
        writeln!(text, "queue = \"{} B\"", queue * 1_500)
    } else {
        writeln!(text, "queue = \"{queue} packets\"")
    };
    if faults.loss {
        let _ = writeln!(text, "loss = \"{} %\"", stream.below(20));
    }
    if faults.bit_errors {
        let _ = writeln!(text, "bit_error_rate = \"{}e-6\"", stream.below(30));
    }
    if faults.duplicates {
        let _ = writeln!(text, "duplicate = \"{} %\"", stream.below(10));
    }
    if faults.reordering {
        let (share, delay) = (1 + stream.below(20), 1 + stream.below(200));
        let _ = writeln!(text, "reorder = \"{share} %\"\nreorder_delay = \"{delay} ms\"");
    }
    let _ = writeln!(text, "while_down = \"{}\"\n", pick(stream, &["drop", "hold"]));
}

pub(crate) fn profiles(stream: &mut Stream, faults: &Faults, text: &mut String) {
    let preset = pick(stream, &["rfc2960", "rfc9260", "multi-link-standard", "multi-link-modified"]);
    let _ = writeln!(text, "[sctp.default]\npreset = \"{preset}\"");
    let rto_min = 50 << stream.below(5);
    let _ = writeln!(text, "rto_min = \"{rto_min} ms\"\nrto_initial = \"3 s\"");
    let _ = writeln!(text, "rto_max = \"{} s\"", 3 + stream.below(57));
    let _ = writeln!(text, "path_max_retrans = {}", stream.below(6));
    let failing = pick(stream, &["\"off\"", "0", "1", "4"]);
    let _ = writeln!(text, "potentially_failed_max_retrans = {failing}");
    let switchover = pick(stream, &["\"off\"", "5", "8"]);
    let _ = writeln!(text, "primary_switchover_max_retrans = {switchover}");
    let _ = writeln!(text, "rto_back_off_percent = {}", 100 + 50 * stream.below(4));
    let gate = pick(stream, &["association-window", "path-window", "retransmissions-first"]);
    let _ = writeln!(text, "new_data_after_timeout = \"{gate}\"");
    let burst = pick(stream, &["one-packet", "window"]);
    let _ = writeln!(text, "retransmission_after_timeout = \"{burst}\"");
    let _ = writeln!(text, "association_max_retrans = {}", 3 + stream.below(12));
    let _ = writeln!(text, "max_init_retransmits = {}", 4 + stream.below(8));
    let _ = writeln!(text, "hb_interval = \"{} s\"", 1 + stream.below(30));
    let _ = writeln!(text, "sack_delay = \"{} ms\"", stream.below(501));
    let _ = writeln!(text, "sack_frequency = {}", 1 + stream.below(3));
    let _ = writeln!(text, "max_burst = {}", 1 + stream.below(8));
    let _ = writeln!(text, "receive_buffer = \"{} KiB\"", 8 << stream.below(5));
    let _ = writeln!(text, "send_buffer = \"{} KiB\"", 16 << stream.below(5));
    let schedulers = [
        "first-come-first-served",
        "round-robin",
        "round-robin-per-packet",
        "priority",
        "fair-capacity",
        "weighted-fair-queueing",
    ];
    let _ = writeln!(text, "stream_scheduling = \"{}\"", pick(stream, &schedulers));
    let sets =
        ["", "\"partial-reliability\"", "\"interleaving\"", "\"interleaving\", \"partial-reliability\""];
    let _ = writeln!(text, "extensions = [{}]", pick(stream, &sets));
    // Nothing finds a broken packet then.
    if !faults.bit_errors && stream.below(3) == 0 {
        text.push_str("zero_checksum = \"dtls\"\n");
    }
    text.push('\n');
    let _ = writeln!(text, "[tcp.default]\nsack = {}", stream.below(2) == 1);
    let _ = writeln!(text, "timestamps = {}", stream.below(2) == 1);
    let _ = writeln!(text, "window_scaling = {}", stream.below(2) == 1);
    let _ = writeln!(text, "receive_buffer = \"{} KiB\"", 16 << stream.below(5));
    let _ = writeln!(text, "send_buffer = \"{} KiB\"", 64 << stream.below(5));
    let _ = writeln!(text, "maximum_segment_lifetime = \"5 s\"\n");
}

pub(crate) fn flow(stream: &mut Stream, faults: &Faults, links: &[Link], number: u64, text: &mut String) {
    // TCP's checksum lets one in some thousand double bit errors through: then its bytes may be wrong.
    let is_tcp = !faults.bit_errors && stream.below(3) == 0;
    let (from, to) = if stream.below(4) == 0 { ("b", "a") } else { ("a", "b") };
    let transport = if is_tcp { "tcp" } else { "sctp" };
    let _ =
        writeln!(text, "[flows.f{number}]\ntransport = \"{transport}\"\nfrom = \"{from}\"\nto = \"{to}\"");
    let start = stream.below(20);
    let _ = writeln!(text, "start = \"{start} s\"\nend = \"{} s\"", start + 1 + stream.below(60));
    if !is_tcp {
        let _ = writeln!(text, "streams = {}", 1 + stream.below(8));
        let _ = writeln!(text, "unordered = {}", stream.below(4) == 0);
        let _ = match stream.below(4) {
            0 => writeln!(text, "lifetime = \"{} ms\"", stream.below(2_000)),
            1 => writeln!(text, "max_retransmissions = {}", stream.below(3)),
            _ => Ok(()),
        };
        let _ = writeln!(text, "sack_immediately = {}", stream.below(4) == 0);
        if stream.below(3) == 0 {
            let own: Vec<&str> = links
                .iter()
                .filter(|link| link.1 == to || link.2 == to)
                .map(|link| link.0.as_str())
                .collect();
            let _ = writeln!(text, "destination = \"{}\"", pick(stream, &own));
        }
    }
    let _ = writeln!(text, "when_blocked = \"{}\"", pick(stream, &["wait", "queue"]));
    // Up to ten packets' worth, so that fragments are lost and reassembled too.
    let size = if stream.below(4) == 0 { 8 + stream.below(8_000) } else { 8 + stream.below(1_500) };
    let _ = match stream.below(3) {
        0 => writeln!(
            text,
            "application = {{ kind = \"bulk\", message_size = \"{size} B\", total = \"{} B\" }}\n",
            size * (1 + stream.below(300)),
        ),
        1 => writeln!(
            text,
            "application = {{ kind = \"poisson\", message_size = \"{size} B\", mean_interval = \"{} ms\" }}\n",
            20 + stream.below(500),
        ),
        _ => writeln!(
            text,
            "application = {{ kind = \"bursts\", message_size = \"{size} B\", burst_size = \"{} B\", \
             interval = \"{} ms\" }}\n",
            size * (1 + stream.below(10)),
            100 + stream.below(2_000),
        ),
    };
}

/// Links fail and are repaired; in the end all are up and clean.
pub(crate) fn script(stream: &mut Stream, faults: &Faults, links: &[Link], text: &mut String) {
    let mut event = |at_ms: u64, link: &str, what: &str| {
        let _ = writeln!(text, "[[script]]\nat = \"{at_ms} ms\"\nlink = \"{link}\"\n{what}\n");
    };
    for (name, _, _) in links {
        let failures = if faults.outages { stream.below(4) } else { 0 };
        for _ in 0..failures {
            let direction = pick(stream, &["both", "both", "forward", "reverse"]);
            let down = stream.below(HEALED_S * 1_000);
            let up = down + stream.below(20_000);
            event(down, name, &format!("action = \"down\"\ndirection = \"{direction}\""));
            event(up.min(HEALED_S * 1_000), name, &format!("action = \"up\"\ndirection = \"{direction}\""));
        }
        if faults.outages {
            event(HEALED_S * 1_000, name, "action = \"up\"");
        }
        event(HEALED_S * 1_000, name, "action = \"set\"\nloss = 0\nbit_error_rate = 0");
    }
}
