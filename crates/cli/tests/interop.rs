//! Check that a Linux kernel takes what `slantpath plan --format sysctl` prints: each value is written into `/proc/sys`
//! of a guest's kernel, line by line, and read back equal. That osmo-stp starts with what `--format osmo-stp` prints,
//! and serves another osmo-stp as an application server process. That a [`failover`] of the kernel is explained. And
//! that programs of others run on emulated networks, which `peers/emulate` and `peers/linux-tcp` judge; and osmo-stp at
//! the other end of a live gateway, which `peers/osmo-stp` judges.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test without a harness says itself what it did"
)]

#[path = "interop/failover.rs"]
mod failover;

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use slantpath_testkit::{needs_program, skip};

/// Plans whose answers lie far apart, one after the other into the same kernel: what stands there before must not
/// matter.
const PLANS: &[&[&str]] = &[
    &["--round-trip=650 ms", "--permanent=2048 kbit/s", "--erlang=0.5", "--octets=120", "--links=4"],
    &["--round-trip=20 ms", "--permanent=10 Mbit/s", "--erlang=0.2", "--octets=120", "--links=8"],
    &["--round-trip=3 s", "--permanent=256 kbit/s", "--erlang=0.1", "--octets=120", "--links=1"],
    &["--round-trip=650 ms", "--permanent=1 Mbit/s", "--erlang=0.2", "--octets=120", "--loss=1 %"],
    &["--round-trip=2 ms", "--permanent=1 Gbit/s", "--erlang=0.2", "--octets=270", "--links=30"],
    &["--round-trip=650 ms", "--permanent=2048 kbit/s", "--erlang=0.5", "--octets=120"],
    &[
        "--round-trip=650 ms",
        "--permanent=1 Mbit/s",
        "--carrier=m3ua",
        "--messages=300",
        "--octets=120",
        "--fade=10 min",
    ],
    &["--round-trip=30 ms", "--permanent=1 Mbit/s", "--carrier=sctp", "--messages=300", "--octets=200"],
];

/// Gateway whose configuration is printed, in a guest that has both ends.
const GATEWAY: &[&str] = &[
    "--round-trip=650 ms",
    "--permanent=2048 kbit/s",
    "--carrier=m3ua",
    "--messages=300",
    "--octets=120",
    "--address=127.0.0.1",
    "--peer-address=127.0.0.2",
    "--point-code=2.1.1",
    "--peer-point-code=2.1.2",
    "--routing-context=7",
];

/// The other end, as somebody else configures it.
const PROCESS: &str = "\
log stderr
 logging filter all 1
 logging color 0
 logging level set-all info
line vty
 no login
 bind 127.0.0.2
cs7 instance 0
 point-code 2.1.2
 asp gateway 2905 2905 m3ua
  local-ip 127.0.0.2
  remote-ip 127.0.0.1
  role asp
  sctp-role client
 as gateway m3ua
  asp gateway
  routing-key 7 2.1.2
  traffic-mode loadshare
";

/// Starts both, the gateway first, and waits until the process has been told that its server is active.
const BOTH: &str = "\
ip link set lo up
osmo-stp -c gateway.cfg > gateway.log 2>&1 & gateway=$!
for try in $(seq 300); do grep -q 2905 /proc/net/sctp/eps && break; sleep 0.1; done
osmo-stp -c process.cfg > process.log 2>&1 & process=$!
for try in $(seq 300); do grep -q 'AS Active' process.log && break; sleep 0.1; done
kill $process $gateway
wait
";

/// A guest's kernel, which ends with it.
struct Guest {
    name: String,
    scripts: PathBuf,
}

impl Guest {
    fn start() -> Option<Self> {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/peers/linux-sctp");
        let Ok(scripts) = scripts.canonicalize() else {
            skip("there is no shared peers/linux-sctp here");
            return None;
        };
        if !is_root() || !Path::new("/dev/net/tun").exists() {
            skip("a guest kernel needs root and /dev/net/tun");
            return None;
        }
        let name = format!("sp-sysctl-{}", std::process::id());
        let up = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/user-mode-linux/up");
        let up = Command::new(up)
            .arg(&scripts)
            .args([&name, &name, "ks0,10.83.0.1/24,10.83.0.2/24"])
            // It ends by itself, if this is killed.
            .env("GUEST_LIFE", "300")
            .output()
            .expect("a script that starts");
        if !up.status.success() {
            let said = String::from_utf8_lossy(&up.stderr).trim().to_owned();
            needs_program(&std::io::Error::other(said), "apt-get install user-mode-linux");
            return None;
        }
        Some(Self { name, scripts })
    }

    /// Writes values in order, and says of each what stands there then, or why it was refused.
    fn set(&self, settings: &[(String, String)]) -> Vec<String> {
        let lines = settings.iter().map(|(key, value)| {
            let file = format!("/proc/sys/{}", key.replace('.', "/"));
            format!("{{ echo '{value}' > {file} && cat {file}; }} 2>&1 | tr '\\n' ' '; echo")
        });
        let lines: Vec<String> = lines.collect();
        let mut shell = Command::new(self.scripts.join("run-in-guest"));
        let shell = shell.args([&self.name, "sh", "-c", &lines.join("\n")]);
        let said = shell.output().expect("a script that starts").stdout;
        let stands: Vec<String> =
            String::from_utf8_lossy(&said).lines().map(|line| line.trim().to_owned()).collect();
        assert_eq!(stands.len(), settings.len(), "{stands:?}");
        stands
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let down = Command::new(self.scripts.join("down")).arg(&self.name).status();
        if let Err(error) = down {
            eprintln!("the guest `{}` is not ended: {error}", self.name);
        }
    }
}

/// The answer in a form.
fn printed(plan: &[&str], form: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_slantpath"));
    let said = command.arg("plan").args(plan).arg(form).output().expect("the command starts");
    assert!(!said.stdout.is_empty(), "{plan:?}: {}", String::from_utf8_lossy(&said.stderr));
    String::from_utf8(said.stdout).expect("lines of text")
}

/// Has osmo-stp start with what is printed for it, and another one connect to it.
fn osmo_stp(guest: &Guest) {
    if let Err(error) = Command::new("osmo-stp").arg("--version").output() {
        needs_program(&error, "apt-get install osmo-stp");
        return;
    }
    let place = std::env::temp_dir().join(format!("slantpath-osmo-stp-{}", std::process::id()));
    std::fs::create_dir_all(&place).expect("a directory for two files");
    std::fs::write(place.join("gateway.cfg"), printed(GATEWAY, "--format=osmo-stp")).expect("a file");
    std::fs::write(place.join("process.cfg"), PROCESS).expect("a file");
    let mut both = Command::new(guest.scripts.join("run-in-guest"));
    let both = both.current_dir(&place).args([&guest.name, "sh", "-c", BOTH]);
    both.output().expect("a script that starts");
    let log = |name: &str| std::fs::read_to_string(place.join(name)).unwrap_or_default();
    let logs = format!("{}\n{}", log("gateway.log"), log("process.log"));
    assert!(log("process.log").contains("AS Active"), "{logs}");
    let _ = std::fs::remove_dir_all(place);
    println!("osmo-stp started with the file that was printed for it, and served a process");
}

/// The lines of an answer that set something.
fn settings(plan: &[&str]) -> Vec<(String, String)> {
    let text = printed(plan, "--format=sysctl");
    let set = |line: &str| {
        let (key, value) = line.split_once(" = ")?;
        Some((key.to_owned(), value.to_owned()))
    };
    let settings: Vec<(String, String)> =
        text.lines().filter(|line| !line.starts_with('#')).filter_map(set).collect();
    assert!(settings.len() >= 8, "{plan:?}: {text}");
    settings
}

/// Has a script of `peers` judge programs of others.
fn judge(script: &str, choice: &[&str]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers").join(script);
    let mut judge = Command::new("python3");
    judge.arg("-B").arg(&script).args(["--slantpath", env!("CARGO_BIN_EXE_slantpath")]).args(choice);
    let said = judge.output().expect("Python starts");
    print!("{}", String::from_utf8_lossy(&said.stdout));
    // What it could not prove it says there.
    eprint!("{}", String::from_utf8_lossy(&said.stderr));
    assert!(said.status.success(), "{}: {}", script.display(), String::from_utf8_lossy(&said.stderr));
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// Tells if emulations can be judged here.
fn has_emulation() -> bool {
    let programs = [("ip", "-V", "iproute2"), ("ping", "-V", "iputils-ping"), (OSPFD, "--version", "frr")];
    let missing = programs.iter().find_map(|(program, version, package)| {
        let error = Command::new(program).arg(version).output().err()?;
        Some((error, package))
    });
    if let Some((error, package)) = &missing {
        needs_program(error, &format!("apt-get install {package}"));
        return false;
    }
    let slantpath =
        Command::new(env!("CARGO_BIN_EXE_slantpath")).args(["emulate", "--late=10 s", "--", "true"]).output();
    let said = slantpath.expect("the command starts");
    if !said.status.success() {
        let refused = String::from_utf8_lossy(&said.stderr).trim().to_owned();
        needs_program(&std::io::Error::other(refused), "allow namespaces");
    }
    said.status.success()
}

/// Daemon of FRR, as Debian installs it.
const OSPFD: &str = "/usr/lib/frr/ospfd";

fn main() {
    // Most of their time they wait, as the guest does.
    std::thread::scope(|scope| {
        if has_emulation() {
            scope.spawn(|| {
                if is_root() {
                    judge("linux-tcp/measure.py", &["--check"]);
                } else {
                    skip("transfers of Linux's TCP have large buffers, for which it wants root");
                }
                judge("emulate/prove.py", &["--short"]);
            });
        }
        scope.spawn(|| judge("osmo-stp/prove.py", &["--short"]));
        scope.spawn(|| judge("sctp-programs/prove.py", &["--short"]));
        guest_takes_what_is_printed();
    });
}

fn guest_takes_what_is_printed() {
    let Some(guest) = Guest::start() else { return };
    let mut refused = Vec::new();
    let mut written = 0;
    for plan in PLANS {
        let settings = settings(plan);
        for ((key, value), stands) in settings.iter().zip(guest.set(&settings)) {
            written += 1;
            if stands != *value {
                refused.push(format!("{plan:?}: {key} = {value} stands as: {stands}"));
            }
        }
    }
    // A kernel that took anything would show nothing.
    let impossible = [("net.sctp.path_max_retrans".to_owned(), "0".to_owned())];
    assert_ne!(guest.set(&impossible), ["0"], "Linux refuses this");
    assert!(refused.is_empty(), "{} of {written}:\n{}", refused.len(), refused.join("\n"));
    println!("a kernel took {written} values of {} plans as they were printed", PLANS.len());
    failover::check(&guest);
    osmo_stp(&guest);
}
