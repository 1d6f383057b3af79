//! Ports of the machine that sockets have: claimed ahead, used, and given back.
//!
//! Each step follows what has changed, and never looks at all ports or all sockets. Claims come in batches that grow
//! with the ports in use: what the machine is asked for one batch, it may be asked about all ports that there are.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use slantpath_base::Stream;

use crate::news::SocketNumber;

/// The first port that is assigned to nobody (RFC 6335, section 6): those whose first two bits are set.
const DYNAMIC_FIRST: u16 = 0xc000;
/// Ports that are held ready for sockets that may have any, at least.
const RESERVE: usize = 2;
/// One port is held ready for so many that are in use.
const USED_FOR_ONE: usize = 4;

/// Ports that have been claimed from the machine, and those that are to be.
#[derive(Debug, Default)]
pub(crate) struct Ports {
    /// Ports that have been claimed, whether in use or not.
    claimed: BTreeSet<u16>,
    /// Claimed ports that nobody has, and that a socket may have which may have any.
    spare: BTreeSet<u16>,
    /// Ports whose claim has not been answered; in order those that nobody has been told of.
    asked: BTreeSet<u16>,
    claims: VecDeque<u16>,
    /// Ports that are to be given back.
    releases: BTreeSet<u16>,
    /// Sockets whose bind waits for a port.
    binding: BTreeMap<u16, Vec<SocketNumber>>,
}

impl Ports {
    pub(crate) fn is_claimed(&self, port: u16) -> bool {
        self.claimed.contains(&port)
    }

    /// Port for a socket that may have any.
    pub(crate) fn any(&self) -> Option<u16> {
        self.spare.first().copied()
    }

    /// Has a port claimed for a socket that waits for it.
    pub(crate) fn wait_for(&mut self, port: u16, socket: SocketNumber) {
        self.binding.entry(port).or_default().push(socket);
        self.ask(port);
    }

    fn ask(&mut self, port: u16) {
        if self.asked.insert(port) {
            self.claims.push_back(port);
        }
    }

    pub(crate) fn next_claim(&mut self) -> Option<u16> {
        self.claims.pop_front()
    }

    /// A claim has been answered. Gives the sockets that wait for the port.
    pub(crate) fn answered(&mut self, port: u16, is_ours: bool) -> Vec<SocketNumber> {
        self.asked.remove(&port);
        if is_ours {
            self.claimed.insert(port);
        }
        self.binding.remove(&port).unwrap_or_default()
    }

    /// Notes if somebody has a port.
    pub(crate) fn note_use(&mut self, port: u16, is_free: bool) {
        if is_free && port >= DYNAMIC_FIRST && self.claimed.contains(&port) {
            self.spare.insert(port);
        } else {
            self.spare.remove(&port);
        }
    }

    /// Nobody has a port: it is held ready for others, or given back.
    pub(crate) fn give_back(&mut self, port: u16) {
        self.note_free(port);
        while self.spare.len() > self.reserve()
            && let Some(spare) = self.spare.pop_last()
        {
            self.claimed.remove(&spare);
            self.releases.insert(spare);
        }
    }

    /// Notes that nobody has a port. One that is no socket's which may have any is given back.
    pub(crate) fn note_free(&mut self, port: u16) {
        self.note_use(port, true);
        let is_for_any = port >= DYNAMIC_FIRST;
        if !is_for_any && !self.binding.contains_key(&port) && self.claimed.remove(&port) {
            self.releases.insert(port);
        }
    }

    pub(crate) fn next_release(&mut self) -> Option<u16> {
        self.releases.pop_first()
    }

    /// Takes a port back that is to be given back and has not been.
    pub(crate) fn reclaim(&mut self, port: u16) {
        if self.releases.remove(&port) {
            self.claimed.insert(port);
            self.note_use(port, true);
        }
    }

    /// Number of ports that are to be held ready.
    fn reserve(&self) -> usize {
        RESERVE.max((self.claimed.len() - self.spare.len()) / USED_FOR_ONE)
    }

    /// Has ports claimed once there are few that nobody uses, or fewer than sockets may want at once.
    pub(crate) fn fill_reserve(&mut self, wanted_at_once: usize, stream: &mut Stream) {
        let ready = self.spare.len() + self.asked.len();
        let reserve = self.reserve();
        // Half a reserve is filled up in one batch.
        let least = RESERVE.max(reserve / 2).max(wanted_at_once);
        if ready >= least {
            return;
        }
        let missing = reserve.max(wanted_at_once) - ready;
        let mut found = 0;
        // Most of the range may be in use.
        for _ in 0..missing.saturating_mul(DRAWS) {
            if found == missing {
                break;
            }
            let port = DYNAMIC_FIRST | u16::try_from(stream.next_u32() >> 18).unwrap_or_default();
            self.reclaim(port);
            if !self.claimed.contains(&port) && !self.asked.contains(&port) {
                self.ask(port);
                found += 1;
            }
        }
    }
}

/// Ports that are drawn for each that is wanted, at most.
const DRAWS: usize = 16;

#[cfg(test)]
mod tests {
    use slantpath_base::Seed;

    use super::*;

    /// Answers all claims, and gives the number of batches: of times at which there were some.
    fn answer(ports: &mut Ports) -> usize {
        let mut batches = 0;
        loop {
            let batch: Vec<u16> = std::iter::from_fn(|| ports.next_claim()).collect();
            if batch.is_empty() {
                return batches;
            }
            batches += 1;
            for port in batch {
                assert!(ports.answered(port, true).is_empty());
                ports.note_use(port, true);
            }
        }
    }

    #[test]
    fn ports_are_claimed_in_batches_that_grow_with_those_in_use_and_are_given_back() {
        let mut stream = Seed::new(1, 0).stream("ports");
        let mut ports = Ports::default();
        let mut used = Vec::new();
        let mut batches = 0;
        for _ in 0..8_000 {
            ports.fill_reserve(0, &mut stream);
            batches += answer(&mut ports);
            let port = ports.any().unwrap();
            ports.note_use(port, false);
            used.push(port);
        }
        assert!(batches < 80, "{batches} batches");
        assert!(ports.spare.len() <= 8_000 / USED_FOR_ONE);
        for port in used {
            ports.give_back(port);
        }
        let released = std::iter::from_fn(|| ports.next_release()).count();
        assert_eq!(ports.claimed.len(), RESERVE);
        assert!(released >= 8_000 - RESERVE, "{released}");
    }

    #[test]
    fn as_many_ports_as_may_be_wanted_at_once_are_claimed_together() {
        let mut stream = Seed::new(1, 0).stream("ports");
        let mut ports = Ports::default();
        ports.fill_reserve(100, &mut stream);
        assert_eq!(answer(&mut ports), 1);
        assert_eq!(ports.spare.len(), 100);
        ports.fill_reserve(100, &mut stream);
        assert_eq!(answer(&mut ports), 0);
    }

    #[test]
    fn a_port_that_is_to_be_given_back_is_had_again_and_one_is_asked_for_once() {
        let mut ports = Ports::default();
        for socket in [1, 2] {
            ports.wait_for(5_000, SocketNumber(socket));
        }
        assert_eq!((ports.next_claim(), ports.next_claim()), (Some(5_000), None));
        assert_eq!(ports.answered(5_000, true), [SocketNumber(1), SocketNumber(2)]);
        ports.give_back(5_000);
        assert!(!ports.is_claimed(5_000));
        ports.reclaim(5_000);
        assert!(ports.is_claimed(5_000));
        assert_eq!(ports.next_release(), None);
        ports.wait_for(5_001, SocketNumber(3));
        ports.answered(5_001, false);
        assert!(!ports.is_claimed(5_001), "it is another's");
    }
}
