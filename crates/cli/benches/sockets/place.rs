//! Two namespaces with a pair of virtual links, the programs that run there, and what these take.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// Addresses of the two ends.
pub(crate) const ADDRESSES: [&str; 2] = ["10.9.7.1", "10.9.7.2"];

/// Words in front of a command that is ended after so many seconds, and the exit status that tells of it (`timeout`).
pub(crate) const LIMITED: [&str; 2] = ["timeout", "300"];
const TOO_LONG: i32 = 124;

/// Two namespaces, which go with their value, and programs that were made.
pub(crate) struct Place {
    names: [String; 2],
    pub(crate) slantpath: String,
    /// Program of exchanges: static, and as usual.
    pub(crate) exchanges: [String; 2],
    /// usrsctp at one end, where its library is installed.
    pub(crate) usrsctp: Option<String>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let own = std::process::id();
        let names = ["a", "b"].map(|end| format!("sp-sockets-{own}-{end}"));
        for name in &names {
            run("ip", &["netns", "add", name]);
            run("ip", &["-n", name, "link", "set", "lo", "up"]);
        }
        let [first, second] = &names;
        // What is sent on raw sockets has its checksum and its length: nothing is left to the link.
        run(
            "ip",
            &["link", "add", "v0", "netns", first, "type", "veth", "peer", "name", "v0", "netns", second],
        );
        for (name, address) in names.iter().zip(ADDRESSES) {
            run("ip", &["-n", name, "address", "add", &format!("{address}/24"), "dev", "v0"]);
            run("ip", &["-n", name, "link", "set", "v0", "up", "mtu", "1500"]);
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/sockets/exchanges.c");
        let exchanges = [&["-static"][..], &[]].map(|how| {
            let name = if how.is_empty() { "sockets-exchanges" } else { "sockets-exchanges-static" };
            compiled(name, &source, how)
        });
        let usrsctp = Path::new("/usr/include/usrsctp.h").exists().then(|| {
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/sctp-sockets/load.c");
            compiled("sockets-usrsctp", &source, &["-lusrsctp", "-lpthread"])
        });
        Self { names, slantpath: env!("CARGO_BIN_EXE_slantpath").to_owned(), exchanges, usrsctp }
    }

    /// Command at one end.
    pub(crate) fn command(&self, end: usize, words: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[end]]).args(words).stdin(Stdio::null());
        command
    }

    pub(crate) fn start(&self, end: usize, words: &[&str]) -> Child {
        self.command(end, words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Output of a program that ends in order, and in time.
    pub(crate) fn output(&self, end: usize, words: &[&str]) -> String {
        let output = self.command(end, &[&LIMITED, words].concat()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() != Some(TOO_LONG),
            "{}: no end within {} s",
            words.join(" "),
            LIMITED[1]
        );
        assert!(output.status.success(), "{}: {}", words.join(" "), said.trim());
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for name in &self.names {
            run("ip", &["netns", "del", name]);
        }
    }
}

fn compiled(name: &str, source: &Path, more: &[&str]) -> String {
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let program = program.to_str().unwrap();
    run("cc", &[&["-O2", source.to_str().unwrap(), "-o", program], more].concat());
    program.to_owned()
}

fn run(program: &str, words: &[&str]) {
    let output = Command::new(program).args(words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {}: {}", words.join(" "), said.trim());
}

/// Processor time of all processes that have been waited for, with theirs, in seconds.
pub(crate) fn processor_seconds() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
    seconds(usage.user_time()) + seconds(usage.system_time())
}
