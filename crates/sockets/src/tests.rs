//! Two hosts with sockets, joined without delay.

mod any;
mod associations;
mod many;
mod one_to_many;
mod one_to_one;
mod ports;
mod values;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Seed};
use slantpath_live::{EndSystem as _, Host, Station, host_of};
use slantpath_requests::{
    self as requests, Errno, FromProgram, MessageInfo, OpenRequest, Reply, SendInfo, Style, ToProgram,
};
use slantpath_sctp::SctpConfig;
use slantpath_wire::Packet;

use crate::{Answered, Closing, ForProgram, News, SocketNumber, Sockets, Taken, Token};

pub(crate) const PORT: u16 = 5_000;
const SCTP: i32 = 132;

/// Two hosts of sockets, and the time.
pub(crate) struct Pair {
    ends: [Station<Sockets>; 2],
    pub(crate) now: Instant,
    last_token: u64,
    pub(crate) config: Arc<SctpConfig>,
    /// Ends whose packets are lost.
    pub(crate) is_silent: [bool; 2],
    /// Number of times at which there were ports to be claimed.
    pub(crate) batches: usize,
}

pub(crate) fn address(end: usize) -> IpAddr {
    [[10, 0, 0, 1], [10, 0, 0, 2]][end].into()
}

pub(crate) fn at(end: usize) -> SocketAddr {
    SocketAddr::new(address(end), PORT)
}

impl Pair {
    pub(crate) fn new() -> Self {
        Self::with(SctpConfig::default())
    }

    pub(crate) fn with(config: SctpConfig) -> Self {
        let ends = [0, 1].map(|end| {
            let own = vec![address(end), format!("2001:db8::{}", end + 1).parse().unwrap()];
            let stream = Seed::new(1, 0).stream(&format!("{end}"));
            Station { host: host_of(&own), program: Sockets::new(own, stream) }
        });
        let mut pair = Self {
            ends,
            now: Instant::START,
            last_token: 0,
            config: Arc::new(config),
            is_silent: [false; 2],
            batches: 0,
        };
        pair.claim();
        pair
    }

    /// Claims all ports that are to be claimed: none is another's.
    fn claim(&mut self) {
        for Station { host, program } in &mut self.ends {
            loop {
                let ports: Vec<u16> = std::iter::from_fn(|| program.poll_claim()).collect();
                if ports.is_empty() {
                    break;
                }
                self.batches += 1;
                for port in ports {
                    program.port_claimed(self.now, host, port, Ok(()));
                }
            }
        }
    }

    pub(crate) fn act<R>(
        &mut self,
        end: usize,
        act: impl FnOnce(&mut Sockets, &mut Host, Instant) -> R,
    ) -> R {
        let Station { host, program } = &mut self.ends[end];
        let result = act(program, host, self.now);
        self.claim();
        result
    }

    /// Carries packets until there are none.
    pub(crate) fn exchange(&mut self) {
        while [0, 1].map(|from| self.carry(from)).contains(&true) {}
    }

    /// Carries the packets that an end has, and tells if there were any.
    pub(crate) fn carry(&mut self, from: usize) -> bool {
        let mut is_any = false;
        let mut packet = Packet::default();
        while let Some(interface) = self.ends[from].poll_transmit(self.now, &mut packet) {
            is_any = true;
            if !self.is_silent[from] {
                self.ends[1 - from].handle_packet(self.now, interface, &mut packet);
            }
        }
        is_any
    }

    /// Lets time pass, in steps of 50 ms.
    pub(crate) fn pass(&mut self, time: Duration) {
        let until = self.now.saturating_add(time);
        while self.now < until {
            self.now = self.now.saturating_add(Duration::from_millis(50));
            for end in &mut self.ends {
                if end.deadline().is_some_and(|deadline| deadline <= self.now) {
                    end.handle_deadline(self.now);
                }
            }
            self.exchange();
        }
    }

    pub(crate) fn open(&mut self, end: usize, style: Style, family: requests::Family) -> SocketNumber {
        let config = Arc::clone(&self.config);
        self.act(end, |sockets, _, _| sockets.open(OpenRequest { style, family }, &config))
    }

    #[expect(clippy::needless_pass_by_value, reason = "requests are written where they are asked")]
    pub(crate) fn ask(
        &mut self,
        end: usize,
        socket: SocketNumber,
        request: requests::Request,
    ) -> Option<Answered> {
        self.last_token += 1;
        let token = Token(self.last_token);
        let answer = self.act(end, |sockets, host, now| sockets.request(now, host, socket, token, &request));
        if answer.is_some() {
            return answer;
        }
        // What waits for a port alone has been answered by now.
        let news = &mut self.ends[end].program.news;
        let place = news.iter().position(|(_, one)| matches!(one, News::Replied(of, _) if *of == token))?;
        match news.remove(place) {
            Some((_, News::Replied(_, answer))) => Some(answer),
            _ => None,
        }
    }

    pub(crate) fn done(
        &mut self,
        end: usize,
        socket: SocketNumber,
        request: requests::Request,
    ) -> Result<Reply, Errno> {
        let reply = self.ask(end, socket, request).expect("it is answered at once").reply;
        reply.error.map_or(Ok(reply.clone()), Err)
    }

    /// Value of an option of SCTP's level that has been read from what a program has in its place.
    pub(crate) fn get(
        &mut self,
        end: usize,
        socket: SocketNumber,
        name: i32,
        value: &[u8],
    ) -> Result<Vec<u8>, Errno> {
        let request = requests::Request::GetOption {
            level: SCTP,
            name,
            room: 4_096,
            value: value.to_vec(),
            waits: false,
        };
        self.done(end, socket, request).map(|reply| reply.value)
    }

    pub(crate) fn set(
        &mut self,
        end: usize,
        socket: SocketNumber,
        name: i32,
        value: &[u8],
    ) -> Result<i32, Errno> {
        let value = value.to_vec();
        let request = requests::Request::SetOption { level: SCTP, name, value, waits: false };
        self.done(end, socket, request).map(|reply| reply.number)
    }

    /// Bytes of the next notification, and its kind.
    pub(crate) fn notification(&mut self, end: usize, socket: SocketNumber) -> Option<(u16, Bytes)> {
        match self.next(end, socket)? {
            ForProgram { header: ToProgram::Notification { is_end: true, .. }, bytes, .. } => {
                Some((u16::from_le_bytes([bytes[0], bytes[1]]), bytes))
            }
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn listener_at(&mut self, end: usize, port: u16) -> SocketNumber {
        let socket = self.open(end, Style::OneToOne, requests::Family::V4);
        self.done(end, socket, requests::Request::Bind(SocketAddr::new(address(end), port))).unwrap();
        self.done(end, socket, requests::Request::Listen { backlog: 5 }).unwrap();
        socket
    }

    /// A listener in whose queue one more than this many callers may wait.
    pub(crate) fn listener_of(&mut self, end: usize, backlog: u32) -> SocketNumber {
        let socket = self.open(end, Style::OneToOne, requests::Family::V4);
        self.done(end, socket, requests::Request::Bind(at(end))).unwrap();
        self.done(end, socket, requests::Request::Listen { backlog }).unwrap();
        socket
    }

    pub(crate) fn listener(&mut self, end: usize, style: Style) -> SocketNumber {
        let socket = self.open(end, style, requests::Family::V4);
        self.done(end, socket, requests::Request::Bind(at(end))).unwrap();
        self.done(end, socket, requests::Request::Listen { backlog: 5 }).unwrap();
        socket
    }

    pub(crate) fn news(&mut self, end: usize) -> Vec<(SocketNumber, News)> {
        std::iter::from_fn(|| self.ends[end].program.poll_news()).collect()
    }

    pub(crate) fn next(&mut self, end: usize, socket: SocketNumber) -> Option<ForProgram> {
        self.act(end, |sockets, host, now| sockets.next(now, host, socket))
    }

    /// Bytes of the next message, with what is told of it.
    pub(crate) fn message(&mut self, end: usize, socket: SocketNumber) -> Option<(MessageInfo, Bytes)> {
        match self.next(end, socket)? {
            ForProgram { header: ToProgram::Data { info, is_end: true, .. }, bytes, .. } => {
                Some((info, bytes))
            }
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn send(&mut self, end: usize, socket: SocketNumber, info: SendInfo, bytes: &[u8]) -> Taken {
        self.send_to(end, socket, info, None, bytes)
    }

    pub(crate) fn send_to(
        &mut self,
        end: usize,
        socket: SocketNumber,
        info: SendInfo,
        destination: Option<SocketAddr>,
        bytes: &[u8],
    ) -> Taken {
        let header = FromProgram::Data { is_more: false, info: Some(info), destination };
        self.act(end, |sockets, host, now| sockets.take(now, host, socket, header, bytes))
    }

    pub(crate) fn close(&mut self, end: usize, socket: SocketNumber, closing: Closing) {
        self.act(end, |sockets, host, now| sockets.close(now, host, socket, closing));
        self.exchange();
    }

    /// One-to-one sockets: a listener at the second end, and the two ends of an association with it.
    pub(crate) fn connected(&mut self) -> (SocketNumber, [SocketNumber; 2]) {
        let listener = self.listener(1, Style::OneToOne);
        let caller = self.open(0, Style::OneToOne, requests::Family::V4);
        let request = requests::Request::Connect { peer: at(1), waits: true };
        assert_eq!(self.ask(0, caller, request), None, "it waits");
        self.exchange();
        self.news(0);
        self.news(1);
        let piece = self.next(1, listener).unwrap();
        (listener, [caller, piece.socket.unwrap()])
    }

    pub(crate) fn associations(&self) -> [usize; 2] {
        [0, 1].map(|end| self.ends[end].program.association_count())
    }
}
