//! Check that a Linux kernel takes what `slantpath plan --format sysctl` prints: each value is written into `/proc/sys`
//! of a guest's kernel, line by line, and read back equal.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test without a harness says itself what it did"
)]

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
];

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
        let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
        if !is_root || !Path::new("/dev/net/tun").exists() {
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

/// The lines of an answer that set something.
fn settings(plan: &[&str]) -> Vec<(String, String)> {
    let said = Command::new(env!("CARGO_BIN_EXE_slantpath"))
        .arg("plan")
        .args(plan)
        .arg("--format=sysctl")
        .output()
        .expect("the command starts");
    let text = String::from_utf8(said.stdout).expect("lines of text");
    let set = |line: &str| {
        let (key, value) = line.split_once(" = ")?;
        Some((key.to_owned(), value.to_owned()))
    };
    let settings: Vec<(String, String)> =
        text.lines().filter(|line| !line.starts_with('#')).filter_map(set).collect();
    assert!(settings.len() >= 8, "{plan:?}: {text}{}", String::from_utf8_lossy(&said.stderr));
    settings
}

fn main() {
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
}
