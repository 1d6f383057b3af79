//! The library that is carried, in front of real programs, and a daemon of the test behind it.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod stand_in;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use stand_in::{SocketEnd, StandIn};

/// Directory of one test, with the library in it.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("slantpath-carried-{name}-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("library.so"), slantpath_carried::PRELOAD).unwrap();
        Self(path)
    }

    fn with_library(&self, program: impl AsRef<Path>, daemon: &StandIn) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env("LD_PRELOAD", self.0.join("library.so")).env("SLANTPATH_SCTP", &daemon.name);
        command
    }

    /// A compiled program, if there is a compiler.
    fn compiled(&self) -> Option<PathBuf> {
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        if Command::new(&compiler).arg("--version").output().is_err() {
            slantpath_testkit::skip("programs in C are not tried: there is no C compiler");
            return None;
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/preload/calls.c");
        let program = self.0.join("calls");
        let made = Command::new(compiler)
            .args(["-O2", "-D_FORTIFY_SOURCE=2", "-o"])
            .arg(&program)
            .arg(source)
            .output();
        assert_good(&made.unwrap());
        Some(program)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn assert_good(output: &Output) {
    assert!(output.status.success(), "{:?}: {}", output.status, String::from_utf8_lossy(&output.stderr));
}

fn next_end(daemon: &StandIn) -> SocketEnd {
    daemon.ends.recv_timeout(Duration::from_secs(20)).unwrap()
}

#[test]
fn a_program_in_c_has_the_calls_of_linux() {
    let place = Place::new("calls");
    let Some(program) = place.compiled() else { return };
    let daemon = StandIn::begin();
    let output = place.with_library(&program, &daemon).output().unwrap();
    assert_good(&output);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("stdio"), "a stream of stdio is refused in words: {said}");
}

#[test]
fn a_killed_program_is_told_from_one_that_ends() {
    let place = Place::new("ends");
    let Some(program) = place.compiled() else { return };
    let daemon = StandIn::begin();
    let killed = place.with_library(&program, &daemon).arg("killed").output().unwrap();
    assert!(!killed.status.success());
    assert_eq!(next_end(&daemon), SocketEnd::Killed);
    assert_good(&place.with_library(&program, &daemon).arg("left").output().unwrap());
    assert_eq!(next_end(&daemon), SocketEnd::InOrder);
}

#[test]
fn pythons_sockets_are_sockets() {
    let place = Place::new("python");
    if Command::new("python3").arg("--version").output().is_err() {
        slantpath_testkit::skip("sockets of Python are not tried: there is no python3");
        return;
    }
    let daemon = StandIn::begin();
    let lines = "
import os, select, socket, subprocess, sys, threading
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132)
s.connect(('10.0.0.2', 5001))
s.sendall(b'hello')
assert s.recv(3) == b'hel'
assert select.select([s], [s], [], 5)[:2] == ([s], [s])
assert s.recv(9) == b'lo'
s.settimeout(0.05)
try:
    s.recv(9)
    raise SystemExit('a receive without an end')
except TimeoutError:
    pass
s.settimeout(5)
# What is left of a message is the next process's.
s.sendall(b'abcdef')
assert s.recv(2) == b'ab'
os.set_inheritable(s.fileno(), True)
line = 'import socket, sys; print(socket.socket(fileno=int(sys.argv[1])).recv(9))'
told = subprocess.run([sys.executable, '-c', line, str(s.fileno())], close_fds=False, stdout=subprocess.PIPE)
assert told.stdout == b\"b'cdef'\\n\", told
counts = []
def take():
    counts.append(len(s.recv(4)))
threads = [threading.Thread(target=take) for _ in range(4)]
for thread in threads: thread.start()
for _ in range(2): s.sendall(b'12345678')
for thread in threads: thread.join()
assert counts == [4] * 4, counts
l = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132)
l.bind(('127.0.0.1', 5000))
l.listen(5)
a, peer = l.accept()
assert peer == ('10.0.0.2', 5001), peer
a.sendmsg([b'x', b'y'], [(132, 2, bytes([3, 0]) + bytes(14))])
bytes_, control, flags, source = a.recvmsg(10, 100)
assert (bytes_, control, source) == (b'xy', [], peer) and flags & socket.MSG_EOR, flags
";
    assert_good(&place.with_library("python3", &daemon).args(["-c", lines]).output().unwrap());
}
