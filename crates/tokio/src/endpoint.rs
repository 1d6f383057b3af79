//! One SCTP port on some of the machine's addresses.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use slantpath_live::{EndpointConfig, LiveCounters, OpenError, OpenPort, OwnAddressChange, Peer, Station};
use slantpath_sctp as sctp;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::association::Association;
use crate::driver;
use crate::error::{ConnectError, EndpointError};
use crate::shared::{Shared, wait_for};

/// One SCTP port on one or more of the machine's addresses, which calls others and accepts those who call. Clones are
/// the same endpoint.
#[derive(Clone, Debug)]
pub struct Endpoint {
    handle: Arc<Handle>,
}

/// An endpoint as long as somebody holds it.
#[derive(Debug)]
struct Handle {
    shared: Arc<Shared>,
    port: OpenPort,
}

/// Counts of an endpoint, at one time.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct EndpointSnapshot {
    /// Associations that are not over, whoever holds them.
    pub associations: usize,
    /// Counters of its sockets, of all endpoints on them, as below.
    pub sockets: LiveCounters,
    /// Counters of packets that came in for SCTP, and of what became of them.
    pub sctp: sctp::EndpointStats,
    /// The counters of the SCTP MIB (RFC 3873); of one association: [`Association::mib`].
    pub mib: sctp::MibCounters,
}

impl Endpoint {
    /// Opens the sockets, and begins to serve them in a task of the current runtime, whose I/O has to be enabled.
    #[expect(
        clippy::unused_async,
        reason = "tokio's own sockets are bound so, and only where there is a runtime"
    )]
    pub async fn bind(config: EndpointConfig) -> Result<Self, OpenError> {
        let failed = |error| OpenError::System { what: "registering with the runtime".to_owned(), error };
        let (mut live, port) = config.open()?;
        let readiness = live.readiness().and_then(register).map_err(failed)?;
        let shared = Arc::new(Shared::new(live));
        // Its first turn sets the timer.
        shared.work.notify_one();
        tokio::spawn(driver::drive(Arc::clone(&shared), readiness));
        Ok(Self { handle: Arc::new(Handle { shared, port }) })
    }

    /// Opens another SCTP port on the sockets of this endpoint: over UDP both have the same UDP port, which two sockets
    /// could not (RFC 6951). Addresses and carriage are those of this one; its settings of SCTP are its own. The
    /// sockets stay open until all endpoints on them are dropped and their associations have ended, and the port is in
    /// use until then.
    pub fn bind_beside(&self, config: &EndpointConfig) -> Result<Self, OpenError> {
        let shared = Arc::clone(&self.handle.shared);
        let port = {
            let mut state = shared.lock();
            let port = config.open_beside(&mut state.live)?;
            state.holders += 1;
            port
        };
        shared.work.notify_one();
        Ok(Self { handle: Arc::new(Handle { shared, port }) })
    }

    /// The SCTP port.
    pub fn port(&self) -> u16 {
        self.handle.port.number
    }

    /// The address of each socket, with its UDP port, or zero in IP.
    pub fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        self.handle.shared.lock().live.bound()
    }

    /// Opens an association with a peer, of which some or all addresses are known, and waits until it is up. There can
    /// be one with each port of a peer; one that is on its way to its end is waited for.
    ///
    /// Dropped before it is ready, it gives the association up.
    pub async fn connect(&self, peer: &Peer) -> Result<Association, ConnectError> {
        self.call(peer, None).await
    }

    /// Variant of [`connect`](Self::connect) for a peer whose SCTP is behind this UDP port, where the endpoint's
    /// carriage is UDP.
    pub async fn connect_by(&self, peer: &Peer, udp_port: u16) -> Result<Association, ConnectError> {
        self.call(peer, Some(udp_port)).await
    }

    async fn call(&self, peer: &Peer, udp_port: Option<u16>) -> Result<Association, ConnectError> {
        let shared = &self.handle.shared;
        // One with this peer that is on its way to its end is waited for.
        let association = wait_for(&shared.ended, || self.begin(peer, udp_port)).await?;
        shared.work.notify_one();
        association.established().await?;
        Ok(association)
    }

    /// Begins an association; nothing while the one before it with that peer has not ended.
    fn begin(&self, peer: &Peer, udp_port: Option<u16>) -> Option<Result<Association, ConnectError>> {
        let shared = &self.handle.shared;
        let mut state = shared.lock();
        if let Err(error) = state.check() {
            return Some(Err(error.into()));
        }
        let now = state.live.now();
        let Station { host, program } = state.live.host_mut();
        match program.connect(now, host, self.handle.port.id, peer) {
            Err(refused) if refused.is_ending() => None,
            Err(refused) => Some(Err(refused.into())),
            Ok(id) => {
                state.live.set_udp_port(peer, self.handle.port.number, udp_port);
                let bell = state.hang_bell(id);
                Some(Ok(Association::new(Arc::clone(shared), id, bell)))
            }
        }
    }

    /// Waits for the next association that a peer has opened.
    pub async fn accept(&self) -> Result<Association, EndpointError> {
        let shared = &self.handle.shared;
        wait_for(&shared.acceptable, || {
            let mut state = shared.lock();
            let program = &mut state.live.host_mut().program;
            let is_closing = program.is_closing(self.handle.port.id);
            match program.accept(self.handle.port.id) {
                Some(id) => {
                    let bell = state.hang_bell(id);
                    Some(Ok(Association::new(Arc::clone(shared), id, bell)))
                }
                None if is_closing => Some(Err(EndpointError::Closed)),
                None => state.check().err().map(Err),
            }
        })
        .await
    }

    /// Accepts nobody any more, shuts all associations down in order, and waits until they have ended. Those whose peer
    /// does not read or answer end by the timers of SCTP, which may take minutes; [`Endpoint::abort`] ends them at
    /// once.
    pub async fn close(&self) -> Result<(), EndpointError> {
        let shared = &self.handle.shared;
        let port = self.handle.port.id;
        shared.act(|program, host, now| program.close(now, host, port));
        shared.acceptable.notify_waiters();
        shared.ended.notify_waiters();
        wait_for(&shared.ended, || {
            let state = shared.lock();
            let is_idle = state.live.host().program.alive(port) == 0;
            if is_idle { Some(Ok(())) } else { state.check().err().map(Err) }
        })
        .await
    }

    /// Accepts nobody any more, and ends all associations at once.
    pub fn abort(&self) {
        let shared = &self.handle.shared;
        shared.act(|program, host, now| program.abort_all(now, host, self.handle.port.id));
        shared.acceptable.notify_waiters();
        shared.ended.notify_waiters();
    }

    /// Takes the next change of an address of this endpoint or of its link, oldest first; `None` if nothing has changed
    /// since the last call.
    pub fn poll_address_change(&self) -> Option<OwnAddressChange> {
        self.handle.shared.lock().live.poll_change()
    }

    /// Counts, as they are now.
    pub fn snapshot(&self) -> EndpointSnapshot {
        let state = self.handle.shared.lock();
        let station = state.live.host();
        EndpointSnapshot {
            associations: station.program.alive(self.handle.port.id),
            sockets: *state.live.counters(),
            sctp: *station.host.sctp_stats(),
            mib: station.host.sctp_mib(),
        }
    }
}

#[expect(
    deprecated,
    reason = "what comes in its place is unsafe for the sake of types that may name another descriptor each time, \
              which an `OwnedFd` does not"
)]
fn register(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(descriptor, Interest::READABLE)
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.lock().holders -= 1;
        self.shared.act(|program, host, now| program.stop_accepting(now, host, self.port.id));
        self.shared.work.notify_one();
    }
}
