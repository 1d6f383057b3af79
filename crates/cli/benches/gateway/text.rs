//! Scenarios that the gateway is loaded by, as text.

/// Rate that one Erlang fills: enough for any load here.
const LINE_RATE: f64 = 100e6;
const LINKS: f64 = 16.0;

pub(crate) const COMMON: &str = r#"
[scenario]
name = "load"
duration = "1 h"

[sctp.default]
rto_min = "300 ms"
send_buffer = "1 MB"
receive_buffer = "1 MB"

[signalling.points.gateway]
point_code = "2-15-3"
function = "transfer-point"
restart = "omitted"

[signalling.points.far]
point_code = "2-15-1"
restart = "omitted"
subsystems = [6]
"#;

/// A load of all links together.
pub(crate) struct LoadText<'a> {
    pub(crate) name: &'a str,
    pub(crate) from: &'a str,
    pub(crate) octets: u16,
    /// Messages a second.
    pub(crate) rate: f64,
    pub(crate) start_s: u64,
    pub(crate) stop_s: u64,
}

/// Nodes on one network, which is a scenario's, and their addresses on the loopback.
pub(crate) fn nodes(text: &mut String, names: &[&str]) {
    *text += "[nodes.hub]\nkind = \"router\"\n";
    for (name, number) in names.iter().zip(1..) {
        node(text, name, &format!("127.0.0.{number}"));
    }
}

fn node(text: &mut String, name: &str, address: &str) {
    *text += &format!(
        "[nodes.{name}]\nkind = \"host\"\n[links.{name}]\nends = [\"{name}\", \"hub\"]\nrate = \"10 Gbit/s\"\n\
         delay = \"1 ms\"\n[live.{name}]\naddresses = [\"{address}\"]\n"
    );
}

pub(crate) fn links(text: &mut String, point: &str, count: usize) {
    *text += &format!(
        "[signalling.links.{point}]\nbetween = [\"{point}\", \"gateway\"]\ncount = {count}\n\
         carrier = {{ kind = \"m2pa\", proving = \"omitted\" }}\n"
    );
}

pub(crate) fn load(text: &mut String, LoadText { name, from, octets, rate, start_s, stop_s }: &LoadText<'_>) {
    let erlang = rate / LINKS * f64::from(*octets) * 8.0 / LINE_RATE;
    *text += &format!(
        "[signalling.load.{name}]\nfrom = \"{from}\"\nto = [\"far\"]\nlinks = {LINKS}\nerlang_per_link = {erlang:.6}\n\
         line_rate = \"{:.0} Mbit/s\"\nlengths = [{octets}]\nstart = \"{start_s} s\"\nstop = \"{stop_s} s\"\n",
        LINE_RATE / 1e6,
    );
}

/// Rules of the gateway: those of the load's digits first; no load has digits of the others, which begin so.
pub(crate) fn rules(text: &mut String, rules: u32, others: &str) {
    for rule in 0..rules {
        let digits = if rule == 0 { "49?*".to_owned() } else { format!("{others}{rule:06}?*") };
        *text += &format!(
            "[[signalling.translations]]\nat = \"gateway\"\ndigits = \"{digits}\"\nto = [\"far\"]\nto_subsystem = 6\n"
        );
    }
}

/// Application servers and their processes, in front of the gateway.
pub(crate) fn servers(text: &mut String, asps: &[&str]) {
    *text += "
[signalling.points.users]
point_code = \"3-20-1\"
[[signalling.routes]]
from = \"far\"
to = \"users\"
via = \"gateway\"
[signalling.gateways.gateway]
[signalling.application_servers.users]
routing_context = 100
dpc = \"users\"
traffic_mode = \"loadshare\"
";
    *text += &format!("asps = {asps:?}\n");
    for name in asps {
        *text += &format!(
            "[signalling.asps.{name}]\n[signalling.associations.{name}]\ngateway = \"gateway\"\nasp = \"{name}\"\n"
        );
    }
}

/// So many link sets of so many links, which carry nothing but their tests, and a load between their points that has
/// one program be all of these.
pub(crate) fn idle(text: &mut String, link_sets: usize, each: usize) {
    let name = |number: usize| format!("idle-{number}");
    for number in 1..=link_sets {
        let name = name(number);
        node(text, &name, &format!("127.1.0.{number}"));
        *text += &format!(
            "[signalling.points.{name}]\npoint_code = \"{}\"\nrestart = \"omitted\"\n",
            5_000 + number
        );
        links(text, &name, each);
    }
    let others: Vec<String> = (2..=link_sets).map(name).collect();
    for other in &others {
        *text += &format!("[[signalling.routes]]\nfrom = \"idle-1\"\nto = \"{other}\"\nvia = \"gateway\"\n");
    }
    *text += &format!(
        "[signalling.load.idle]\nfrom = \"idle-1\"\nto = {others:?}\nlinks = 1\nerlang_per_link = 0.01\n\
         lengths = [60]\nstart = \"2 s\"\n"
    );
}
