//! Linux's own SCTP as the peer, in a guest kernel: skipped, loudly, where there is none.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use slantpath_base::Duration;
use slantpath_live::{Carriage, Live, Load, LoadConfig, LoadReport, Pace, Program as _, Station};
use slantpath_testkit::skip;

use crate::fixture::{PATIENCE, client, ips, load, server};
use crate::namespaces::enter;

/// A guest with two links to a namespace of its own.
struct Guest {
    scripts: PathBuf,
    name: String,
}

impl Guest {
    fn start() -> Option<Self> {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/peers/linux-sctp");
        let Ok(scripts) = scripts.canonicalize() else {
            skip("there is no shared peers/linux-sctp here");
            return None;
        };
        if !nix::unistd::geteuid().is_root() || !Path::new("/dev/net/tun").exists() {
            skip("a guest kernel needs root and /dev/net/tun");
            return None;
        }
        let guest = Self { scripts, name: format!("slantpath-live-{}", std::process::id()) };
        let links = ["k0,10.82.0.1/24,10.82.0.2/24", "k1,10.82.1.1/24,10.82.1.2/24"];
        let up = Command::new(guest.scripts.join("up")).args([&guest.name, &guest.name]).args(links).output();
        let up = up.expect("a script that starts");
        if !up.status.success() {
            assert!(std::env::var_os("CI").is_none(), "{}", String::from_utf8_lossy(&up.stderr));
            skip(&format!("no guest kernel: {}", String::from_utf8_lossy(&up.stderr).trim()));
            return None;
        }
        Some(guest)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.scripts.join("run-in-guest"));
        command.arg(&self.name).args(words);
        command
    }

    fn run(&self, words: &[&str]) {
        let output = self.command(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Starts the program of `guest.py`.
    fn program(&self, words: &[&str]) -> Running {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/guest.py");
        let mut command = self.command(&["python3", script.to_str().unwrap()]);
        let mut child = command.args(words).stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Running { child, out }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let down = Command::new(self.scripts.join("down")).arg(&self.name).output();
        if !down.is_ok_and(|output| output.status.success()) {
            skip(&format!("the guest {} has not ended", self.name));
        }
    }
}

struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Running {
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn end(mut self) -> String {
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success(), "{rest}");
        rest.trim_end().to_owned()
    }
}

/// Runs a load to its end.
fn to_its_end(client: &mut Live<Station<Load>>, mut watch: impl FnMut(&Live<Station<Load>>)) -> LoadReport {
    let last = client.now().saturating_add(PATIENCE);
    while !client.host().program.is_over() {
        assert!(client.now() < last, "no end: {:#?}", client.host().program);
        client.step(last).unwrap();
        watch(client);
    }
    let now = client.now();
    let Station { host, program } = client.host_mut();
    program.report(host, now)
}

#[test]
fn the_kernel_echoes_and_is_echoed_in_ip_and_in_udp_and_survives_a_link() {
    let Some(guest) = Guest::start() else { return };
    enter(&guest.name);
    let (own, peer) = (ips(&["10.82.0.1", "10.82.1.1"]), ips(&["10.82.0.2", "10.82.1.2"]));

    // We call, and every byte comes back.
    let mut serving = guest.program(&["serve"]);
    assert_eq!(serving.line(), "ready");
    let mut caller = client(&own, &peer[..1], Carriage::Raw, &load(3_000, 1_000)).unwrap();
    let report = to_its_end(&mut caller, |_| {});
    assert_eq!((report.sent, report.echoed, report.foreign), (3_000, 3_000, 0), "{report:?}");
    assert_eq!(report.paths.len(), 2, "the kernel has told its other address: {report:?}");
    assert_eq!(serving.end(), "3000");
    drop(caller);

    // It calls, and every byte comes back.
    let mut listening = server(&own, Carriage::Raw).unwrap();
    let calling = guest.program(&["call", "10.82.0.1", "2000"]);
    let last = listening.now().saturating_add(PATIENCE);
    while listening.host().program.report().associations == 0
        || listening.host().program.open_associations() > 0
    {
        assert!(listening.now() < last, "no end: {:#?}", listening.host().program);
        listening.step(last).unwrap();
    }
    let digests = calling.end();
    let (sent, back) = digests.split_once(' ').unwrap();
    assert_eq!(sent, back);
    let report = *listening.host().program.report();
    assert_eq!((report.messages, report.echoed, report.failed), (2_000, 2_000, 0));
    drop(listening);

    // The link of the primary goes down at the kernel's end.
    let mut serving = guest.program(&["serve"]);
    assert_eq!(serving.line(), "ready");
    let config = LoadConfig { pace: Pace::Every(Duration::from_millis(2)), ..load(2_000, 300) };
    let mut caller = client(&own, &peer, Carriage::Raw, &config).unwrap();
    let mut is_down = false;
    let report = to_its_end(&mut caller, |client| {
        if !is_down && client.host().program.progress().1 > 200 {
            is_down = true;
            guest.run(&["ip", "link", "set", "vec0", "down"]);
        }
    });
    assert_eq!((report.sent, report.echoed, report.failures.len()), (2_000, 2_000, 0), "{report:?}");
    assert!(report.path_events.iter().any(|(_, address, _)| *address == peer[0]), "{report:?}");
    serving.end();
    drop(caller);
    guest.run(&["ip", "link", "set", "vec0", "up"]);

    // The same in UDP. A burst that the guest's kernel leaves to its driver to cut gets lost there if it is in UDP.
    for device in ["vec0", "vec1"] {
        guest.run(&["ip", "link", "set", device, "gso_max_size", "1400"]);
    }
    guest.run(&["sysctl", "-w", "net.sctp.udp_port=9899", "net.sctp.encap_port=9899"]);
    let mut serving = guest.program(&["serve"]);
    assert_eq!(serving.line(), "ready");
    let udp = Carriage::Udp { local_port: 9_899, remote_port: 9_899 };
    let mut caller = client(&own, &peer, udp, &load(2_000, 1_000)).unwrap();
    let report = to_its_end(&mut caller, |_| {});
    assert_eq!((report.sent, report.echoed, report.foreign), (2_000, 2_000, 0), "{report:?}");
    assert_eq!(serving.end(), "2000");
}
