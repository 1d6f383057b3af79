//! The peers: `peers/sctp-sockets`, built for Linux's SCTP and for usrsctp, each run where it belongs.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;
use slantpath_testkit::{needs_program, skip};

use crate::network::{Network, Place};

/// Whose SCTP it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stack {
    Linux,
    Usrsctp,
}

impl Stack {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Usrsctp => "usrsctp",
        }
    }

    /// IPv4 address of the stack on a link.
    pub(crate) fn v4(self, link: usize) -> String {
        match self {
            Self::Linux => format!("10.82.{link}.67"),
            Self::Usrsctp => format!("10.82.{link}.131"),
        }
    }

    /// IPv6 address of the stack on a link.
    pub(crate) fn v6(self, link: usize) -> String {
        match self {
            Self::Linux => format!("fd82:{link}:0:2::3"),
            Self::Usrsctp => format!("fd82:{link}:0:3::4"),
        }
    }
}

/// The programs, built.
pub(crate) struct Programs {
    directory: PathBuf,
}

impl Programs {
    /// Builds those that can be built; says loudly which cannot.
    pub(crate) fn build() -> (Self, Vec<Stack>) {
        let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let own = Self { directory };
        let mut built = vec![Stack::Linux];
        own.compile(Stack::Linux, &["extensions.c", "kernel.c", "-lpthread"]);
        if Path::new("/usr/include/usrsctp.h").exists() {
            own.compile(
                Stack::Usrsctp,
                &["-DUSRSCTP", "extensions.c", "usrsctp.c", "-lusrsctp", "-lpthread"],
            );
            built.push(Stack::Usrsctp);
        } else {
            let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
            needs_program(&missing, "apt-get install libusrsctp-dev");
        }
        (own, built)
    }

    fn compile(&self, stack: Stack, words: &[&str]) {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/sctp-sockets");
        let mut cc = Command::new("cc");
        cc.current_dir(sources).args(["-O2", "-Wall", "-Wextra", "-Werror", "peer.c"]).args(words);
        // Another run may be about to start the one that is there.
        let new = self.path(stack).with_extension(std::process::id().to_string());
        let output = cc.arg("-o").arg(&new).output().expect("a C compiler");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::rename(new, self.path(stack)).expect("a file of this run");
    }

    fn path(&self, stack: Stack) -> PathBuf {
        self.directory.join(format!("sctp-peer-{}", stack.name()))
    }

    /// Starts a peer. Links from 2 on are those of the other place.
    pub(crate) fn start(&self, network: &Network, stack: Stack, link: usize, options: &[String]) -> Peer {
        let path = self.path(stack);
        match stack {
            Stack::Linux => {
                let line = format!("{} {}", path.display(), options.join(" "));
                let (number, output) = network.start_in_guest(&line);
                let requests: Box<dyn Write> = Box::new(output.try_clone().expect("a socket"));
                Peer { lines: lines(output), requests, seen: Vec::new(), process: Process::InGuest(number) }
            }
            Stack::Usrsctp => {
                let place = if link < 2 { Place::Usrsctp } else { Place::OtherUsrsctp };
                let mut command = network.command(place, &path);
                let mut child =
                    command.args(options).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("ip");
                let output = child.stdout.take().expect("a pipe");
                let requests: Box<dyn Write> = Box::new(child.stdin.take().expect("a pipe"));
                Peer { lines: lines(output), requests, seen: Vec::new(), process: Process::Here(child) }
            }
        }
    }
}

#[derive(Debug)]
enum Process {
    Here(Child),
    InGuest(String),
}

/// A peer that runs.
pub(crate) struct Peer {
    lines: Receiver<Value>,
    requests: Box<dyn Write>,
    /// Events that it has told.
    pub(crate) seen: Vec<Value>,
    process: Process,
}

impl Peer {
    /// Takes in what it has said until now, without a wait.
    pub(crate) fn poll(&mut self) {
        self.seen.extend(self.lines.try_iter());
    }

    /// Asks it to do something, in the words of `peers/sctp-sockets`.
    pub(crate) fn ask(&mut self, line: &str) {
        writeln!(self.requests, "{line}").expect("the peer lives");
    }

    /// Number of events among those told that are meant.
    pub(crate) fn count(&self, is_meant: impl Fn(&Value) -> bool) -> usize {
        self.seen.iter().filter(|said| is_meant(said)).count()
    }

    /// First event of this name that it has told, if any.
    pub(crate) fn said(&self, event: &str) -> Option<&Value> {
        self.seen.iter().find(|said| said["event"] == event)
    }

    /// Waits until it says this.
    pub(crate) fn wait_for(&mut self, event: &str) {
        while self.said(event).is_none() {
            let said = self.lines.recv_timeout(Duration::from_secs(30));
            self.seen.push(said.unwrap_or_else(|_| panic!("no `{event}` after {:?}", self.seen)));
        }
    }

    /// Tells if a peer of this machine lives and answers no question about its association any more, and then where its
    /// threads wait.
    pub(crate) fn stands_still(&mut self) -> Option<String> {
        let Process::Here(child) = &mut self.process else { return None };
        if !matches!(child.try_wait(), Ok(None)) {
            return None;
        }
        let tasks = format!("/proc/{}/task", child.id());
        self.ask("supports");
        while let Ok(said) = self.lines.recv_timeout(Duration::from_secs(10)) {
            let is_answer = said["event"] == "supports";
            self.seen.push(said);
            if is_answer {
                return None;
            }
        }
        let threads = std::fs::read_dir(tasks).into_iter().flatten().flatten();
        let waits = |thread: std::fs::DirEntry| {
            let read = |name| std::fs::read_to_string(thread.path().join(name)).unwrap_or_default();
            format!("{} waits in {}: {}", read("comm").trim(), read("wchan"), read("syscall").trim())
        };
        Some(threads.map(waits).collect::<Vec<_>>().join("\n"))
    }

    /// Ends it at once, as a crash would.
    pub(crate) fn kill(&mut self, network: &Network) {
        match &mut self.process {
            Process::Here(child) => {
                child.kill().expect("it runs");
                child.wait().expect("it has ended");
            }
            Process::InGuest(number) => {
                network
                    .guest(&format!("kill -KILL {number}; while kill -0 {number} 2>&-; do sleep 0.01; done"));
            }
        }
    }
}

impl std::fmt::Debug for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.seen).finish()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Process::Here(child) = &mut self.process {
            // It may have ended by itself.
            if child.try_wait().is_ok_and(|ended| ended.is_none()) && child.kill().is_err() {
                skip("a peer that does not end");
            }
            if let Err(error) = child.wait() {
                skip(&format!("a peer: {error}"));
            }
        }
    }
}

/// The lines of a program, read in a thread of its own.
fn lines(output: impl Read + Send + 'static) -> Receiver<Value> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let said = serde_json::from_str(&line).unwrap_or(Value::String(line));
            if sender.send(said).is_err() {
                return;
            }
        }
    });
    receiver
}
