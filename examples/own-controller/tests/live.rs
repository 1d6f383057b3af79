//! The kinds of this crate in commands that are live: a server, a load and its repetition, and a gateway.
#![cfg(target_os = "linux")]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

/// A directory that is removed with its value, in which the command of this crate runs.
struct Place(PathBuf);

impl Place {
    fn new(test: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory for the test");
        Self(directory)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_slantpath-own-controller"));
        command.args(arguments).current_dir(&self.0);
        command
    }

    /// Runs the command to its end; gives what it printed.
    fn run(&self, arguments: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.command(arguments).output().expect("the program runs");
        assert!(status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).expect("text")
    }

    /// Starts a server that ends with its first association, and gives its port of UDP.
    fn serve(&self, arguments: &[&str]) -> (Child, BufReader<ChildStdout>, String) {
        let server = ["echo", "--address", "127.0.0.1", "--udp=0", "--associations", "1"];
        let mut command = self.command(&[&server, arguments].concat());
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut first = String::new();
        out.read_line(&mut first).expect("a line");
        let port = first.split("UDP port ").nth(1).and_then(|rest| rest.split(';').next());
        (child, out, port.unwrap_or_else(|| panic!("{first}")).to_owned())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const GENTLE: &str = "congestion_control={ kind = \"gentle\", keep = 0.9 }";

#[test]
fn a_live_load_and_its_server_have_an_own_controller_and_are_repeated_with_it() {
    let place = Place::new("own-live");
    let profile = "[sctp.default]\ncongestion_control = \"gentle\"\n";
    std::fs::write(place.0.join("gentle.toml"), profile).unwrap();
    let (mut server, _out, port) = place.serve(&["--profile", "gentle.toml", "--record", "echo.record"]);
    let udp = format!("--udp={port}");
    let load = ["load", "127.0.0.1", &udp, "--count", "200", "--sctp", GENTLE];
    place.run(&[&load[..], &["--record", "load.record", "--trace", "load.trace"]].concat());
    assert!(server.wait().unwrap().success());
    for record in ["load.record", "echo.record"] {
        let told = place.run(&["replay", record]);
        assert!(told.ends_with("\nthe same as that of the live run\n"), "{told}");
    }
    let trace = std::fs::read_to_string(place.0.join("load.trace")).unwrap();
    assert!(trace.lines().next().is_some_and(|header| header.contains("\"gentle\"")), "{trace}");
    let told = place.run(&["explain", "load.trace", "--what-if", "sctp.default.rto_min=500 ms"]);
    assert!(told.contains("rebuilt"), "{told}");
}

#[test]
fn a_gateway_takes_an_own_controller_and_another_program_refuses_it() {
    let place = Place::new("own-gateway");
    place.run(&["new", "gateway"]);
    let own = ["--set", "sctp.default.congestion_control=gentle"];
    let check = ["gateway", "check", "gateway.toml", "--point", "london"];
    let told = place.run(&[&check[..], &own].concat());
    assert!(told.contains("signalling point `london`"), "{told}");
    let misspelt = ["--set", "sctp.default.congestion_control=gentel"];
    let Output { status, stderr, .. } = place.command(&[&check[..], &misspelt].concat()).output().unwrap();
    let told = String::from_utf8(stderr).unwrap();
    assert!(!status.success() && told.contains("did you mean `gentle`?"), "{told}");
}
