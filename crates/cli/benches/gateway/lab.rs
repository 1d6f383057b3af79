//! Scenarios that the gateway is loaded by, and what is found.

use std::fs;
use std::net::UdpSocket;
use std::time::Duration;

use slantpath_system::clock::rest;

use crate::point::Point;

/// Time over which messages are sent.
const SENDING: Duration = Duration::from_secs(10);
/// Longer than messages are under way, and shorter than anything repeats.
const SETTLING: Duration = Duration::from_secs(1);

/// A file with its loads.
pub(crate) struct Lab {
    text: String,
    /// Points that send, each with its load; and addresses of all.
    senders: Vec<(String, String)>,
    /// Messages a second, all loads together.
    pub(crate) rate: f64,
}

/// Messages of a run, and what the gateway's process took for one.
pub(crate) struct Found {
    pub(crate) offered: f64,
    pub(crate) arrived: f64,
    /// Processor time of a message that went through, in microseconds.
    pub(crate) user_us: f64,
    pub(crate) system_us: f64,
}

/// Rate that one Erlang fills: enough for any load here.
const LINE_RATE: f64 = 100e6;
const LINKS: f64 = 16.0;

const COMMON: &str = r#"
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

impl Lab {
    /// Two application server processes, whose messages go by global title, translated at the gateway by one of so many
    /// rules, and out by four M2PA links.
    pub(crate) fn servers(octets: u16, rate: f64, rules: u32) -> Self {
        let mut text = COMMON.to_owned();
        nodes(&mut text, &["far", "asp-1", "asp-2"]);
        links(&mut text, "far", 4);
        text += "
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
asps = [\"asp-1\", \"asp-2\"]
";
        // Those of the load's digits first; no load has digits of the others.
        for rule in 0..rules {
            let digits = if rule == 0 { "49?*".to_owned() } else { format!("33{rule:06}?*") };
            text += &format!(
                "[[signalling.translations]]\nat = \"gateway\"\ndigits = \"{digits}\"\n\
                 to = [\"far\"]\nto_subsystem = 6\n"
            );
        }
        let mut senders = Vec::new();
        for name in ["asp-1", "asp-2"] {
            text += &format!("[signalling.asps.{name}]\n");
            text += &format!("[signalling.associations.{name}]\ngateway = \"gateway\"\nasp = \"{name}\"\n");
            let load = format!("of-{name}");
            load_of(&mut text, &load, "users", octets, rate / 2.0);
            text += "routing = \"global-title\"\ntranslator = \"gateway\"\n";
            text += "called = [\"4912345678\"]\nsubsystem = 6\n";
            senders.push((name.to_owned(), load));
        }
        Self { text, senders, rate }
    }

    /// A point with sixteen M2PA links, whose messages go out by four others: each message is alone in its packet.
    pub(crate) fn links(octets: u16, rate: f64) -> Self {
        let mut text = COMMON.to_owned();
        nodes(&mut text, &["far", "near"]);
        text += "[signalling.points.near]\npoint_code = \"2-15-7\"\nrestart = \"omitted\"\n";
        for (from, to) in [("far", "near"), ("near", "far")] {
            text += &format!("[[signalling.routes]]\nfrom = \"{from}\"\nto = \"{to}\"\nvia = \"gateway\"\n");
        }
        links(&mut text, "far", 4);
        links(&mut text, "near", 16);
        load_of(&mut text, "of-near", "near", octets, rate);
        Self { text, senders: vec![("near".to_owned(), "of-near".to_owned())], rate }
    }

    /// Runs it, and gives what the gateway's process took.
    pub(crate) fn measure(&self) -> Found {
        let directory = std::env::temp_dir().join(format!("slantpath-gateway-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let file = directory.join("load.toml");
        fs::write(&file, &self.text).unwrap();
        let udp = UdpSocket::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let start = |point: &str, load: Option<&str>| Point::start(&file, udp, point, load);
        let mut gateway = start("gateway", None);
        let mut far = start("far", None);
        let mut senders: Vec<Point> =
            self.senders.iter().map(|(point, load)| start(point, Some(load))).collect();
        rest(Duration::from_secs(2) + SENDING + SETTLING);
        let used = gateway.used();
        let offered = senders.iter_mut().map(|sender| sender.end("load ", " messages sent")).sum();
        let arrived = far.end("", " messages came to user parts");
        gateway.end("", "");
        fs::remove_dir_all(&directory).unwrap();
        let each = |seconds: f64| seconds / arrived * 1e6;
        Found { offered, arrived, user_us: each(used.user), system_us: each(used.system) }
    }
}

/// Nodes on one network, which is a scenario's and nothing else here.
fn nodes(text: &mut String, names: &[&str]) {
    *text += "[nodes.hub]\nkind = \"router\"\n";
    for name in ["gateway"].iter().chain(names) {
        *text += &format!("[nodes.{name}]\nkind = \"host\"\n");
        *text += &format!(
            "[links.{name}]\nends = [\"{name}\", \"hub\"]\nrate = \"10 Gbit/s\"\ndelay = \"1 ms\"\n"
        );
    }
}

fn links(text: &mut String, point: &str, count: u8) {
    for number in 1..=count {
        *text += &format!(
            "[signalling.links.{point}-{number}]\nbetween = [\"{point}\", \"gateway\"]\n\
             carrier = {{ kind = \"m2pa\", proving = \"omitted\" }}\n"
        );
    }
}

fn load_of(text: &mut String, name: &str, from: &str, octets: u16, rate: f64) {
    let erlang = rate / LINKS * f64::from(octets) * 8.0 / LINE_RATE;
    *text += &format!(
        "[signalling.load.{name}]\nfrom = \"{from}\"\nto = [\"far\"]\nlinks = {LINKS}\nerlang_per_link = {erlang:.6}\n\
         line_rate = \"{:.0} Mbit/s\"\nlengths = [{octets}]\nstart = \"2 s\"\nstop = \"{} s\"\n",
        LINE_RATE / 1e6,
        2 + SENDING.as_secs(),
    );
}
