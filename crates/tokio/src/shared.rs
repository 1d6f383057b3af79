//! State that an endpoint, its associations and its task share.

use std::collections::BTreeMap;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use slantpath_live::{Concern, Host, Instant, Live, PortAssociations, SocketId, Station};
use tokio::sync::Notify;

use crate::error::EndpointError;

#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<State>,
    /// The task has something to do that no descriptor tells it.
    pub(crate) work: Notify,
    /// A caller can be accepted, or never will be.
    pub(crate) acceptable: Notify,
    /// An association has ended, an endpoint is being closed, or it has failed.
    pub(crate) ended: Notify,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) live: Live<Station<PortAssociations>>,
    /// Of each association that somebody holds.
    bells: BTreeMap<SocketId, Arc<Bell>>,
    /// Why nothing happens any more.
    pub(crate) failure: Option<Arc<io::Error>>,
    /// Number of endpoints on these sockets that somebody holds.
    pub(crate) holders: usize,
}

/// Wakers of the tasks that wait for something of one association.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    pub(crate) readable: Notify,
    pub(crate) writable: Notify,
    pub(crate) standing: Notify,
    pub(crate) notified: Notify,
    /// Lock of the one sender that may wait for room. Senders wait one after the other, so that a long message finds
    /// room among short ones.
    pub(crate) turn: tokio::sync::Mutex<()>,
}

impl Bell {
    fn ring(&self, concern: Concern) {
        match concern {
            Concern::Caller => {}
            Concern::Notified => self.notified.notify_waiters(),
            Concern::Readable => self.readable.notify_waiters(),
            Concern::Writable => self.writable.notify_waiters(),
            // Whatever is waited for: it may have ended.
            Concern::Standing => {
                for notify in [&self.notified, &self.readable, &self.writable, &self.standing] {
                    notify.notify_waiters();
                }
            }
        }
    }
}

impl Shared {
    pub(crate) fn new(live: Live<Station<PortAssociations>>) -> Self {
        let state = State { live, bells: BTreeMap::new(), failure: None, holders: 1 };
        let [work, acceptable, ended] = std::array::from_fn(|_| Notify::new());
        Self { state: Mutex::new(state), work, acceptable, ended }
    }

    /// Locks the state. It is consistent at any time, also if a holder of the lock has panicked.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets `act` act on the associations and their host, and has the task send what comes of it.
    pub(crate) fn act<R>(&self, act: impl FnOnce(&mut PortAssociations, &mut Host, Instant) -> R) -> R {
        let mut state = self.lock();
        let now = state.live.now();
        let Station { host, program } = state.live.host_mut();
        let result = act(program, host, now);
        if program.take_touched() {
            self.work.notify_one();
        }
        result
    }

    /// Wakes everybody whom something concerns.
    pub(crate) fn ring(&self, state: &mut State) {
        let program = &mut state.live.host_mut().program;
        while let Some((id, concern)) = program.poll_concern() {
            if concern == Concern::Caller {
                self.acceptable.notify_waiters();
            } else if let Some(bell) = state.bells.get(&id) {
                bell.ring(concern);
            }
        }
        if program.take_ended() {
            self.ended.notify_waiters();
        }
    }

    /// Nothing happens any more, for this reason, unless there is one already.
    pub(crate) fn fail(&self, error: io::Error) {
        let mut state = self.lock();
        state.failure.get_or_insert_with(|| Arc::new(error));
        for bell in state.bells.values() {
            bell.ring(Concern::Standing);
        }
        self.acceptable.notify_waiters();
        self.ended.notify_waiters();
    }
}

impl State {
    pub(crate) fn check(&self) -> Result<(), EndpointError> {
        self.failure.as_ref().map_or(Ok(()), |error| Err(EndpointError::Failed(Arc::clone(error))))
    }

    /// The bell of an association that somebody begins to hold.
    pub(crate) fn hang_bell(&mut self, id: SocketId) -> Arc<Bell> {
        let bell = Arc::new(Bell::default());
        self.bells.insert(id, Arc::clone(&bell));
        bell
    }

    pub(crate) fn take_bell(&mut self, id: SocketId) {
        self.bells.remove(&id);
    }
}

/// Tries again whenever `notify` says so, until there is something.
pub(crate) async fn wait_for<T>(notify: &Notify, mut attempt: impl FnMut() -> Option<T>) -> T {
    loop {
        if let Some(done) = attempt() {
            return done;
        }
        let mut notified = pin!(notify.notified());
        notified.as_mut().enable();
        // What has come in between.
        if let Some(done) = attempt() {
            return done;
        }
        notified.await;
    }
}
