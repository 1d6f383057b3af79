//! The test programs of the copy: built with all mutants that compile, run as they are to learn which tests pass which
//! mutant, and run again with one mutant on.
#![expect(clippy::disallowed_types, reason = "a program that hangs is given up by the machine's own clock")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::draw::{Field, Place};
use super::switched::{self, MUTANT, REACHED};

/// Programs that are left out: real clocks and other stacks, on a machine that is busy; and what judges the project.
const LEFT_OUT: &[&str] = &["interop", "slantpath_xtask", "hops", "orbit", "live_bench"];

/// End of the line of a test that has failed.
const FAILED: &str = " ... FAILED";

/// A test that hangs is given up after its program's own time, so many times, and this.
const TIMES_ALLOWED: u32 = 3;
const TIME_ALLOWED: Duration = Duration::from_secs(20);

/// The program that all tests of one file of tests, or of one library, make.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// The crate that has it, without the project's name.
    pub(super) owner: String,
    executable: PathBuf,
    /// Directory in which its tests expect to run.
    directory: PathBuf,
    /// Time that it takes without a mutant.
    takes: Duration,
    /// The tests that pass each mutant.
    reached: BTreeMap<u32, BTreeSet<String>>,
}

/// Verdict of one program's tests on a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// A test failed.
    Noticed,
    /// Mutant whose tests did not end in time.
    Undecided,
    /// Mutant whose tests passed, or whose place no test passes.
    Unnoticed,
}

/// Builds all test programs of the copy.
///
/// # Errors
///
/// What does not compile: places to leave out, or what the compiler says where no place is to blame.
pub(super) fn build(
    copy: &Path,
    target: &Path,
    field: &Field,
    mutants: &[(u32, Place)],
) -> Result<Vec<Program>, Fault> {
    // Types are cheap to check, and what does not fit is found in all crates at once.
    let checked = cargo(copy, target, &["check", "--lib", "--keep-going"])?;
    blame(&checked, field, mutants)?;
    let built = cargo(copy, target, &["test", "--no-run"])?;
    blame(&built, field, mutants)?;
    let programs: Vec<Program> = built.messages.iter().filter_map(program_of).collect();
    if programs.is_empty() {
        return Err(Fault::Other("cargo has built no tests".to_owned()));
    }
    Ok(programs)
}

/// Fails if the compiler did.
fn blame(said: &Said, field: &Field, mutants: &[(u32, Place)]) -> Result<(), Fault> {
    if said.succeeded {
        return Ok(());
    }
    let errors = said.messages.iter().map(|message| &message["message"]);
    let errors = || errors.clone().filter(|message| message["level"] == "error");
    let blamed: BTreeSet<Place> = errors().flat_map(|error| blamed_by(error, field, mutants)).collect();
    if !blamed.is_empty() {
        return Err(Fault::Places(blamed));
    }
    let rendered = errors().find_map(|error| error["rendered"].as_str()).unwrap_or(&said.errors);
    Err(Fault::Other(format!("the copy does not compile:\n{rendered}")))
}

/// Why there are no programs.
#[derive(Debug)]
pub(super) enum Fault {
    /// These do not compile.
    Places(BTreeSet<Place>),
    Other(String),
}

/// Outcome and output of cargo.
#[derive(Debug)]
struct Said {
    succeeded: bool,
    messages: Vec<Value>,
    errors: String,
}

fn cargo(copy: &Path, target: &Path, arguments: &[&str]) -> Result<Said, Fault> {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .args(["--workspace", "--message-format=json"])
        .env("CARGO_TARGET_DIR", target)
        // Nothing is built so often that parts are worth their room.
        .env("CARGO_INCREMENTAL", "0")
        .current_dir(copy)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Fault::Other(format!("cannot start cargo: {error}")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(Said {
        succeeded: output.status.success(),
        messages: text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
        errors: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

fn program_of(message: &Value) -> Option<Program> {
    let executable = message["executable"].as_str()?;
    let name = message["target"]["name"].as_str()?;
    if message["profile"]["test"] != true || LEFT_OUT.contains(&name) {
        return None;
    }
    let manifest = Path::new(message["manifest_path"].as_str()?);
    let directory = manifest.parent()?;
    let owner = directory.file_name()?.to_string_lossy().into_owned();
    Some(Program {
        owner,
        executable: executable.into(),
        directory: directory.to_owned(),
        takes: Duration::ZERO,
        reached: BTreeMap::new(),
    })
}

/// The places on whose lines the compiler points, with all that it says of one error.
fn blamed_by(error: &Value, field: &Field, mutants: &[(u32, Place)]) -> BTreeSet<Place> {
    let mut blamed = BTreeSet::new();
    let spans = error["spans"].as_array().into_iter().flatten();
    for span in spans.filter(|span| span["is_primary"] == true) {
        let (Some(path), Some(first), Some(last)) =
            (span["file_name"].as_str(), span["line_start"].as_u64(), span["line_end"].as_u64())
        else {
            continue;
        };
        let Some(file) = field.files.iter().position(|(other, _)| path == other || path.ends_with(other))
        else {
            continue;
        };
        let lines = switched::lines(field, mutants, file);
        let within = lines.iter().filter(|(_, from, to)| *from as u64 <= last && first <= *to as u64);
        let before = blamed.len();
        blamed.extend(within.map(|(place, ..)| *place));
        if blamed.len() == before {
            // What follows from a slip is found further below: the nearest one above is to blame.
            let mut above = lines.iter().filter(|(_, from, _)| (*from as u64) <= first);
            blamed.extend(above.next_back().or(lines.first()).map(|(place, ..)| *place));
        }
    }
    blamed
}

impl Program {
    /// Runs the program as it is, and notes which tests pass which mutants.
    pub(super) fn learn(&mut self, notes: &Path) -> Result<(), String> {
        let begin = Instant::now();
        self.reached = self.passed(None, notes)?;
        self.takes = begin.elapsed();
        // Threads and programs that a test has started do not say which it was: there each test runs by itself.
        if self.reached.values().flatten().all(|name| is_name_of_test(name)) {
            return Ok(());
        }
        self.reached.clear();
        let tests = self.listed(&notes.with_extension("log"))?;
        let next = Mutex::new(tests.iter());
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let found: Vec<(&String, BTreeMap<u32, BTreeSet<String>>)> = std::thread::scope(|scope| {
            let running: Vec<_> = (0..workers)
                .map(|worker| {
                    let (next, program) = (&next, &*self);
                    let notes = notes.with_extension(worker.to_string());
                    scope.spawn(move || {
                        let mut found = Vec::new();
                        loop {
                            let taken = next.lock().map_err(|_| "another worker failed".to_owned())?.next();
                            let Some(test) = taken else { return Ok::<_, String>(found) };
                            let alone = BTreeSet::from([test.clone()]);
                            found.push((test, program.passed(Some(&alone), &notes)?));
                        }
                    })
                })
                .collect();
            let ended = running.into_iter().map(|worker| worker.join().map_err(|_| "a worker failed")?);
            ended.collect::<Result<Vec<_>, String>>().map(|found| found.into_iter().flatten().collect())
        })?;
        for (test, passed) in found {
            for number in passed.into_keys() {
                self.reached.entry(number).or_default().insert(test.clone());
            }
        }
        Ok(())
    }

    /// Runs these tests, or all, as they are: the threads that pass each mutant.
    fn passed(
        &self,
        tests: Option<&BTreeSet<String>>,
        notes: &Path,
    ) -> Result<BTreeMap<u32, BTreeSet<String>>, String> {
        let _nothing_there = fs::remove_file(notes);
        let log = notes.with_extension("log");
        let mut command = self.command(tests, &log)?;
        command.env(REACHED, notes);
        self.succeed(command, &log)?;
        let mut passed = BTreeMap::<u32, BTreeSet<String>>::new();
        for line in fs::read_to_string(notes).unwrap_or_default().lines() {
            if let Some((number, test)) = line.split_once('\t')
                && let Ok(number) = number.parse()
            {
                passed.entry(number).or_default().insert(test.to_owned());
            }
        }
        Ok(passed)
    }

    /// The names of all its tests but those that only run when asked for.
    fn listed(&self, log: &Path) -> Result<Vec<String>, String> {
        let list = |arguments: &[&str]| -> Result<BTreeSet<String>, String> {
            let mut command = self.command(None, log)?;
            command.args(arguments);
            self.succeed(command, log)?;
            let said = fs::read_to_string(log).unwrap_or_default();
            Ok(said.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
        };
        let ignored = list(&["--list", "--ignored"])?;
        Ok(list(&["--list"])?.difference(&ignored).cloned().collect())
    }

    fn succeed(&self, mut command: Command, log: &Path) -> Result<(), String> {
        let executable = self.executable.display();
        let status = command.status().map_err(|error| format!("cannot start {executable}: {error}"))?;
        if status.success() {
            return Ok(());
        }
        let said = fs::read_to_string(log).unwrap_or_default();
        let failed: Vec<_> = said.lines().filter(|line| line.ends_with(FAILED)).collect();
        let failed = failed.join("\n");
        Err(format!("the tests of {} fail as they are: {executable}\n{failed}", self.owner))
    }

    /// Tells if any of its tests passes a mutant.
    pub(super) fn reaches(&self, number: u32) -> bool {
        self.reached.contains_key(&number)
    }

    /// Runs the tests that pass a mutant, with that on, until one of them fails.
    pub(super) fn judge(&self, number: u32, log: &Path) -> Result<Verdict, String> {
        let Some(tests) = self.reached.get(&number) else { return Ok(Verdict::Unnoticed) };
        let mut command = self.command(Some(tests), log)?;
        command.env(MUTANT, number.to_string());
        let allowed = self.takes * TIMES_ALLOWED + TIME_ALLOWED;
        let mut child = command
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", self.executable.display()))?;
        let begin = Instant::now();
        let mut pause = Duration::from_millis(2);
        loop {
            match child.try_wait().map_err(|error| error.to_string())? {
                Some(status) if status.success() => return Ok(Verdict::Unnoticed),
                Some(_) => return Ok(Verdict::Noticed),
                None if has_failed(log) => {
                    end(&mut child);
                    return Ok(Verdict::Noticed);
                }
                None if begin.elapsed() > allowed => {
                    end(&mut child);
                    return Ok(Verdict::Undecided);
                }
                None => {
                    std::thread::park_timeout(pause);
                    pause = (pause * 2).min(Duration::from_millis(50));
                }
            }
        }
    }

    fn command(&self, tests: Option<&BTreeSet<String>>, log: &Path) -> Result<Command, String> {
        let mut command = super::super::with_limited_memory(&self.executable.to_string_lossy());
        if let Some(tests) = tests {
            command.arg("--exact").args(tests);
        }
        let file = File::create(log).map_err(|error| format!("{}: {error}", log.display()))?;
        let errors = file.try_clone().map_err(|error| format!("{}: {error}", log.display()))?;
        command
            .current_dir(&self.directory)
            .env("CARGO_MANIFEST_DIR", &self.directory)
            // Nothing that fails writes down what it has seen.
            .envs([("CI", "true"), ("INSTA_UPDATE", "no"), ("PROPTEST_RNG_SEED", "1")])
            .env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true")
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(errors);
        new_group(&mut command);
        Ok(command)
    }
}

/// True if one of the tests has failed, while others still run.
fn has_failed(log: &Path) -> bool {
    fs::read_to_string(log).is_ok_and(|said| said.lines().any(|line| line.ends_with(FAILED)))
}

/// True for a thread's name that may be that of a test.
fn is_name_of_test(name: &str) -> bool {
    let is_at_the_root = !matches!(name, "" | "main")
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    name.contains("::") || is_at_the_root
}

#[cfg(unix)]
fn new_group(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0);
}

#[cfg(not(unix))]
fn new_group(_: &mut Command) {}

/// Ends a program and what it has started.
fn end(child: &mut std::process::Child) {
    if cfg!(unix) {
        let _gone_already = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
    }
    let _gone_already = child.kill();
    let _status = child.wait();
}
