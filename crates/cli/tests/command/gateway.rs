//! `slantpath gateway`: an exchange, a gateway and a process, each a program of its own, over the loopback and in UDP.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::live::free_port;
use crate::place::{Outcome, Place};

pub(crate) const LAB: &str = r#"
[scenario]
name = "lab"
duration = "1 h"

[nodes]
exchange.kind = "host"
london.kind = "host"
boston.kind = "host"

[links.lan]
ends = ["exchange", "london"]
rate = "100 Mbit/s"
delay = "1 ms"

[links.satellite]
ends = ["london", "boston"]
rate = "2 Mbit/s"
delay = "270 ms"

[sctp.default]
rto_min = "300 ms"

[signalling.points.exchange]
point_code = "2-15-1"
restart = "omitted"

[signalling.points.london]
point_code = "2-15-3"
function = "transfer-point"
restart = "omitted"

[signalling.points.register]
point_code = "3-20-1"

[signalling.links.trunk]
between = ["exchange", "london"]
carrier = { kind = "m2pa", proving = "omitted" }

[[signalling.routes]]
from = "exchange"
to = "register"
via = "london"

[signalling.gateways.london]

[signalling.asps.boston]

[signalling.associations.first]
gateway = "london"
asp = "boston"

[signalling.application_servers.register]
routing_context = 100
dpc = "register"
asps = ["boston"]

[signalling.load.there]
from = "exchange"
to = ["register"]
erlang_per_link = 0.2
lengths = [60]
start = "500 ms"
"#;

pub(crate) const NODES: [&str; 6] =
    ["--at", "exchange=127.0.0.1", "--at", "london=127.0.0.2", "--at", "boston=127.0.0.3"];

/// Time after which a line that does not come is missed.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running `slantpath gateway`, or another live command.
pub(crate) struct Live {
    child: Child,
    out: BufReader<ChildStdout>,
    log: Receiver<String>,
}

impl Live {
    pub(crate) fn start(place: &Place, udp: u16, point: &str, more: &[&str]) -> Self {
        let udp = format!("--udp={udp}");
        let arguments = [&["gateway", "lab.toml", "--point", point, &udp][..], &NODES, more].concat();
        Self::of(place.command(&arguments))
    }

    /// Of a command that runs it.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let (told, log) = channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| told.send(line)));
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, out, log }
    }

    /// Reads the log up to a line with these words, and gives it.
    pub(crate) fn until(&self, words: &str) -> String {
        let mut all = Vec::new();
        loop {
            let Ok(line) = self.log.recv_timeout(PATIENCE) else { panic!("no `{words}`: {all:#?}") };
            if line.contains(words) {
                return line;
            }
            all.push(line);
        }
    }

    /// Reads the next line that it says, the first of which comes once it is open.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).expect("text");
        line
    }

    /// Has it read its file anew.
    pub(crate) fn hang_up(&self) {
        let told = Command::new("kill").args(["-HUP", &self.child.id().to_string()]).status();
        assert!(told.expect("kill runs").success());
    }

    /// Number of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it, without a word to anybody.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it has ended");
    }

    /// Ends it by SIGTERM; gives what it had to say, and the rest of its log.
    pub(crate) fn end(self) -> [String; 2] {
        let ended = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(ended.expect("kill runs").success());
        self.ended()
    }

    /// Waits for its end; gives what it had to say, and the rest of its log.
    pub(crate) fn ended(mut self) -> [String; 2] {
        let mut out = String::new();
        self.out.read_to_string(&mut out).expect("text");
        let log = self.log.iter().collect::<Vec<_>>().join("\n");
        assert!(self.child.wait().expect("it ends").success(), "{out}{log}");
        [out, log]
    }
}

impl Drop for Live {
    /// Ends it where a test has failed.
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

#[test]
fn an_exchange_reaches_a_process_behind_a_gateway_over_m2pa_and_m3ua() {
    let place = Place::new("gateway");
    place.write("lab.toml", LAB);
    let udp = free_port();
    let london = Live::start(&place, udp, "london", &[]);
    let boston = Live::start(&place, udp, "boston", &[]);
    let exchange = Live::start(&place, udp, "exchange", &["--load", "there"]);
    london.until("server=register event=as-active");
    boston.until("association=first server=register event=asp-active");
    exchange.until("link=trunk event=available");
    let line = boston.until("event=first-message");
    assert!(line.contains(" from=4217 to=6305 "), "{line}");
    let [out, log] = exchange.end();
    assert!(out.starts_with(&format!("`exchange` is live at 127.0.0.1, in UDP port {udp}; Ctrl-C stops\n")));
    assert!(out.contains("\nload there: "), "{out}");
    let order: Vec<usize> =
        ["event=stopping", "link=trunk event=unavailable", "association=trunk event=association-ended"]
            .map(|words| log.find(words).unwrap_or_else(|| panic!("no {words}: {log}")))
            .into();
    assert!(order.is_sorted(), "{log}");
    let [out, log] = boston.end();
    let order: Vec<usize> = ["event=stopping", "event=asp-inactive", "event=association-ended"]
        .map(|words| log.find(words).unwrap_or_else(|| panic!("no {words}: {log}")))
        .into();
    assert!(order.is_sorted(), "{log}");
    let arrived: Vec<&str> = out.lines().filter(|line| line.contains("came to user parts")).collect();
    assert!(!arrived[0].starts_with("0 "), "{out}");
    let [out, _] = london.end();
    assert!(out.contains("\nassociation trunk: ") && out.contains("\nassociation first: "), "{out}");
    assert!(out.contains("; 0 callers were refused\n"), "{out}");
}

/// Asks a socket of a live point.
fn set(place: &Place, socket: &str, arguments: &[&str]) -> Outcome {
    place.run(&[&["set", socket], arguments].concat())
}

#[test]
fn a_live_gateway_is_asked_and_ordered_at_its_socket() {
    let place = Place::new("gateway-control");
    place.write("lab.toml", LAB);
    let udp = free_port();
    let london = Live::start(&place, udp, "london", &["--control", "london.sock"]);
    let boston = Live::start(&place, udp, "boston", &["--control", "boston.sock"]);
    let exchange = Live::start(&place, udp, "exchange", &["--control", "exchange.sock"]);
    exchange.until("link=trunk event=available");
    london.until("server=register event=as-active");
    let status = set(&place, "london.sock", &["--status"]);
    assert_eq!((status.status, status.err.as_str()), (Some(0), ""));
    for line in [" s: `london`, serving\n", "\ntrunk ", "\nfirst ", "\nregister "] {
        assert!(status.out.contains(line), "{line}: {}", status.out);
    }
    let json = set(&place, "london.sock", &["--status", "--json"]).out;
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(json["application_servers"][0]["processes"][0]["asp"], "boston");
    assert_eq!(json["links"][0]["state"], "available");

    let mut watching = place.command(&["set", "exchange.sock", "--events", "--status"]);
    let mut watching = watching.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut heard = BufReader::new(watching.stdout.take().expect("a pipe")).lines();
    // Once the state is told, events are heard.
    heard.next().expect("a line").expect("text");
    let done = set(&place, "exchange.sock", &["--do", "action=deactivate", "link=trunk"]);
    assert_eq!((done.status, done.err.as_str()), (Some(0), ""));
    assert!(done.out.ends_with(" s: link trunk: deactivate\n"), "{}", done.out);
    exchange.until("link=trunk event=unavailable");
    let mut told = heard.map_while(Result::ok).filter(|line| line.contains(": link trunk: "));
    assert!(told.next().is_some_and(|line| line.ends_with(" s: link trunk: ordered, deactivate")));
    assert!(told.next().is_some_and(|line| line.ends_with(" s: link trunk: unavailable")));
    assert_eq!(set(&place, "exchange.sock", &["--do", "action=activate", "link=trunk"]).status, Some(0));
    exchange.until("link=trunk event=available");

    let path = ["--do", "action=set-primary", "association=first", "path=127.0.0.2"];
    assert_eq!(set(&place, "boston.sock", &path).status, Some(0));
    for (arguments, told) in [
        (&["--do", "action=inhibit", "link=x"][..], "there is no link `x`\n  help: there is `trunk`"),
        (&["--do", "action"], "--do action: there is no `=`"),
        (
            &["links.trunk.loss", "1 %"],
            "a gateway has no values that are set while it runs\n  help: write them into its file",
        ),
    ] {
        let refused = set(&place, "london.sock", arguments);
        assert_eq!(refused.status, Some(2), "{}", refused.out);
        assert!(refused.err.contains(told), "{}", refused.err);
    }
    // Orders have the words of scripts: no line of a live link fails.
    let words = place.run(&["keys", "signalling.script action", "--json"]).out;
    let words: serde_json::Value = serde_json::from_str(&words).expect("it is JSON");
    let refused = set(&place, "exchange.sock", &["--do", "action=x"]).err;
    for word in words[0]["value"].as_str().expect("words").split(", ") {
        let is_of_line = matches!(word, "fail" | "restore");
        assert_eq!(refused.contains(&format!("`{word}`")), !is_of_line, "{word}: {refused}");
    }
    assert_eq!(set(&place, "exchange.sock", &["--stop"]).out, "the run ends\n");
    exchange.until("event=stopping");
    let rest: Vec<String> = told.collect();
    assert!(rest.iter().any(|line| line.ends_with(" s: link trunk: available")), "{rest:?}");
    assert!(rest.last().is_some_and(|line| line.ends_with(" s: link trunk: unavailable")), "{rest:?}");
    assert!(watching.wait().expect("it ends").success());
    let [out, log] = boston.end();
    assert!(out.contains("association first: ") && log.contains("association=first event=ordered"), "{log}");
    assert!(!place.path().join("boston.sock").exists());
    london.end();
}

/// Asks an HTTP server for something, and gives its whole answer.
fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("text");
    answer
}

#[test]
fn figures_of_a_live_gateway_are_scraped() {
    let place = Place::new("gateway-metrics");
    place.write("lab.toml", LAB);
    let udp = free_port();
    let mut london = Live::start(&place, udp, "london", &["--metrics", "0"]);
    let boston = Live::start(&place, udp, "boston", &[]);
    let exchange = Live::start(&place, udp, "exchange", &["--load", "there"]);
    london.line();
    let line = london.line();
    let address =
        line.strip_prefix("figures are at http://").and_then(|rest| rest.strip_suffix("/metrics\n"));
    let address = address.unwrap_or_else(|| panic!("no address: {line}"));
    boston.until("event=first-message");
    // One that says nothing holds nobody up.
    let _mute = TcpStream::connect(address).expect("it listens");
    let answer = get(address, "/metrics");
    let (head, figures) = answer.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4;"), "{head}");
    assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", figures.len())), "{head}");
    let value = |sample: &str| {
        let line = figures.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {sample}: {figures}")).parse::<f64>().expect("a number")
    };
    assert!(value("slantpath_link_available{link=\"trunk\",link_set=\"exchange\"}") > 0.5);
    let carried = "slantpath_delay_seconds_count{from=\"exchange\",to=\"boston\"}";
    assert!(value(carried) > 0.5 && value("slantpath_sctp_established") > 1.5);
    assert!(get(address, "/").starts_with("HTTP/1.1 404 "));
    for running in [exchange, boston] {
        running.end();
    }
    let outcome = place.run(&["gateway", "lab.toml", "--point", "london", "--metrics", address]);
    assert_eq!(outcome.status, Some(2), "{}", outcome.err);
    assert!(outcome.err.contains(&format!("--metrics {address}: ")), "{}", outcome.err);
}

#[test]
fn a_service_manager_is_told_when_it_serves_lives_and_ends() {
    let place = Place::new("gateway-notify");
    place.write("lab.toml", LAB);
    let manager = UnixDatagram::bind(place.path().join("notify")).expect("a socket");
    manager.set_read_timeout(Some(PATIENCE)).expect("a time");
    let udp = free_port().to_string();
    let udp = format!("--udp={udp}");
    let arguments = [&["gateway", "lab.toml", "--point", "london", &udp][..], &NODES].concat();
    let mut command = place.command(&arguments);
    command.env("NOTIFY_SOCKET", place.path().join("notify")).env("WATCHDOG_USEC", "200000");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let hear = || {
        let mut bytes = [0; 200];
        let length = manager.recv(&mut bytes).expect("a word");
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    };
    assert_eq!(hear(), "READY=1\nSTATUS=`london` is live");
    assert_eq!([hear(), hear()], ["WATCHDOG=1", "WATCHDOG=1"]);
    let ended = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(ended.expect("kill runs").success());
    // Signs of life go on until it has ended.
    while hear() != "STOPPING=1" {}
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn a_check_says_what_a_gateway_would_do_and_what_is_wrong() {
    let place = Place::new("gateway-check");
    place.write("lab.toml", LAB);
    let gateway = |more: &[&str]| place.run(&[&["gateway", "check", "lab.toml"], more].concat());
    let outcome = gateway(&["--point", "london", "--at", "london=127.0.0.2,127.0.0.9"]);
    let wanted = "\
signalling point `london` at node `london`
association  from                               to
trunk        127.0.0.2 and 127.0.0.9 port 3565  10.0.0.1 port 3565  waits for it
first        127.0.0.2 and 127.0.0.9 port 2905  10.0.1.2 port 2905  waits for it
scenario ";
    let (told, hash) = outcome.out.split_at(wanted.len().min(outcome.out.len()));
    assert_eq!((outcome.status, told, outcome.err.as_str()), (Some(0), wanted, ""));
    let shown = place.run(&["run", "lab.toml", "--show"]).out;
    assert!(shown.contains(&format!("\n# hash {}", hash.trim())), "{hash}");
    let refused = |more: &[&str], why: &str| {
        let outcome = gateway(more);
        assert_eq!((outcome.status, outcome.err), (Some(2), format!("error: {why}\n")));
    };
    refused(
        &["--point", "paris"],
        "there is no signalling point or process `paris`; there are exchange, london, boston",
    );
    refused(&["--point", "boston", "--load", "there"], "`boston` sends no load `there`; it sends none");
    refused(
        &["--point", "london", "--at", "paris=127.0.0.1"],
        "--at paris=127.0.0.1: the scenario has no node `paris`",
    );
    refused(
        &["--point", "london", "--at", "london"],
        "--at london: there is no `=`; write `--at NODE=ADDRESS`, and further addresses behind commas",
    );
    let twice = "127.0.0.2,127.0.0.2";
    for (node, addresses, why) in [
        ("london", twice, "127.0.0.2 is given twice"),
        ("boston", twice, "127.0.0.2 is given twice"),
        ("boston", "224.0.0.1", "224.0.0.1 is no address of a single host"),
        ("boston", "::ffff:127.0.0.1", "::ffff:127.0.0.1 is no address of a single host"),
    ] {
        let at = format!("{node}={addresses}");
        refused(&["--point", "london", "--at", &at], &format!("--at {at}: {why}"));
    }
    for (here, why) in [
        ("127.0.0.1,127.0.0.2", "127.0.0.2 is at both ends"),
        ("::1", "one end has addresses of IPv4 alone, and the other of IPv6"),
    ] {
        refused(
            &["--point", "boston", "--at", "london=127.0.0.2", "--at", &format!("boston={here}")],
            &format!("association `first`: {why}; give its nodes others by `--at`"),
        );
    }
    let planned = ["--round-trip", "600ms", "--permanent", "512kbit/s", "--links", "4", "--erlang", "0.2"];
    let planned = [&["plan", "--octets", "120", "--format", "gateway"][..], &planned].concat();
    place.write("planned.txt", &place.run(&planned).out);
    let outcome = gateway(&["--point", "london", "--settings", "planned.txt"]);
    let hash = |out: &str| out.lines().last().map(str::to_owned);
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    assert_ne!(hash(&outcome.out), hash(&gateway(&["--point", "london"]).out));
    assert!(
        outcome.err.contains("Path.Max.Retrans of 10 is not below"),
        "what a run would warn of: {}",
        outcome.err
    );
    place.write("planned.txt", "! per association\n minimum-rtt 800\n");
    let outcome = gateway(&["--point", "london", "--settings", "planned.txt"]);
    assert!(
        outcome.err.starts_with("error: planned.txt:2: there is no setting `minimum-rtt`; "),
        "{}",
        outcome.err
    );
    let outcome = gateway(&["--point", "london", "--udp=0"]);
    assert!(outcome.status == Some(2) && outcome.err.contains("0 is not in 1..=65535"), "{}", outcome.err);
}

/// A point that is live has its traffic from elsewhere, though the file says nothing of it: a run of that file has no
/// load, and nothing to warn of.
#[test]
fn a_check_warns_of_a_buffer_that_outlasts_a_timer_without_a_table_of_the_node() {
    let place = Place::new("gateway-unsaid");
    let slow = LAB.replace("100 Mbit/s", "1 Mbit/s");
    let slow = slow.replace("[sctp.default]", "[sctp.default]\nsend_buffer = \"8 MB\"");
    place.write("lab.toml", &slow);
    let fills = "what fills a `send_buffer` of 8 MB takes";
    let run = place.run(&["run", "lab.toml", "--show"]);
    assert!(run.status == Some(0) && !run.err.contains(fills), "{}", run.err);
    let outcome = place.run(&["gateway", "check", "lab.toml", "--point", "london"]);
    assert!(outcome.status == Some(0) && outcome.err.contains(fills), "{}", outcome.err);
    // The scenario is the same.
    let hash = outcome.out.trim_end().rsplit(' ').next().unwrap_or_default().to_owned();
    assert!(run.out.contains(&format!("\n# hash {hash}")), "{hash}");
}

#[test]
fn the_file_says_where_its_nodes_are_and_who_may_call() {
    let place = Place::new("gateway-nodes");
    let live = |more: &str| {
        format!(
            "{LAB}\n[live.london]\naddresses = [\"::1\"]\nudp_port = 30001\nm2pa_port = 4000\n\
             m3ua_port = 5000\n{more}\n[live.exchange]\naddresses = [\"::1\"]\nudp_port = 30002\nm2pa_port = 4001\n\
             [live.boston]\naddresses = [\"::1\"]\nudp_port = 30003\n"
        )
    };
    let check = |point: &str| place.run(&["gateway", "check", "lab.toml", "--point", point]);
    place.write("lab.toml", &live("admit = \"anyone\"\ncontrol = \"london.sock\"\nmetrics = \"[::1]:9464\""));
    let outcome = check("london");
    let wanted = "\
signalling point `london` at node `london`
association  from           to
trunk        ::1 port 4000  anyone  waits for it
first        ::1 port 5000  anyone  waits for it
in UDP port 30001, to 30002, 30003
control at london.sock
metrics at [::1]:9464
scenario ";
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    assert!(outcome.out.starts_with(wanted), "{}", outcome.out);
    let told = check("exchange").out;
    assert!(told.contains("\ntrunk        ::1 port 4001  ::1 port 4000  opens it\n"), "{told}");
    let told = check("boston").out;
    assert!(told.contains("\nfirst        ::1 port 2905  ::1 port 5000  opens it\n"), "{told}");
    let known = live("");
    place.write("lab.toml", &known);
    let told = check("london").out;
    assert!(told.contains("\ntrunk        ::1 port 4000  ::1 port 4001  waits for it\n"), "{told}");
    let second = "[signalling.links.second]\nbetween = [\"exchange\", \"london\"]\nslc = 1\n\
                  carrier = { kind = \"m2pa\", proving = \"omitted\" }\n";
    for (text, why) in [
        (known, "associations `second` and `trunk` are the same to SCTP: both are from port 4000 to"),
        (
            live("admit = \"anyone\""),
            "anyone is admitted at port 4000, where several associations wait: nobody knows which one calls;",
        ),
    ] {
        place.write("lab.toml", &[&text, second].concat());
        let refused = check("london");
        assert!(refused.status == Some(2) && refused.err.contains(why), "{}", refused.err);
    }
}
