//! A program of a lab: a point that is live, or the traffic simulator.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Time after which a line that does not come is missed.
const PATIENCE: Duration = Duration::from_mins(1);

/// Processor time of a process, in seconds.
pub(crate) struct Used {
    pub(crate) user: f64,
    pub(crate) system: f64,
}

pub(crate) struct Point {
    child: Child,
    log: Receiver<String>,
}

impl Point {
    /// Starts a command of a program with a scenario, under a tool if there is one.
    pub(crate) fn start(program: &Path, tool: &[String], file: &Path, arguments: &[&str]) -> Self {
        let mut command = match tool {
            [] => Command::new(program),
            [tool, flags @ ..] => {
                let mut command = Command::new(tool);
                command.args(flags).arg(program);
                command
            }
        };
        command.arg(arguments[0]).arg(file).args(&arguments[1..]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (told, log) = channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| told.send(line)));
        Self { child, log }
    }

    /// Processor time up to now, in ticks of a hundredth as Linux counts them.
    pub(crate) fn used(&self) -> Used {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        let ticks: Vec<f64> =
            fields.split(' ').skip(11).take(2).map(|field| field.parse().unwrap()).collect();
        Used { user: ticks[0] / 100.0, system: ticks[1] / 100.0 }
    }

    /// Reads its log up to a line with these words; gives the time that stands there, in seconds.
    pub(crate) fn until(&self, words: &str) -> f64 {
        loop {
            let line = self.log.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no `{words}`"));
            if line.contains(words) {
                let time = line.strip_prefix("t=").and_then(|rest| rest.split(' ').next());
                return time.and_then(|time| time.parse().ok()).unwrap_or_else(|| panic!("no time: {line}"));
            }
        }
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// Ends it in order; gives the number before these words in the line that begins so.
    pub(crate) fn end(&mut self, begin: &str, words: &str) -> f64 {
        self.signal("TERM");
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
