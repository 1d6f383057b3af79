//! Labs that the gateway is loaded by, and what is found.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use slantpath_system::clock::rest;

use crate::figures::{Delays, scrape};
use crate::point::{Point, Used};
use crate::text::{self, LoadText};

/// Time over which messages are sent.
const SENDING_S: u64 = 10;
/// Longer than messages are under way, and shorter than anything repeats.
const SETTLING: Duration = Duration::from_secs(1);

/// A file with its loads.
pub(crate) struct Lab {
    text: String,
    /// Points that send, each with its load.
    senders: Vec<(String, String)>,
    /// Messages a second, all loads together.
    pub(crate) rate: f64,
    /// Octets of each, on a line.
    octets: u16,
    rules: u32,
    /// Seconds from the start of the programs that send to the first message.
    lead_s: u64,
    sending_s: u64,
    has_idle: bool,
}

/// Messages of a run, and what the gateway's process took for one.
pub(crate) struct Found {
    pub(crate) offered: f64,
    pub(crate) arrived: f64,
    /// Processor time of a message that went through, in microseconds.
    pub(crate) user_us: f64,
    pub(crate) system_us: f64,
}

impl Found {
    pub(crate) fn each_us(&self) -> f64 {
        self.user_us + self.system_us
    }
}

/// Course of a reload under load.
pub(crate) struct Reload {
    /// From `reload-begun` to `reloaded`, as the gateway tells it.
    pub(crate) lasts_ms: f64,
    pub(crate) from_signal_ms: f64,
    /// Of the messages from half a second before it to half a second after it.
    pub(crate) delays: Delays,
}

/// A lab at work: its programs, and the directory of its file.
struct Running {
    directory: PathBuf,
    file: PathBuf,
    gateway: Point,
    far: Point,
    senders: Vec<Point>,
    idle: Option<Point>,
}

impl Lab {
    /// Two application server processes, whose messages go by global title, translated at the gateway by one of so many
    /// rules, and out by four M2PA links.
    pub(crate) fn servers(octets: u16, rate: f64, rules: u32) -> Self {
        let mut text = text::COMMON.to_owned();
        let asps = ["asp-1", "asp-2"];
        text::nodes(&mut text, &[&["gateway", "far"][..], &asps].concat());
        text::links(&mut text, "far", 4);
        text::servers(&mut text, &asps);
        let senders = asps.map(|name| (name.to_owned(), format!("of-{name}"))).to_vec();
        Self { text, senders, rate, octets, rules, lead_s: 2, sending_s: SENDING_S, has_idle: false }
    }

    /// A point with sixteen M2PA links, whose messages go out by four others: each message is alone in its packet.
    pub(crate) fn links(octets: u16, rate: f64) -> Self {
        let mut text = text::COMMON.to_owned();
        text::nodes(&mut text, &["gateway", "far", "near"]);
        text += "[signalling.points.near]\npoint_code = \"2-15-7\"\nrestart = \"omitted\"\n";
        for (from, to) in [("far", "near"), ("near", "far")] {
            text += &format!("[[signalling.routes]]\nfrom = \"{from}\"\nto = \"{to}\"\nvia = \"gateway\"\n");
        }
        text::links(&mut text, "far", 4);
        text::links(&mut text, "near", 16);
        let senders = vec![("near".to_owned(), "of-near".to_owned())];
        Self { text, senders, rate, octets, rules: 0, lead_s: 2, sending_s: SENDING_S, has_idle: false }
    }

    /// Laboratory of the same beside so many link sets of so many links, which are up and carry nothing.
    pub(crate) fn beside_idle(mut self, link_sets: usize, each: usize) -> Self {
        text::idle(&mut self.text, link_sets, each);
        Self { lead_s: 8, has_idle: true, ..self }
    }

    /// Laboratory of the same with messages from another second on, for so many seconds.
    pub(crate) fn sending(self, lead_s: u64, sending_s: u64) -> Self {
        Self { lead_s, sending_s, ..self }
    }

    /// File of it, whose rules but the first begin with these digits.
    pub(crate) fn file(&self, others: &str) -> String {
        let mut text = self.text.clone();
        text::rules(&mut text, self.rules, others);
        let by_title = self.rules > 0;
        for (point, name) in &self.senders {
            let from = if by_title { "users" } else { point };
            let (start_s, stop_s) = (self.lead_s, self.lead_s + self.sending_s);
            let rate = self.rate / self.senders.len() as f64;
            text::load(&mut text, &LoadText { name, from, octets: self.octets, rate, start_s, stop_s });
            if by_title {
                text += "routing = \"global-title\"\ntranslator = \"gateway\"\n";
                text += "called = [\"4912345678\"]\nsubsystem = 6\n";
            }
        }
        text
    }

    /// Starts its programs, the gateway with further flags; `tool` runs each, if there is one.
    fn start(&self, program: &Path, flags: &[&str], tool: &dyn Fn(&str) -> Vec<String>) -> Running {
        let directory = std::env::temp_dir().join(format!("slantpath-gateway-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let file = directory.join("load.toml");
        fs::write(&file, self.file("33")).unwrap();
        let udp = UdpSocket::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let udp = format!("--udp={udp}");
        let start = |name: &str, arguments: &[&str]| {
            let own = [arguments, &[udp.as_str()]].concat();
            Point::start(program, &tool(name), &file, &own)
        };
        let gateway = start("gateway", &[&["gateway", "--point", "gateway"], flags].concat());
        let far = start("far", &["gateway", "--point", "far"]);
        // A file of many rules takes its time to read: who sends begins when the gateway is there.
        far.until("event=available");
        let idle = self.has_idle.then(|| start("idle", &["traffic", "--load", "idle"]));
        let of =
            |(point, load): &(String, String)| start(point, &["gateway", "--point", point, "--load", load]);
        let senders = self.senders.iter().map(of).collect();
        Running { directory, file, gateway, far, senders, idle }
    }

    /// Runs it, and gives what the gateway's process took while messages were sent.
    pub(crate) fn measure(&self, program: &Path) -> Found {
        let running = self.start(program, &[], &|_| Vec::new());
        rest(Duration::from_secs(self.lead_s).saturating_sub(SETTLING / 2));
        let before = running.gateway.used();
        rest(Duration::from_secs(self.sending_s) + SETTLING * 3 / 2);
        let Used { user, system } = running.gateway.used();
        let [offered, arrived] = running.end();
        let each = |seconds: f64| seconds / arrived * 1e6;
        Found { offered, arrived, user_us: each(user - before.user), system_us: each(system - before.system) }
    }

    /// Runs it, and gives the delays of its messages through the gateway.
    pub(crate) fn delays(&self, program: &Path) -> Delays {
        let metrics = free_port();
        let running = self.start(program, &["--metrics", &metrics.to_string()], &|_| Vec::new());
        rest(Duration::from_secs(self.lead_s + self.sending_s) + SETTLING);
        let delays = scrape(metrics);
        running.end();
        delays
    }

    /// Has the gateway read its file anew in the middle, in which all rules but the first are others.
    pub(crate) fn reload(&self, program: &Path) -> Reload {
        let metrics = free_port();
        let running = self.start(program, &["--metrics", &metrics.to_string()], &|_| Vec::new());
        rest(Duration::from_secs(self.lead_s + 2));
        let before = scrape(metrics);
        rest(SETTLING / 2);
        fs::write(&running.file, self.file("34")).unwrap();
        let signal = Instant::now();
        running.gateway.signal("HUP");
        let begun = running.gateway.until("event=reload-begun");
        let done = running.gateway.until("event=reloaded");
        let from_signal_ms = signal.elapsed().as_secs_f64() * 1e3;
        // Figures are collected at most once a second.
        rest(SETTLING * 3 / 2);
        let delays = scrape(metrics).since(&before);
        running.end();
        Reload { lasts_ms: (done - begun) * 1e3, from_signal_ms, delays }
    }

    /// Runs it with each program under a tool; gives how many messages arrived. Such a program takes its time to begin:
    /// its own clock says when it has sent all.
    pub(crate) fn under(&self, program: &Path, tool: &dyn Fn(&str) -> Vec<String>) -> Result<f64, String> {
        let running = self.start(program, &[], tool);
        let lead_s = self.lead_s as f64;
        let active_s = |sender: &Point| sender.until("event=asp-active");
        let active_s: Vec<f64> = running.senders.iter().map(active_s).collect();
        let left_s = active_s.iter().map(|active_s| lead_s - active_s).fold(0.0, f64::max);
        rest(Duration::from_secs_f64(left_s) + Duration::from_secs(self.sending_s) + SETTLING * 5);
        let [offered, arrived] = running.end();
        if active_s.iter().any(|active_s| *active_s > lead_s) || arrived < offered {
            return Err(format!("the machine is too busy: {arrived} of {offered} messages came"));
        }
        Ok(arrived)
    }
}

impl Running {
    /// Ends its programs; gives how many messages were offered, and how many arrived.
    fn end(mut self) -> [f64; 2] {
        let offered = self.senders.iter_mut().map(|sender| sender.end("load ", " messages sent")).sum();
        let arrived = self.far.end("", " messages came to user parts");
        if let Some(idle) = &mut self.idle {
            idle.end("", "");
        }
        self.gateway.end("", "");
        fs::remove_dir_all(&self.directory).unwrap();
        [offered, arrived]
    }
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}
