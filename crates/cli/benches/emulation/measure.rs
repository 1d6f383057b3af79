//! Cases of the benchmark, and their table.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use slantpath_system::clock::rest;

use crate::programs::{self, PORT};

/// User and group without rights that root becomes.
const NOBODY: u32 = 65_534;
/// Longest time that a single case may take.
const LONGEST: Duration = Duration::from_secs(40);
/// Packets a second at which the cost of one is measured, and their octets.
const COST_RATE: &str = "100000";
const COST_OCTETS: &str = "200";

/// A case by its name.
type Case = (&'static str, fn(&Place));

/// Cases by their names: words of the command line name those that are to be run.
const CASES: [Case; 6] =
    [("delay", delay), ("spin", spin), ("busy", busy), ("cost", cost), ("packets", packets), ("tcp", tcp)];

pub(crate) fn all(words: &[&str]) {
    let Some(place) = Place::new() else { return };
    println!("| emulation | asked | found |\n|---|---|---|");
    for (name, case) in CASES {
        if words.is_empty() || words.contains(&name) {
            case(&place);
        }
    }
}

fn row(what: &str, asked: &str, found: &str) {
    println!("| {what} | {asked} | {found} |");
}

/// Programs where everybody may run them, and a directory for their files.
struct Place {
    directory: PathBuf,
    slantpath: PathBuf,
    bench: PathBuf,
    is_root: bool,
}

impl Place {
    /// `None` where this machine makes no namespaces.
    fn new() -> Option<Self> {
        let directory = std::env::temp_dir().join(format!("slantpath-emulation-{}", std::process::id()));
        fs::create_dir(&directory).unwrap();
        let open = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
        open(&directory);
        let copied = |from: &Path, name: &str| {
            let copy = directory.join(name);
            fs::copy(from, &copy).unwrap();
            open(&copy);
            copy
        };
        let slantpath = copied(Path::new(env!("CARGO_BIN_EXE_slantpath")), "slantpath");
        let bench = copied(&std::env::current_exe().unwrap(), "bench");
        let is_root = nix::unistd::geteuid().is_root();
        let place = Self { directory, slantpath, bench, is_root };
        let tried = place.run(&place.slantpath, &["emulate", "--late", "10 s", "--", "true"]);
        if tried.status != Some(0) {
            println!("emulation: {}: left out", tried.err.trim());
            return None;
        }
        Some(place)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Command without rights.
    fn command(&self, program: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(words).current_dir("/").env("PATH", "/usr/bin:/bin");
        if self.is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    fn run(&self, program: &Path, words: &[&str]) -> Outcome {
        Outcome::of(self.command(program, words), |_| {})
    }

    /// Words that run a program of this benchmark.
    fn program(&self, words: &[&str]) -> String {
        format!("{} program {}", self.bench.display(), words.join(" "))
    }

    /// Packets from `near` to `far` through an emulation with these arguments.
    fn datagrams(&self, arguments: &[&str], words: [&str; 3], is_stamped: bool) -> Datagrams {
        let (sent, received) = (self.file("sent"), self.file("received"));
        let receive = self.program(&["receive", received.to_str().unwrap()]);
        let [rate, seconds, octets] = words;
        let stamped = if is_stamped { "stamped" } else { "plain" };
        let send = ["program", "send", rate, seconds, octets, sent.to_str().unwrap(), "far", stamped];
        let emulate = ["emulate", "--late", "10 s", "--in", "far", &receive];
        let words = [&emulate[..], arguments, &["--", self.bench.to_str().unwrap()], &send].concat();
        Datagrams::of(self, self.command(&self.slantpath, &words))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// End of a command.
struct Outcome {
    status: Option<i32>,
    err: String,
}

impl Outcome {
    /// Runs a command to its end, and looks at its process meanwhile.
    fn of(mut command: Command, mut look: impl FnMut(u32)) -> Self {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stream = child.stderr.take().unwrap();
        let reader = thread::spawn(move || {
            let mut err = String::new();
            let _ = std::io::Read::read_to_string(&mut stream, &mut err);
            err
        });
        let begin = Instant::now();
        let status = loop {
            look(child.id());
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begin.elapsed() > LONGEST {
                child.kill().unwrap();
            }
            rest(Duration::from_millis(2));
        };
        Self { status: status.code(), err: reader.join().unwrap() }
    }
}

/// Course of a stream of datagrams.
struct Datagrams {
    outcome: Outcome,
    /// Number that was sent, and the time that it took.
    sent: u64,
    elapsed: Duration,
    /// Processor time of what stands between, while they were sent.
    cpu: Duration,
}

impl Datagrams {
    fn of(place: &Place, command: Command) -> Self {
        let files = ["sent", "received"].map(|name| place.file(name));
        let [began, done] = ["began", "done"].map(|kind| files[0].with_extension(kind));
        for file in files.iter().chain([&began, &done]) {
            let _ = fs::remove_file(file);
        }
        let (mut before, mut after) = (None, None);
        let outcome = Outcome::of(command, |process| {
            for (file, mark) in [(&began, &mut before), (&done, &mut after)] {
                if mark.is_none() && file.exists() {
                    *mark = inner_cpu(process);
                }
            }
        });
        let told = fs::read_to_string(&done).unwrap_or_else(|_| panic!("{}", outcome.err));
        let (sent, nanos) = told.split_once(' ').unwrap();
        let cpu = after.unwrap_or_default().saturating_sub(before.unwrap_or_default());
        Self {
            outcome,
            sent: sent.parse().unwrap(),
            elapsed: Duration::from_nanos(nanos.parse().unwrap()),
            cpu,
        }
    }

    fn nanos_a_packet(&self) -> f64 {
        self.cpu.as_nanos() as f64 / self.sent as f64
    }

    /// Errors of the delay in nanoseconds, sorted, where both stamps are there.
    fn errors(&self, place: &Place, delay: Duration) -> Vec<i128> {
        let sent: BTreeMap<u64, i128> = programs::stamps(&place.file("sent")).into_iter().collect();
        let received = programs::stamps(&place.file("received"));
        let delay = i128::try_from(delay.as_nanos()).unwrap();
        let error = |(number, at): (u64, i128)| Some(at - sent.get(&number)? - delay);
        let mut errors: Vec<i128> = received.into_iter().filter_map(error).collect();
        assert!(errors.len() > 100, "few packets have stamps: {}", self.outcome.err);
        errors.sort_unstable();
        errors
    }

    /// Packets that went in by the door of `near`, less those that went out by that of `far`.
    fn missing(&self) -> Option<i64> {
        let line =
            |node: &str| self.outcome.err.lines().find(|line| line.starts_with(&format!("{node} at ")));
        let number = |line: &str, behind: &str| -> Option<i64> {
            line.split(behind).next()?.rsplit(' ').next()?.parse().ok()
        };
        Some(number(line("near")?, " packets from it")? - number(line("far")?, " to it")?)
    }
}

/// Processor time of the process that does the work: a child of a child of the one that was started.
fn inner_cpu(outer: u32) -> Option<Duration> {
    let mut parents = BTreeMap::new();
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let parent =
            stat.rsplit_once(')').and_then(|(_, fields)| fields.split_whitespace().nth(1)?.parse().ok());
        parents.insert(process, parent.unwrap_or(0));
    }
    let child = |of: u32| parents.iter().find(|(_, parent)| **parent == of).map(|(process, _)| *process);
    let inner = child(child(outer)?)?;
    let stat = fs::read_to_string(format!("/proc/{inner}/schedstat")).ok()?;
    Some(Duration::from_nanos(stat.split(' ').next()?.parse().ok()?))
}

fn quantile(sorted: &[i128], per_mille: usize) -> f64 {
    sorted[(sorted.len() - 1) * per_mille / 1_000] as f64 / 1_000.0
}

fn told(errors: &[i128]) -> String {
    let [median, p99, p99_9] = [500, 990, 999].map(|per_mille| quantile(errors, per_mille));
    format!("{median:.0}, {p99:.0}, {p99_9:.0} us of {}", errors.len())
}

/// Nanoseconds that a program of timers prints, sorted.
fn latenesses(timer: Child) -> Vec<i128> {
    let output = timer.wait_with_output().unwrap();
    String::from_utf8_lossy(&output.stdout).lines().map(|line| line.parse().unwrap()).collect()
}

fn delay(place: &Place) {
    // The least that any program can do here, in the same minute.
    let timer = place.command(&place.bench, &["program", "timer", "10"]).stdout(Stdio::piped()).spawn();
    row("lateness of a bare timer: median, 99 %, 99.9 %", "", &told(&latenesses(timer.unwrap())));
    for millis in [20, 250] {
        let delay = format!("{millis} ms");
        let run = place.datagrams(&["--delay", &delay], ["1000", "10", "200"], true);
        let errors = run.errors(place, Duration::from_millis(millis));
        row(
            &format!("error of a delay of {delay}, 1,000 packets/s: median, 99 %, 99.9 %"),
            "50, 400, 1,000 us",
            &told(&errors),
        );
    }
}

fn spin(place: &Place) {
    let run = place.datagrams(&["--delay", "20 ms", "--spin", "100 us"], ["1000", "4", "200"], true);
    let errors = run.errors(place, Duration::from_millis(20));
    row("the same with `--spin '100 us'`, 20 ms", "", &told(&errors));
}

/// Lateness beside that of a loop which only waits for a timer, while programs keep both processors busy.
fn busy(place: &Place) {
    let processors = thread::available_parallelism().map_or(2, usize::from);
    let start = |words: &[&str]| {
        place.command(&place.bench, words).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap()
    };
    let spinners: Vec<_> = (0..processors).map(|_| start(&["program", "spin", "8"])).collect();
    let timer = start(&["program", "timer", "6"]);
    let run = place.datagrams(&["--delay", "20 ms"], ["1000", "5", "200"], true);
    let bare = quantile(&latenesses(timer), 500);
    for mut spinner in spinners {
        spinner.wait().unwrap();
    }
    let errors = run.errors(place, Duration::from_millis(20));
    let median = quantile(&errors, 500);
    row(
        "the same on a busy machine: median against a bare timer's lateness",
        "1.3",
        &format!("{:.2} ({}; the timer {bare:.0} us)", median / bare, told(&errors)),
    );
}

fn forwarded(place: &Place, seconds: &str) -> Datagrams {
    let (sent, received) = (place.file("sent"), place.file("received"));
    let words =
        ["forward", sent.to_str().unwrap(), received.to_str().unwrap(), COST_RATE, seconds, COST_OCTETS];
    Datagrams::of(place, place.command(&place.bench, &words))
}

/// Cost of a packet beside that of one which is only read and written.
fn cost(place: &Place) {
    let bare = forwarded(place, "4");
    let ours = place.datagrams(&["--delay", "20 ms"], [COST_RATE, "4", COST_OCTETS], false);
    let [bare_nanos, ours_nanos] = [&bare, &ours].map(Datagrams::nanos_a_packet);
    row(
        "processor time a packet of 200 bytes against a bare forwarder's",
        "1.5",
        &format!(
            "{:.2} ({ours_nanos:.0} and {bare_nanos:.0} ns; {:.0} and {:.0} packets/s)",
            ours_nanos / bare_nanos,
            ours.sent as f64 / ours.elapsed.as_secs_f64(),
            bare.sent as f64 / bare.elapsed.as_secs_f64()
        ),
    );
}

/// Most packets a second of which none is lost.
fn packets(place: &Place) {
    let mut most = 0.0_f64;
    let mut ended = "";
    for rate in ["50000", "100000", "150000", "200000", "300000"] {
        let run = place.datagrams(&["--delay", "20 ms"], [rate, "2", COST_OCTETS], false);
        if run.outcome.err.contains("dropped") || run.missing().is_none_or(|missing| missing != 0) {
            ended = ", then some are lost";
            break;
        }
        most = most.max(run.sent as f64 / run.elapsed.as_secs_f64());
    }
    row("packets a second of 200 bytes without a loss", "100,000", &format!("{most:.0}{ended}"));
}

/// Data of one TCP connection from the third second on, where each end may hold 64 MiB.
fn tcp(place: &Place) {
    const BUFFERS: &str = "4096 131072 67108864";
    let file = place.file("sink");
    for (rate, bits, asked) in [("1 Gbit/s", 1e9, "0.98"), ("2.5 Gbit/s", 2.5e9, "0.83 (2 Gbit/s)")] {
        let _ = fs::remove_file(&file);
        let with_buffers = |setting: &str, words: &[&str]| {
            format!("echo {BUFFERS} > /proc/sys/net/ipv4/{setting}; exec {}", place.program(words))
        };
        let sink = with_buffers("tcp_rmem", &["sink", file.to_str().unwrap()]);
        let source = with_buffers("tcp_wmem", &["source", "7", "cubic"]);
        let (sink, ready) = (format!("sh -c '{sink}'"), format!("far:{PORT}"));
        let words = [
            "emulate", "--late", "10 s", "--delay", "10 ms", "--rate", rate, "--queue", "6 MB", "--root",
            "near", "--root", "far", "--in", "far", &sink, "--ready", &ready, "--", "sh", "-c", &source,
        ];
        let mut command = place.command(&place.slantpath, &words);
        let outcome = Outcome::of(std::mem::replace(&mut command, Command::new("true")), |_| {});
        let text = fs::read_to_string(&file).unwrap_or_else(|_| panic!("{}", outcome.err));
        let seconds: Vec<f64> = text.lines().map(|line| line.parse().unwrap()).collect();
        // The last second is not whole.
        let whole = &seconds[2..seconds.len().saturating_sub(1).max(3)];
        let found = whole.iter().sum::<f64>() * 8.0 / whole.len() as f64;
        let most = bits * 1_448.0 / 1_500.0;
        row(
            &format!("TCP through {rate}, 20 ms, of what its packets can carry"),
            asked,
            &format!("{:.3} ({:.0} Mbit/s)", found / most, found / 1e6),
        );
    }
}
