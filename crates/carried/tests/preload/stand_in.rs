//! Daemon that speaks no SCTP: it echoes each message, and answers requests with fixed words.

use std::collections::BTreeMap;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::spawn;

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, Shutdown, SocketAddrUnix, SocketFlags, SocketType, accept, bind, listen,
    recvmsg, sendmsg, shutdown, socket_with, socketpair,
};
use slantpath_requests::{
    self as requests, Errno, FromProgram, HEADER_LEN, Half, MessageInfo, OpenRequest, PIECE_MAX, Reply,
    Style, ToProgram,
};
use slantpath_system::peeking;

/// End of a program's socket, as the daemon has seen it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SocketEnd {
    InOrder,
    Killed,
}

/// Daemon of one test.
pub(crate) struct StandIn {
    /// Value of the variable that names it.
    pub(crate) name: String,
    pub(crate) ends: Receiver<SocketEnd>,
}

impl StandIn {
    pub(crate) fn begin() -> Self {
        let name = format!("slantpath-stand-in-{}-{}", std::process::id(), number());
        let kind = SocketType::SEQPACKET;
        let listener = socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None).unwrap();
        bind(&listener, &SocketAddrUnix::new_abstract_name(name.as_bytes()).unwrap()).unwrap();
        listen(&listener, 100).unwrap();
        let (told, ends) = channel();
        spawn(move || {
            while let Ok(channel) = accept(&listener) {
                let mut bytes = [0; 100];
                let (len, _) = rustix::net::recv(&channel, &mut bytes, RecvFlags::empty()).unwrap();
                let wish = OpenRequest::decode(&bytes[..len]).unwrap();
                let program = serve(wish.style, false, told.clone());
                give(&channel, &[&Reply::default().encode()], Some(&program));
            }
        });
        Self { name: format!("@{name}"), ends }
    }
}

fn number() -> u32 {
    static LAST: AtomicU32 = AtomicU32::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}

fn local() -> SocketAddr {
    ([127, 0, 0, 1], 5000).into()
}

fn peer() -> SocketAddr {
    ([10, 0, 0, 2], 5001).into()
}

fn give(to: &OwnedFd, parts: &[&[u8]], descriptor: Option<&OwnedFd>) {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let beside = descriptor.map(|descriptor| [descriptor.as_fd()]);
    if let Some(beside) = &beside {
        control.push(SendAncillaryMessage::ScmRights(beside));
    }
    let parts: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
    // The program may be gone.
    let _ = sendmsg(to, &parts, &mut control, SendFlags::NOSIGNAL);
}

/// Makes a socket, serves it by a thread of its own, and gives the program's end.
fn serve(style: Style, is_connected: bool, told: Sender<SocketEnd>) -> OwnedFd {
    let kind = SocketType::SEQPACKET;
    let (program, daemon) = socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None).unwrap();
    let name = format!("slantpath-sctp/{}-{}", std::process::id(), number());
    bind(&daemon, &SocketAddrUnix::new_abstract_name(name.as_bytes()).unwrap()).unwrap();
    peeking::set_offset(&program, 0).unwrap();
    rustix::net::sockopt::set_socket_send_buffer_size(&program, 212_992).unwrap();
    let options = BTreeMap::new();
    let mut served = Served { daemon, style, is_connected, listens: false, is_marked: false, options, told };
    spawn(move || served.run());
    program
}

struct Served {
    daemon: OwnedFd,
    style: Style,
    is_connected: bool,
    listens: bool,
    is_marked: bool,
    options: BTreeMap<(i32, i32), Vec<u8>>,
    told: Sender<SocketEnd>,
}

impl Served {
    fn run(&mut self) {
        let mut message = Vec::new();
        let mut bytes = vec![0; HEADER_LEN + PIECE_MAX];
        loop {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let buffers = &mut [IoSliceMut::new(&mut bytes)];
            let came = recvmsg(&self.daemon, buffers, &mut control, RecvFlags::empty());
            let Some(came) = came.ok().filter(|came| came.bytes > 0) else { break };
            let (piece, rest) = FromProgram::decode(&bytes[..came.bytes]).unwrap();
            match piece {
                FromProgram::Accepted => {}
                FromProgram::Closing => {
                    self.is_marked = true;
                    continue;
                }
                FromProgram::Request => {
                    let channel = control.drain().find_map(|message| match message {
                        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
                        _ => None,
                    });
                    let (reply, made) = self.reply(requests::Request::decode(rest).unwrap());
                    give(&channel.unwrap(), &[&reply.encode()], made.as_ref());
                    if self.listens && self.is_connected {
                        self.is_connected = false;
                        let accepted = serve(Style::OneToOne, true, self.told.clone());
                        give(
                            &self.daemon,
                            &[&ToProgram::Accepted { peer: peer() }.header()],
                            Some(&accepted),
                        );
                    }
                }
                FromProgram::Data { is_more, info, destination } => {
                    message.extend_from_slice(rest);
                    if !is_more {
                        let info = info.unwrap_or_default();
                        let echoed = MessageInfo {
                            stream: info.stream,
                            ssn: 7,
                            flags: info.flags,
                            payload_protocol: info.payload_protocol,
                            tsn: 1000,
                            context: info.context,
                            association: 1,
                            ..MessageInfo::default()
                        };
                        self.echo(&std::mem::take(&mut message), echoed, destination.unwrap_or_else(peer));
                    }
                }
            }
            self.is_marked = false;
        }
        let end = if self.is_marked { SocketEnd::InOrder } else { SocketEnd::Killed };
        let _ = self.told.send(end);
    }

    fn echo(&self, message: &[u8], info: MessageInfo, source: SocketAddr) {
        if message == b"notify" {
            let header = ToProgram::Notification { is_end: true, source }.header();
            give(&self.daemon, &[&header, &[1, 2, 3, 4]], None);
            return;
        }
        let count = message.len().div_ceil(PIECE_MAX).max(1);
        for at in 0..count {
            let part = &message[at * PIECE_MAX..message.len().min((at + 1) * PIECE_MAX)];
            let piece = ToProgram::Data { is_end: at + 1 == count, info, source };
            give(&self.daemon, &[&piece.header(), part], None);
        }
    }

    fn reply(&mut self, request: requests::Request) -> (Reply, Option<OwnedFd>) {
        use requests::Request;
        let number = |number: i32| Reply { value: number.to_ne_bytes().to_vec(), ..Reply::default() };
        let reply = match request {
            Request::Bind(address) if address.port() == 1 => Reply::failed(Errno::EACCES),
            Request::MayEnd { .. } if self.style == Style::OneToOne => Reply::failed(Errno::EINVAL),
            Request::Bind(_) | Request::Ended { .. } | Request::MayEnd { .. } => Reply::default(),
            Request::Connect { peer, .. } if peer.port() == 1 => Reply::failed(Errno::ECONNREFUSED),
            Request::Connect { waits, .. } => {
                self.is_connected = true;
                if waits { Reply::default() } else { Reply::failed(Errno::EINPROGRESS) }
            }
            Request::Listen { .. } => {
                self.listens = true;
                // Somebody comes at once.
                self.is_connected = self.style == Style::OneToOne;
                Reply::default()
            }
            Request::LocalName => Reply { address: Some(local()), ..Reply::default() },
            Request::PeerName if self.is_connected => Reply { address: Some(peer()), ..Reply::default() },
            Request::PeerName => Reply::failed(Errno::ENOTCONN),
            Request::Shutdown(half) => {
                if half != Half::Read {
                    shutdown(&self.daemon, Shutdown::Write).unwrap();
                }
                Reply::default()
            }
            Request::MaySend { stream, .. } if stream >= 10 => Reply::failed(Errno::EINVAL),
            Request::MaySend { length, .. } if length > 200_000 => Reply::failed(Errno::EMSGSIZE),
            Request::MaySend { .. } if self.style == Style::OneToOne && !self.is_connected => {
                Reply::failed(Errno::EPIPE)
            }
            Request::MaySend { .. } => Reply { number: 10, ..Reply::default() },
            Request::Begin { .. } => {
                self.is_connected = true;
                Reply::default()
            }
            Request::SetOption { level, name, value, .. } => {
                self.options.insert((level, name), value);
                Reply::default()
            }
            // `SO_TYPE`, `SO_ERROR`, `SO_ACCEPTCONN`, and the number of associations.
            Request::GetOption { level: 1, name: 3, .. } => {
                number(if self.style == Style::OneToOne { 1 } else { 5 })
            }
            Request::GetOption { level: 1, name: 4, .. } => number(0),
            // `SO_PROTOCOL` and `SO_DOMAIN`.
            Request::GetOption { level: 1, name: 38, .. } => number(132),
            Request::GetOption { level: 1, name: 39, .. } => number(2),
            Request::GetOption { level: 1, name: 30, .. } => number(i32::from(self.listens)),
            Request::GetOption { level: 132, name: 28, .. } => number(i32::from(self.is_connected)),
            Request::GetOption { level: 132, name: 102, value, .. } => {
                let made = serve(Style::OneToOne, true, self.told.clone());
                return (Reply { value, ..Reply::default() }, Some(made));
            }
            Request::GetOption { level, name, room, .. } => match self.options.get(&(level, name)) {
                Some(value) => {
                    let room = value.len().min(room as usize);
                    Reply { value: value[..room].to_vec(), ..Reply::default() }
                }
                None => Reply::failed(Errno::ENOPROTOOPT),
            },
        };
        (reply, None)
    }
}
