//! `slantpath gateway`: an exchange, a gateway and a process, each a program of its own, over the loopback and in UDP.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::live::free_port;
use crate::place::Place;

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

/// A running `slantpath gateway`.
pub(crate) struct Live {
    child: Child,
    log: Receiver<String>,
}

impl Live {
    pub(crate) fn start(place: &Place, udp: u16, point: &str, more: &[&str]) -> Self {
        let udp = format!("--udp={udp}");
        let arguments = [&["gateway", "lab.toml", "--point", point, &udp][..], &NODES, more].concat();
        let mut command = place.command(&arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let (told, log) = channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| told.send(line)));
        Self { child, log }
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

    /// Has it read its file anew.
    pub(crate) fn hang_up(&self) {
        let told = Command::new("kill").args(["-HUP", &self.child.id().to_string()]).status();
        assert!(told.expect("kill runs").success());
    }

    /// Ends it by SIGTERM; gives what it had to say, and the rest of its log.
    pub(crate) fn end(mut self) -> [String; 2] {
        let ended = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(ended.expect("kill runs").success());
        let mut out = String::new();
        self.child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("text");
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
";
    assert_eq!((outcome.status, outcome.out.as_str(), outcome.err.as_str()), (Some(0), wanted, ""));
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
    let outcome = gateway(&["--point", "london", "--udp=0"]);
    assert!(outcome.status == Some(2) && outcome.err.contains("0 is not in 1..=65535"), "{}", outcome.err);
}
