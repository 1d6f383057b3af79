//! A daemon without SCTP: sockets of programs that reach one another by ports, message by message.

use std::collections::BTreeMap;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType, sockopt,
};
use slantpath_requests::{
    self as requests, Errno, FromProgram, HEADER_LEN, MessageInfo, OpenRequest, PIECE_MAX, Reply, ToProgram,
};

/// Streams of every association.
const STREAMS: i32 = 10;
/// Time after which a socket that has not ended never will.
const PATIENCE: Duration = Duration::from_secs(20);

/// Daemon whose sockets are threads.
#[derive(Debug, Default)]
pub(crate) struct StandIn {
    listeners: Mutex<BTreeMap<u16, Arc<OwnedFd>>>,
    /// Ends of sockets, and if each was marked.
    ends: Mutex<Vec<bool>>,
    has_ended: Condvar,
    next: AtomicU32,
}

/// State of one socket.
#[derive(Debug)]
struct Socket {
    own: Arc<OwnedFd>,
    peer: Mutex<Option<Arc<Socket>>>,
    address: Mutex<SocketAddr>,
    options: Mutex<BTreeMap<(i32, i32), Vec<u8>>>,
}

impl StandIn {
    /// Listens at an abstract name.
    pub(crate) fn start(name: &str) -> Arc<Self> {
        let listener =
            rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .unwrap();
        rustix::net::bind(&listener, &SocketAddrUnix::new_abstract_name(name.as_bytes()).unwrap()).unwrap();
        rustix::net::listen(&listener, 64).unwrap();
        let daemon = Arc::new(Self::default());
        let own = Arc::clone(&daemon);
        thread::spawn(move || {
            while let Ok(channel) = rustix::net::accept_with(&listener, SocketFlags::CLOEXEC) {
                let mut bytes = [0; 16];
                let (len, _) = rustix::net::recv(&channel, &mut bytes, RecvFlags::empty()).unwrap();
                OpenRequest::decode(&bytes[..len]).unwrap();
                let (_, theirs) = own.socket(None);
                send(&channel, &[&Reply::default().encode()], Some(&theirs));
            }
        });
        daemon
    }

    /// Waits until all sockets have ended, and tells if each was marked.
    pub(crate) fn ends(&self) -> Vec<bool> {
        let count = usize::try_from(self.next.load(Ordering::Relaxed)).unwrap();
        let ends = self.ends.lock().unwrap();
        let (ends, limit) =
            self.has_ended.wait_timeout_while(ends, PATIENCE, |ends| ends.len() < count).unwrap();
        assert!(!limit.timed_out(), "{} of {count} sockets have ended", ends.len());
        ends.clone()
    }

    /// Makes a socket, and a thread that serves it.
    fn socket(self: &Arc<Self>, peer: Option<Arc<Socket>>) -> (Arc<Socket>, OwnedFd) {
        // Those of a daemon before may not be gone yet.
        static MADE: AtomicU32 = AtomicU32::new(0);
        let (own, theirs) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .unwrap();
        self.next.fetch_add(1, Ordering::Relaxed);
        let made = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("slantpath-sctp/{}-{made}", std::process::id());
        rustix::net::bind(&own, &SocketAddrUnix::new_abstract_name(name.as_bytes()).unwrap()).unwrap();
        slantpath_system::peeking::set_offset(&theirs, 0).unwrap();
        for end in [&own, &theirs] {
            sockopt::set_socket_send_buffer_size(end, 425_984).unwrap();
        }
        let socket = Arc::new(Socket {
            own: Arc::new(own),
            peer: Mutex::new(peer),
            address: Mutex::new((Ipv4Addr::LOCALHOST, 0).into()),
            options: Mutex::new(BTreeMap::new()),
        });
        let (daemon, served) = (Arc::clone(self), Arc::clone(&socket));
        thread::spawn(move || daemon.serve(&served));
        (socket, theirs)
    }

    fn serve(self: &Arc<Self>, socket: &Arc<Socket>) {
        let mut bytes = vec![0; HEADER_LEN + PIECE_MAX];
        let mut is_marked = false;
        while let Some((len, descriptor)) = receive(&socket.own, &mut bytes) {
            let (piece, rest) = FromProgram::decode(&bytes[..len]).unwrap();
            match piece {
                FromProgram::Accepted => {}
                FromProgram::Closing => {
                    is_marked = true;
                    continue;
                }
                FromProgram::Data { is_more, info, .. } => {
                    let info = info.unwrap_or_default();
                    let (stream, payload_protocol) = (info.stream, info.payload_protocol);
                    let info = MessageInfo { stream, payload_protocol, ..MessageInfo::default() };
                    let source = *socket.address.lock().unwrap();
                    let piece = ToProgram::Data { is_end: !is_more, info, source };
                    if let Some(peer) = &*socket.peer.lock().unwrap() {
                        send(&peer.own, &[&piece.header(), rest], None);
                    }
                }
                FromProgram::Request => {
                    let reply = self.reply(socket, &requests::Request::decode(rest).unwrap());
                    send(&descriptor.unwrap(), &[&reply.encode()], None);
                }
            }
            is_marked = false;
        }
        self.listeners.lock().unwrap().retain(|_, listener| !Arc::ptr_eq(listener, &socket.own));
        // Two ends that end at once never hold both locks.
        let peer = socket.peer.lock().unwrap().take();
        if let Some(peer) = peer {
            let _ = rustix::net::shutdown(&peer.own, rustix::net::Shutdown::Write);
            peer.peer.lock().unwrap().take();
        }
        self.ends.lock().unwrap().push(is_marked);
        self.has_ended.notify_all();
    }

    fn reply(self: &Arc<Self>, socket: &Arc<Socket>, request: &requests::Request) -> Reply {
        let number = |number: i32| Reply { value: number.to_ne_bytes().to_vec(), ..Reply::default() };
        match request {
            requests::Request::Bind(address) => {
                *socket.address.lock().unwrap() = *address;
                Reply::default()
            }
            requests::Request::Listen { .. } => {
                let port = socket.address.lock().unwrap().port();
                let mut listeners = self.listeners.lock().unwrap();
                if listeners.contains_key(&port) {
                    return Reply::failed(Errno::EADDRINUSE);
                }
                listeners.insert(port, Arc::clone(&socket.own));
                Reply::default()
            }
            requests::Request::Connect { peer, .. } => {
                let Some(listener) = self.listeners.lock().unwrap().get(&peer.port()).map(Arc::clone) else {
                    return Reply::failed(Errno::ECONNREFUSED);
                };
                let (accepted, theirs) = self.socket(Some(Arc::clone(socket)));
                *accepted.address.lock().unwrap() = *peer;
                *socket.peer.lock().unwrap() = Some(accepted);
                let piece = ToProgram::Accepted { peer: *socket.address.lock().unwrap() };
                send(&listener, &[&piece.header()], Some(&theirs));
                Reply::default()
            }
            requests::Request::GetOption { level: 1, name: 30, .. } => {
                let listeners = self.listeners.lock().unwrap();
                number(i32::from(listeners.values().any(|own| Arc::ptr_eq(own, &socket.own))))
            }
            requests::Request::GetOption { level: 1, name: 3, .. } => number(1),
            requests::Request::GetOption { level: 1, name: 38, .. } => number(132),
            requests::Request::GetOption { level, name, .. } => {
                let options = socket.options.lock().unwrap();
                let value = options.get(&(*level, *name)).cloned();
                Reply { value: value.unwrap_or_else(|| vec![0; 4]), ..Reply::default() }
            }
            requests::Request::SetOption { level, name, value, .. } => {
                socket.options.lock().unwrap().insert((*level, *name), value.clone());
                Reply::default()
            }
            requests::Request::LocalName => {
                Reply { address: Some(*socket.address.lock().unwrap()), ..Reply::default() }
            }
            requests::Request::PeerName => match &*socket.peer.lock().unwrap() {
                None => Reply::failed(Errno::ENOTCONN),
                Some(peer) => Reply { address: Some(*peer.address.lock().unwrap()), ..Reply::default() },
            },
            requests::Request::Shutdown(_) => {
                if let Some(peer) = &*socket.peer.lock().unwrap() {
                    let _ = rustix::net::shutdown(&peer.own, rustix::net::Shutdown::Write);
                }
                Reply::default()
            }
            requests::Request::MaySend { stream, .. } if i32::from(*stream) >= STREAMS => {
                Reply::failed(Errno::EINVAL)
            }
            requests::Request::MaySend { .. } if socket.peer.lock().unwrap().is_none() => {
                Reply::failed(Errno::EPIPE)
            }
            requests::Request::MaySend { .. } => Reply { number: STREAMS, ..Reply::default() },
            requests::Request::Begin { .. }
            | requests::Request::Ended { .. }
            | requests::Request::MayEnd { .. } => Reply::default(),
        }
    }
}

fn send(socket: &OwnedFd, bytes: &[&[u8]], descriptor: Option<&OwnedFd>) {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let descriptors: Vec<_> = descriptor.into_iter().map(AsFd::as_fd).collect();
    if !descriptors.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
    }
    let bytes: Vec<IoSlice<'_>> = bytes.iter().map(|bytes| IoSlice::new(bytes)).collect();
    // The program may have gone.
    let _ = rustix::net::sendmsg(socket, &bytes, &mut control, SendFlags::NOSIGNAL);
}

fn receive(socket: &OwnedFd, bytes: &mut [u8]) -> Option<(usize, Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let place = &mut [IoSliceMut::new(bytes)];
    let came = loop {
        match rustix::net::recvmsg(socket, place, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Ok(came) => break came,
            // It was closed with something unread.
            Err(rustix::io::Errno::CONNRESET) => {}
            Err(_) => return None,
        }
    };
    let descriptor = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    (came.bytes > 0).then_some((came.bytes, descriptor))
}
