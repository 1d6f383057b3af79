//! Programs whose calls have come, and copies of their descriptors.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::rc::{Rc, Weak};
use std::time::Duration;
use std::{io, mem};

use slantpath_door::{Claim, Wanted};
use slantpath_requests::Errno;
use slantpath_system::notify::Task;

/// Time for which a copy is kept after its last use. The daemon sees the end of a socket once no copy is left.
pub(crate) const COPY_KEPT: Duration = Duration::from_millis(60);
/// Peers and associations that are remembered of one socket; with more the daemon is asked anew.
const PEERS: usize = 64;

/// Number of a descriptor in a process.
pub(crate) type Place = (u32, u32);

/// Association or peer to which a message is sent.
pub(crate) type SendTarget = (i32, Option<SocketAddr>);

/// Memory of a socket, as one process has it. It outlives a copy of the descriptor.
#[derive(Debug, Default)]
pub(crate) struct Remembered {
    /// Piece that was received in part.
    pub(crate) claim: Claim,
    /// Number of streams, and the longest message, with which sends are known to be possible.
    pub(crate) possible: BTreeMap<SendTarget, (u16, u32)>,
    /// True if it takes associations.
    pub(crate) listens: bool,
    /// True if something may come: it has a peer, or may have many.
    pub(crate) may_come: bool,
    /// Control messages that the program wants with what it receives.
    pub(crate) wanted: Option<Wanted>,
}

impl Remembered {
    /// Notes that a message of this length may be sent on the streams below this number.
    pub(crate) fn note_possible(&mut self, target: SendTarget, streams: u16, length: u32) {
        if self.possible.len() >= PEERS {
            self.possible.clear();
        }
        let (known, longest) = self.possible.entry(target).or_default();
        (*known, *longest) = (streams, length.max(*longest));
    }

    /// True if such a message is known to be possible.
    pub(crate) fn is_possible(&self, target: SendTarget, stream: u16, length: u32) -> bool {
        let known = self.possible.get(&target);
        known.is_some_and(|(streams, longest)| stream < *streams && length <= *longest)
    }
}

#[derive(Debug)]
struct Copied {
    pair: Rc<OwnedFd>,
    used: Duration,
    /// Second copy, which stands silent in the poll: the next call that waits needs none of its own.
    watch: Option<OwnedFd>,
}

/// All programs that are known, by the ids of their processes.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    tasks: BTreeMap<u32, Task>,
    /// Process of a thread, with the time of its last call: ids are given anew once all others had their turn.
    threads: BTreeMap<u32, (u32, Duration)>,
    copies: BTreeMap<Place, Copied>,
    remembered: BTreeMap<Place, Remembered>,
    /// Copies that nobody needs, and that stand in the poll still.
    unused: Vec<OwnedFd>,
}

impl Processes {
    /// Process of a thread. True beside it if it was not known: whoever waits for its end begins now.
    pub(crate) fn of_thread(&mut self, thread: u32, now: Duration) -> io::Result<(u32, bool)> {
        if let Some((process, used)) = self.threads.get_mut(&thread) {
            *used = now;
            return Ok((*process, false));
        }
        let task = Task::of_thread(thread)?;
        let process = task.process;
        self.threads.insert(thread, (process, now));
        let is_new = !self.tasks.contains_key(&process);
        if is_new {
            self.tasks.insert(process, task);
        }
        Ok((process, is_new))
    }

    pub(crate) fn task(&self, process: u32) -> Option<&Task> {
        self.tasks.get(&process)
    }

    /// Copy of a descriptor that is one of ours; `None` if it is another, or none at all.
    pub(crate) fn pair(&mut self, place: Place, now: Duration) -> Option<Rc<OwnedFd>> {
        if let Some(copied) = self.copies.get_mut(&place) {
            copied.used = now;
            return Some(Rc::clone(&copied.pair));
        }
        let copy = self.tasks.get(&place.0)?.descriptor(place.1).ok()?;
        if !slantpath_door::is_pair(&copy) {
            self.remembered.remove(&place);
            return None;
        }
        let pair = Rc::new(copy);
        let before = self.copies.insert(place, Copied { pair: Rc::clone(&pair), used: now, watch: None });
        self.unused.extend(before.and_then(|copied| copied.watch));
        Some(pair)
    }

    /// Takes the copy of this pair that stands in the poll, if no other call has it.
    pub(crate) fn take_watch(&mut self, place: Place, pair: &Rc<OwnedFd>) -> Option<OwnedFd> {
        self.copies.get_mut(&place).filter(|copied| Rc::ptr_eq(&copied.pair, pair))?.watch.take()
    }

    /// Keeps a copy that stands in the poll, silent, for the next call that waits for this pair.
    pub(crate) fn keep_watch(&mut self, place: Place, pair: &Weak<OwnedFd>, watch: OwnedFd) {
        let is_it = |copied: &&mut Copied| Weak::ptr_eq(&Rc::downgrade(&copied.pair), pair);
        match self.copies.get_mut(&place).filter(is_it) {
            Some(copied) if copied.watch.is_none() => copied.watch = Some(watch),
            _ => self.unused.push(watch),
        }
    }

    /// Takes the copies that nobody needs, and that stand in the poll still.
    pub(crate) fn take_unused(&mut self) -> Vec<OwnedFd> {
        mem::take(&mut self.unused)
    }

    pub(crate) fn remembered(&mut self, place: Place) -> &mut Remembered {
        self.remembered.entry(place).or_default()
    }

    /// Descriptors of a process that were ours when they were last seen.
    pub(crate) fn remembered_of(&self, process: u32) -> Vec<u32> {
        self.remembered.range((process, 0)..=(process, u32::MAX)).map(|(place, _)| place.1).collect()
    }

    /// True if a descriptor was one of ours when it was last seen.
    pub(crate) fn is_remembered(&self, place: Place) -> bool {
        self.remembered.contains_key(&place)
    }

    /// Forgets what sockets have been seen to want, since an option has been set.
    pub(crate) fn forget_wanted(&mut self) {
        for remembered in self.remembered.values_mut() {
            remembered.wanted = None;
        }
    }

    /// True if a process has nothing at this number.
    pub(crate) fn is_free(&self, place: Place) -> bool {
        let Some(task) = self.tasks.get(&place.0) else { return false };
        let copy = task.descriptor(place.1);
        copy.is_err_and(|error| error.raw_os_error() == Some(i32::from(Errno::EBADF.0)))
    }

    /// Forgets a descriptor, which is closed or is another one now.
    pub(crate) fn forget(&mut self, place: Place) {
        self.unused.extend(self.copies.remove(&place).and_then(|copied| copied.watch));
        self.remembered.remove(&place);
    }

    /// Lets go of copies.
    fn let_go_of(&mut self, mut is_one: impl FnMut(&Place, &Copied) -> bool) {
        let gone = self.copies.extract_if(.., |place, copied| is_one(place, copied));
        self.unused.extend(gone.filter_map(|(_, copied)| copied.watch));
    }

    /// Forgets a process that has ended.
    pub(crate) fn ended(&mut self, process: u32) {
        self.tasks.remove(&process);
        self.threads.retain(|_, (of, _)| *of != process);
        self.let_go_of(|place, _| place.0 == process);
        self.remembered.retain(|place, _| place.0 != process);
    }

    /// Lets go of copies that have not been used for a time.
    pub(crate) fn let_go(&mut self, now: Duration) {
        self.let_go_of(|_, copied| now.saturating_sub(copied.used) >= COPY_KEPT);
        self.threads.retain(|_, (_, used)| now.saturating_sub(*used) < 10 * COPY_KEPT);
    }

    /// True if it has copies to let go of.
    pub(crate) fn has_copies(&self) -> bool {
        !self.copies.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_send_is_possible_on_streams_and_lengths_that_were_asked_for() {
        let mut remembered = Remembered::default();
        let target = (0, None);
        assert!(!remembered.is_possible(target, 0, 0));
        remembered.note_possible(target, 3, 100);
        for (stream, length, is_possible) in [(2, 100, true), (3, 1, false), (0, 101, false)] {
            assert_eq!(remembered.is_possible(target, stream, length), is_possible);
        }
        remembered.note_possible(target, 3, 50);
        assert!(remembered.is_possible(target, 0, 100), "a shorter one takes nothing back");
        assert!(!remembered.is_possible((1, None), 0, 1));
        for association in 1..100 {
            remembered.note_possible((association, None), 1, 1);
        }
        assert!(remembered.possible.len() <= PEERS);
    }
}
