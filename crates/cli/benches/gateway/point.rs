//! A point that is live, as a program of its own.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Addresses of all nodes that a lab may have.
const NODES: [(&str, &str); 5] = [
    ("gateway", "127.0.0.1"),
    ("far", "127.0.0.2"),
    ("near", "127.0.0.3"),
    ("asp-1", "127.0.0.4"),
    ("asp-2", "127.0.0.5"),
];

/// Processor time of a process, in seconds.
pub(crate) struct Used {
    pub(crate) user: f64,
    pub(crate) system: f64,
}

pub(crate) struct Point {
    child: Child,
}

impl Point {
    pub(crate) fn start(file: &Path, udp: u16, point: &str, load: Option<&str>) -> Self {
        let text = fs::read_to_string(file).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_slantpath"));
        command.arg("gateway").arg(file).args(["--point", point, &format!("--udp={udp}")]);
        for (node, address) in NODES {
            if text.contains(&format!("[nodes.{node}]")) {
                command.args(["--at", &format!("{node}={address}")]);
            }
        }
        command.args(load.map(|load| ["--load", load]).into_iter().flatten());
        Self { child: command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap() }
    }

    /// Processor time up to now, in ticks of a hundredth as Linux counts them.
    pub(crate) fn used(&self) -> Used {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        let ticks: Vec<f64> =
            fields.split(' ').skip(11).take(2).map(|field| field.parse().unwrap()).collect();
        Used { user: ticks[0] / 100.0, system: ticks[1] / 100.0 }
    }

    /// Ends it in order; gives the number before these words in the line that begins so.
    pub(crate) fn end(&mut self, begin: &str, words: &str) -> f64 {
        let ended = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(ended.success());
        let mut out = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        assert!(self.child.wait().unwrap().success(), "{out}");
        if words.is_empty() {
            return 0.0;
        }
        let line = out.lines().find(|line| line.starts_with(begin) && line.contains(words));
        let line = line.unwrap_or_else(|| panic!("no `{words}` in {out}"));
        line.split(words).next().unwrap().rsplit(' ').next().unwrap().parse().unwrap()
    }
}

impl Drop for Point {
    /// Ends it where something has failed.
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}
