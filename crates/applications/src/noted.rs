//! Queues of applications for somebody outside of the host, and the sockets of those that have something in theirs.

use std::collections::VecDeque;

use slantpath_host::SocketId;

/// Sockets that have something to be taken, each at most once, in the order in which they began to.
#[derive(Debug, Default)]
pub(crate) struct Noted(VecDeque<SocketId>);

impl Noted {
    /// Notes a socket if its application begins to have something.
    #[inline]
    pub(crate) fn note<T>(&mut self, socket: SocketId, outbox: &mut Outbox<T>) {
        if outbox.begins() {
            self.0.push_back(socket);
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn first(&self) -> Option<SocketId> {
        self.0.front().copied()
    }

    /// Forgets the first: it has nothing more.
    pub(crate) fn pop(&mut self) {
        self.0.pop_front();
    }
}

/// Queue of an application for somebody outside of the host, oldest first.
#[derive(Debug)]
pub(crate) struct Outbox<T> {
    waiting: VecDeque<T>,
    /// True if the socket is noted.
    is_noted: bool,
}

impl<T> Outbox<T> {
    pub(crate) const fn new() -> Self {
        Self { waiting: VecDeque::new(), is_noted: false }
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        self.waiting.push_back(item);
    }

    /// Tells if there is something that nobody has noted. From now on it is noted, until [`Outbox::poll`] has nothing
    /// more.
    #[inline]
    fn begins(&mut self) -> bool {
        !self.waiting.is_empty() && !std::mem::replace(&mut self.is_noted, true)
    }

    /// Takes the oldest.
    pub(crate) fn poll(&mut self) -> Option<T> {
        self.is_noted = !self.waiting.is_empty();
        self.waiting.pop_front()
    }

    /// Gives the memory of an empty one back.
    pub(crate) fn shrink(&mut self) {
        if self.waiting.is_empty() {
            self.waiting = VecDeque::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_noted_once_and_again_only_when_somebody_has_found_it_empty() {
        let (mut noted, mut outbox) = (Noted::default(), Outbox::new());
        let socket = SocketId(3);
        noted.note(socket, &mut outbox);
        assert!(noted.is_empty());
        for item in [1, 2] {
            outbox.push(item);
            noted.note(socket, &mut outbox);
        }
        assert_eq!(noted.first(), Some(socket));
        noted.pop();
        assert!(noted.is_empty(), "once");
        assert_eq!([outbox.poll(), outbox.poll()], [Some(1), Some(2)]);
        outbox.push(3);
        noted.note(socket, &mut outbox);
        assert!(noted.is_empty(), "whoever asks on finds it");
        assert_eq!([outbox.poll(), outbox.poll()], [Some(3), None]);
        outbox.push(4);
        noted.note(socket, &mut outbox);
        assert_eq!(noted.first(), Some(socket));
    }
}
