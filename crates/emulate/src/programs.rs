//! Programs of attached nodes: started in order, their output told with the node's name, and stopped together.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, IsTerminal as _, Read};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use slantpath_system::process::{
    Identity, NetworkProgram, ProgramCommand, Running, StandardStream, children, wait_any,
};
use slantpath_system::signals::{Signal, Signals};

use crate::lab::AttachedPlace;
use crate::listening::is_listened_at;

/// A program to be started at a node.
#[derive(Clone, Debug)]
pub struct NodeProgram {
    /// Name of the node.
    pub node: String,
    /// Command of the program.
    pub command: ProgramCommand,
    /// Nodes and ports at which somebody has to listen before it is started.
    pub after: Vec<(String, u16)>,
    /// Relation to the terminal of this process.
    pub terminal: Terminal,
    /// Ids and rights that it has.
    pub identity: Identity,
}

/// Relation of a program to the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terminal {
    /// Reads nothing, and has its output told line by line.
    Apart,
    /// Reads from there, and has its output told line by line.
    Input,
    /// All of it is the program's.
    Whole,
}

/// Programs of an emulation. At the end of the last one all is over.
#[derive(Debug)]
pub struct NodePrograms {
    shared: Arc<Shared>,
    signals: Signals,
    /// Statuses of processes that have ended, and were not known then.
    ended: BTreeMap<u32, ExitStatus>,
    is_stopping: bool,
    /// True if there are programs at all.
    is_awaited: bool,
    launching: thread::JoinHandle<()>,
    /// A network lives as long as somebody holds it, or a program runs there.
    _places: Arc<Vec<AttachedPlace>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Held while a program is started.
    spawning: Mutex<()>,
    changed: Condvar,
    /// Variables that programs are not given.
    hidden: Vec<OsString>,
    out: File,
    err: File,
    /// Characters that begin a line on a terminal.
    lead: &'static str,
}

/// End of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedProgram {
    /// Name of its node.
    pub node: String,
    /// Exit code as a shell tells it.
    pub code: u8,
}

#[derive(Debug, Default)]
struct State {
    /// Programs that run, with the names of their nodes.
    running: Vec<(String, Running)>,
    /// Programs that have ended, and of which nobody was told.
    over: Vec<EndedProgram>,
    /// Process of the last program, once it is started.
    last: Option<u32>,
    /// Status of the last program, or the reason for which one could not be started.
    outcome: Option<Result<u8, String>>,
    /// True once no more are started.
    is_closed: bool,
    /// Streams of programs that are being told.
    told: usize,
}

/// Time between two looks for a port at which somebody is to listen.
const LOOK: Duration = Duration::from_millis(10);
/// Time for what programs have written last to be told, at the end.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Longest line that is told at one time, in bytes.
const LINE_MAX: u64 = 65_536;
/// Exit code of a program that a signal has ended, less the signal.
const SIGNALLED: i32 = 128;

impl NodePrograms {
    /// Starts programs at their places, one after the other, on a thread of its own. What they write is told on this
    /// process's own streams; on a terminal `lead` stands before each line. They are not given the variables `hidden`.
    ///
    /// # Errors
    /// If the system has no threads or descriptors left.
    pub fn start(
        programs: Vec<NodeProgram>,
        places: Vec<AttachedPlace>,
        hidden: impl IntoIterator<Item = String>,
        lead: &'static str,
    ) -> io::Result<Self> {
        let signals = Signals::open(&[Signal::SIGCHLD])?;
        let own = |stream: BorrowedFd<'_>| stream.try_clone_to_owned().map(File::from);
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            spawning: Mutex::default(),
            changed: Condvar::new(),
            hidden: hidden.into_iter().map(OsString::from).collect(),
            out: own(io::stdout().as_fd())?,
            err: own(io::stderr().as_fd())?,
            lead,
        });
        let (launching, places, is_awaited) = (Arc::clone(&shared), Arc::new(places), !programs.is_empty());
        let kept = Arc::clone(&places);
        let launching = thread::Builder::new()
            .name("launch".to_owned())
            .spawn(move || launching.launch(&programs, &places))?;
        Ok(Self {
            shared,
            signals,
            ended: BTreeMap::new(),
            is_stopping: false,
            is_awaited,
            launching,
            _places: kept,
        })
    }

    /// Descriptor that can be read when a program has ended: [`look`](Self::look) then.
    pub fn woken(&self) -> BorrowedFd<'_> {
        self.signals.as_fd()
    }

    /// Takes note of programs that have ended.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn look(&mut self) -> io::Result<()> {
        while self.signals.read()?.is_some() {}
        // A program that cannot be started ends, too, and whoever starts it waits for that.
        if let Ok(_alone) = self.shared.spawning.try_lock() {
            while let Some((pid, status)) = wait_any()? {
                self.ended.insert(pid, status);
            }
        }
        let mut state = self.shared.lock();
        state.settle(&mut self.ended);
        if self.is_awaited && self.launching.is_finished() && state.last.is_none() && state.outcome.is_none()
        {
            state.outcome = Some(Err("no more programs could be started".to_owned()));
        }
        Ok(())
    }

    /// Exit code of the last program once it has ended, or the reason for which one could not be started. A program
    /// that a signal has ended has 128 and its number.
    pub fn outcome(&self) -> Option<Result<u8, String>> {
        self.shared.lock().outcome.clone()
    }

    /// Takes the programs that have ended since this was last asked.
    pub fn take_ended(&mut self) -> Vec<EndedProgram> {
        std::mem::take(&mut self.shared.lock().over)
    }

    /// Has every program end that runs, by SIGTERM, and starts no more. Gives how many run.
    ///
    /// # Errors
    /// If the system refuses the signal.
    pub fn stop(&mut self) -> io::Result<usize> {
        let mut state = self.shared.lock();
        if !std::mem::replace(&mut self.is_stopping, true) {
            state.is_closed = true;
            self.shared.changed.notify_all();
            for (_, running) in &state.running {
                running.signal(Signal::SIGTERM)?;
            }
        }
        Ok(state.running.len())
    }

    /// Waits until all that programs have written is told, as long as they do not keep others waiting.
    pub fn finish(&mut self) {
        let state = self.shared.lock();
        let has_more = |state: &mut State| state.told > 0;
        // What hangs on to a stream beyond that has been asked to end.
        drop(self.shared.changed.wait_timeout_while(state, LAST_WORDS, has_more));
    }
}

impl State {
    /// Takes out programs that have ended. Of others that have ended, orphans and such, nobody wants to know.
    fn settle(&mut self, ended: &mut BTreeMap<u32, ExitStatus>) {
        let (last, is_closed) = (self.last, self.last.is_some() || self.is_closed);
        let mut outcome = None;
        self.running.retain(|(node, running)| {
            let Some(status) = ended.remove(&running.pid) else { return true };
            self.over.push(EndedProgram { node: node.clone(), code: code(status) });
            if last == Some(running.pid) {
                outcome = Some(Ok(code(status)));
            }
            false
        });
        self.outcome = self.outcome.take().or(outcome);
        // No more are started: what is left over is nobody's.
        if is_closed {
            ended.clear();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn launch(self: &Arc<Self>, programs: &[NodeProgram], places: &[AttachedPlace]) {
        for (number, config) in programs.iter().enumerate() {
            let launched = self.wait_for(&config.after, places).and_then(|is_wanted| {
                if is_wanted { self.launch_one(config, places, number + 1 == programs.len()) } else { Ok(()) }
            });
            if let Err(reason) = launched {
                let mut state = self.lock();
                state.outcome.get_or_insert(Err(reason));
                state.is_closed = true;
            }
            if self.lock().is_closed {
                return;
            }
        }
    }

    /// Waits until somebody listens at these nodes and ports. `false` if no more programs are started.
    fn wait_for(&self, after: &[(String, u16)], places: &[AttachedPlace]) -> Result<bool, String> {
        for (node, port) in after {
            let AttachedPlace { network, is_existing, .. } = place(node, places)?;
            loop {
                // Who has gone by now has left nobody who could listen from now on.
                let is_deserted =
                    !is_existing && self.is_deserted(node).map_err(|error| error.to_string())?;
                let found = network.run(|| is_listened_at(*port)).map_err(|error| error.to_string())?;
                if found.map_err(|error| format!("`{node}`: {error}"))? {
                    break;
                }
                if is_deserted {
                    return Err(format!(
                        "`{node}`: its program has ended, and nobody listened at port {port}, for which others wait"
                    ));
                }
                let state = self.lock();
                let (state, _) =
                    self.changed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner);
                if state.is_closed {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Tells if all programs of a node have ended, and no process is left of any: such a one would be a child of this
    /// process, which is process 1.
    fn is_deserted(&self, node: &str) -> io::Result<bool> {
        let children = children()?;
        let state = self.lock();
        let is_known = |pid: &u32| state.running.iter().any(|(_, running)| running.pid == *pid);
        Ok(children.iter().all(is_known) && !state.running.iter().any(|(own, _)| own == node))
    }

    fn launch_one(
        self: &Arc<Self>,
        config: &NodeProgram,
        places: &[AttachedPlace],
        is_last: bool,
    ) -> Result<(), String> {
        let place = place(&config.node, places)?;
        let piped =
            if config.terminal == Terminal::Whole { StandardStream::Inherit } else { StandardStream::Pipe };
        let program = NetworkProgram {
            command: config.command.clone(),
            network: &place.network,
            identity: config.identity,
            hosts: Some(&place.hosts),
            environment: self.hidden.iter().map(|name| (name.clone(), None)).collect(),
            stdin: if config.terminal == Terminal::Apart {
                StandardStream::Null
            } else {
                StandardStream::Inherit
            },
            stdout: piped,
            stderr: piped,
            has_own_group: config.terminal == Terminal::Apart,
        };
        let spawning = self.spawning.lock().unwrap_or_else(PoisonError::into_inner);
        let spawned = program.spawn();
        drop(spawning);
        let mut running = spawned.map_err(|error| format!("`{}`: {error}", config.node))?;
        let streams = [
            (running.stdout.take().map(OwnedFd::from), &self.out),
            (running.stderr.take().map(OwnedFd::from), &self.err),
        ];
        // Starting takes milliseconds, for which the network does not wait.
        let mut state = self.lock();
        if state.is_closed {
            running.signal(Signal::SIGTERM).map_err(|error| format!("`{}`: {error}", config.node))?;
        }
        if is_last {
            state.last = Some(running.pid);
        }
        state.running.push((config.node.clone(), running));
        drop(state);
        for (stream, out) in streams {
            let Some(stream) = stream else { continue };
            let told =
                out.try_clone().and_then(|out| self.tell(config.node.clone(), File::from(stream), out));
            told.map_err(|error| format!("`{}`: {error}", config.node))?;
        }
        Ok(())
    }

    /// Tells each line of a stream with the name of its node, on a thread of its own.
    fn tell(self: &Arc<Self>, node: String, stream: File, out: File) -> io::Result<()> {
        let shared = Arc::clone(self);
        self.lock().told += 1;
        let told = thread::Builder::new().name("tell".to_owned()).spawn(move || {
            let lead = if out.is_terminal() { shared.lead } else { "" };
            tell_lines(&format!("{lead}{node}: "), stream, out);
            shared.is_told();
        });
        if told.is_err() {
            self.is_told();
        }
        told.map(|_| ())
    }

    fn is_told(&self) {
        self.lock().told -= 1;
        self.changed.notify_all();
    }
}

/// Tells each line with what stands before it.
fn tell_lines(before: &str, stream: impl Read, mut out: impl io::Write) {
    let mut lines = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        line.extend_from_slice(before.as_bytes());
        // Whoever reads no more has read enough: the program goes on, as behind `tee`.
        let Ok(_) = lines.by_ref().take(LINE_MAX).read_until(b'\n', &mut line) else { return };
        if line.len() == before.len() {
            return;
        }
        if line.last() != Some(&b'\n') {
            line.push(b'\n');
        }
        let _ = out.write_all(&line);
    }
}

fn place<'a>(node: &str, places: &'a [AttachedPlace]) -> Result<&'a AttachedPlace, String> {
    places.iter().find(|place| place.name == node).ok_or_else(|| format!("there is no place `{node}`"))
}

/// Exit code as a shell tells it.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| SIGNALLED + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_code_is_that_of_a_shell() {
        for (raw, expected) in [(0, 0), (3 << 8, 3), (255 << 8, 255), (9, 137), (15, 143)] {
            assert_eq!(code(ExitStatus::from_raw(raw)), expected, "{raw}");
        }
    }

    #[test]
    fn each_line_is_told_with_its_node_and_a_long_one_in_pieces() {
        let told = |stream: &[u8]| {
            let mut out = Vec::new();
            tell_lines("near: ", stream, &mut out);
            out
        };
        assert_eq!(told(b""), b"");
        assert_eq!(told(b"one\n\ntwo"), b"near: one\nnear: \nnear: two\n");
        let long = vec![b'x'; 70_000];
        let pieces = told(&long);
        assert_eq!(pieces.split(|octet| *octet == b'\n').count(), 3);
        assert_eq!(pieces.len(), 70_000 + 2 * "near: \n".len());
    }
}
