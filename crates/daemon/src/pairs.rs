//! Pairs of all sockets: what programs write is handed to the sockets, and what there is for them is written.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IoSlice};
use std::os::fd::{AsFd as _, OwnedFd};

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_live::Station;
use slantpath_requests::{
    self as requests, Errno, FromProgram, HEADER_LEN, OPTION_MAX, OpenRequest, PIECE_MAX, Reply, Style,
    ToProgram,
};
use slantpath_sockets::{Answered, ForProgram, News, SocketNumber, Sockets, Taken, Token};
use slantpath_system::pair::{self, PairConfig, ReceivedPiece};
use slantpath_system::poll::Poll;
use slantpath_system::rights;

use crate::daemon::socket_token;
use crate::lint::Lint;
use crate::program_end::{Held, ProgramEnd};
use crate::saying::{SHORTAGE, STRANGERS, Saying};

/// Pairs of the sockets of all programs.
#[derive(Debug)]
pub(crate) struct Pairs {
    ends: BTreeMap<SocketNumber, ProgramEnd>,
    /// Descriptors that take the replies of requests, each with the socket that is asked about.
    replies: BTreeMap<Token, (SocketNumber, OwnedFd)>,
    /// Answers to calls that begin an association and do not wait for it, or that end one: on this machine it may be
    /// up, or over, before they are told.
    late: Vec<(Token, Answered)>,
    /// Sockets whose programs have ended an association by a message, so that what follows waits as well.
    settling: BTreeSet<SocketNumber>,
    last_token: u64,
    /// Beginning of the pairs' names.
    name: String,
    to_read: BTreeSet<SocketNumber>,
    /// Sockets whose programs have closed them in all processes: the others may want what these have.
    closed: BTreeSet<SocketNumber>,
    to_write: BTreeSet<SocketNumber>,
    /// True if a socket has been closed, and packets of its end to this machine itself have not passed.
    has_ended: bool,
    /// First port for which a program needs no right.
    first_free_port: u16,
    pub(crate) lint: Lint,
    shortage: Saying,
    /// Pieces that are none of a door's.
    strangers: Saying,
    // Kept for their memory.
    place: Vec<u8>,
    beside: Vec<OwnedFd>,
}

/// Pieces that are read of a pair, or written to it, before others have their turn.
const BUDGET: usize = 32;
/// Send buffer of both ends of a pair.
const BUFFER_BYTES: usize = 212_992;
/// Bytes of a filler by which such a buffer is not writable, and is not full.
const FILLER_BYTES: usize = 110_000;

impl Pairs {
    /// Pairs whose names have this word in them, which no other daemon has.
    pub(crate) fn new(word: &str, lint: Lint) -> Self {
        Self {
            ends: BTreeMap::new(),
            replies: BTreeMap::new(),
            late: Vec::new(),
            settling: BTreeSet::new(),
            last_token: 0,
            name: format!("slantpath-sctp/{word}"),
            to_read: BTreeSet::new(),
            closed: BTreeSet::new(),
            to_write: BTreeSet::new(),
            has_ended: false,
            first_free_port: rights::first_free_port(),
            lint,
            shortage: Saying::new(SHORTAGE),
            strangers: Saying::new(STRANGERS),
            place: vec![0; HEADER_LEN + PIECE_MAX.max(OPTION_MAX + 64)],
            beside: Vec::new(),
        }
    }

    /// Makes the pair of a socket, and gives the program's end.
    pub(crate) fn make(
        &mut self,
        number: SocketNumber,
        poll: &Poll,
        is_connected: bool,
    ) -> io::Result<OwnedFd> {
        let name = format!("{}/{}", self.name, number.0);
        let filler_bytes = if is_connected { 0 } else { FILLER_BYTES };
        let config = PairConfig { name: name.as_bytes(), buffer_bytes: BUFFER_BYTES, filler_bytes };
        let made = pair::pair(&config)
            .and_then(|pair| poll.add_once_for_each(&pair.0, socket_token(number)).map(|()| pair));
        let (own, program) = made.inspect_err(|error| {
            let error = error.raw_os_error().and_then(|number| u16::try_from(number).ok());
            if let Some(number) = error {
                self.note_error(Errno(number));
            }
        })?;
        self.ends.insert(number, ProgramEnd::new(own));
        // What came before there was a pair has been told of to nobody.
        self.to_write.insert(number);
        Ok(program)
    }

    /// Makes the pair of a socket that a program has asked for.
    pub(crate) fn open(
        &mut self,
        number: SocketNumber,
        wish: OpenRequest,
        poll: &Poll,
    ) -> io::Result<OwnedFd> {
        self.make(number, poll, wish.style == Style::OneToMany)
    }

    /// Notes why a socket or a port could not be had: that no more files may be opened is said.
    pub(crate) fn note_error(&mut self, error: Errno) {
        if FILES.contains(&error) {
            self.shortage.note();
        }
    }

    /// Takes what is to be said, each once.
    pub(crate) fn take_sayings(&mut self) -> impl Iterator<Item = &'static str> {
        [&mut self.shortage, &mut self.strangers].into_iter().filter_map(Saying::take)
    }

    /// Number of sockets that programs hold.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Tells if something is left to do without anything new.
    pub(crate) fn is_busy(&self) -> bool {
        !self.to_read.is_empty() || self.has_to_write()
    }

    /// Tells if something is to be written to programs.
    pub(crate) fn has_to_write(&self) -> bool {
        !self.to_write.is_empty()
    }

    /// Sockets whose programs may ask something in the next turn.
    pub(crate) fn asking(&self) -> impl Iterator<Item = SocketNumber> {
        self.to_read.iter().copied()
    }

    /// Notes that a program has closed its end in all its processes. Something has come of it as well.
    pub(crate) fn note_closed(&mut self, number: SocketNumber) {
        self.closed.insert(number);
    }

    /// Notes that something has come of a pair, or that there is room in it.
    pub(crate) fn note_ready(&mut self, number: SocketNumber) {
        self.to_read.insert(number);
        if self.ends.get(&number).is_some_and(ProgramEnd::has_unsent) {
            self.to_write.insert(number);
        }
    }

    /// Notes what is told of a socket.
    pub(crate) fn note_news(&mut self, number: SocketNumber, news: News, poll: &Poll) {
        if let News::Replied(token, answer) = news {
            self.reply(token, &answer, poll);
            return;
        }
        let Some(end) = self.ends.get_mut(&number) else { return };
        match news {
            News::Connected | News::Failed(_) => {
                // What has been read behind the filler goes with it; an error is told by the next read.
                let _ = end.own.clear();
                self.to_read.insert(number);
            }
            News::Ended => {
                let _ = end.own.clear();
                let _ = end.end();
                self.to_read.insert(number);
            }
            News::Readable => {
                self.to_write.insert(number);
            }
            News::Writable => {
                end.is_full = false;
                self.to_read.insert(number);
            }
            News::Replied(..) => {}
        }
    }

    /// Reads the pairs that programs have closed, to their ends: one binds the port of a socket that it has just
    /// closed. `true` if packets are to pass before others are read.
    pub(crate) fn serve_closed(&mut self, station: &mut Station<Sockets>, now: Instant, poll: &Poll) -> bool {
        for number in std::mem::take(&mut self.closed) {
            self.to_read.remove(&number);
            self.read(number, usize::MAX, station, now, poll);
        }
        std::mem::take(&mut self.has_ended)
    }

    /// Reads and writes, a budget for each pair. Those that are closed come first, and behind one that is found to be
    /// closed, packets.
    pub(crate) fn serve(&mut self, station: &mut Station<Sockets>, now: Instant, poll: &Poll) {
        self.has_ended = self.serve_closed(station, now, poll);
        let mut to_read = std::mem::take(&mut self.to_read);
        while !self.has_ended
            && let Some(number) = to_read.pop_first()
        {
            self.read(number, BUDGET, station, now, poll);
        }
        self.to_read.append(&mut to_read);
        self.write_all(station, now, poll);
    }

    /// Writes to programs, a budget for each pair.
    pub(crate) fn write_all(&mut self, station: &mut Station<Sockets>, now: Instant, poll: &Poll) {
        for number in std::mem::take(&mut self.to_write) {
            self.write(number, station, now, poll);
        }
    }

    fn read(
        &mut self,
        number: SocketNumber,
        budget: usize,
        station: &mut Station<Sockets>,
        now: Instant,
        poll: &Poll,
    ) {
        while let Some(piece) = self.ends.get_mut(&number).and_then(ProgramEnd::next_held) {
            match piece {
                Held::Data(header, bytes) => self.take(number, station, now, header, &bytes),
                Held::Request(token, request) => self.ask(number, station, now, (token, request), poll),
            }
        }
        let mut place = std::mem::take(&mut self.place);
        for turn in 0.. {
            let Some(end) = self.ends.get_mut(&number) else { break };
            if !end.is_to_be_read() {
                break;
            }
            if turn == budget {
                self.to_read.insert(number);
                break;
            }
            match end.own.receive(&mut place, &mut self.beside) {
                Ok(ReceivedPiece::Piece(length)) => self.piece(number, station, now, &place[..length], poll),
                Ok(ReceivedPiece::Nothing) => break,
                Ok(ReceivedPiece::ClosedUnread) => end.was_unread = true,
                Ok(ReceivedPiece::End) | Err(_) => end.note_closed(now),
            }
            self.beside.clear();
        }
        self.place = place;
        self.close_if_over(number, station, now);
    }

    /// Closes a socket whose program has closed its pair, once all that came of it has been taken.
    fn close_if_over(&mut self, number: SocketNumber, station: &mut Station<Sockets>, now: Instant) {
        let Some(end) = self.ends.get(&number) else { return };
        let closing = end.closing();
        let waits = end.is_holding() && closing == slantpath_sockets::Closing::InOrder;
        if end.is_closed && !waits {
            self.ends.remove(&number);
            self.has_ended = true;
            self.replies.retain(|_, (of, _)| *of != number);
            station.program.close(now, &mut station.host, number, closing);
        }
    }

    fn piece(
        &mut self,
        number: SocketNumber,
        station: &mut Station<Sockets>,
        now: Instant,
        piece: &[u8],
        poll: &Poll,
    ) {
        let Some(end) = self.ends.get_mut(&number) else { return };
        let Ok((header, bytes)) = FromProgram::decode(piece) else {
            // A door of another version has been refused: this is no door, and gets no answer.
            self.strangers.note();
            return;
        };
        end.note(&header, now);
        match header {
            FromProgram::Closing => {}
            FromProgram::Accepted => station.program.accepted(&mut station.host, number),
            FromProgram::Data { .. } if end.is_holding() => {
                end.hold(Held::Data(header, Bytes::copy_from_slice(bytes)));
            }
            FromProgram::Data { .. } => self.take(number, station, now, header, bytes),
            FromProgram::Request => {
                let (Some(taker), Ok(request)) = (self.beside.pop(), requests::Request::decode(bytes)) else {
                    return;
                };
                let port = station.program.port_named(number, &request);
                // Those of the program that asks, whatever the daemon may do itself.
                if port.is_some_and(|port| port < self.first_free_port)
                    && !rights::maker_may_have_all_ports(&taker).unwrap_or(false)
                {
                    let _ = pair::send(&taker, &[IoSlice::new(&Reply::failed(Errno::EACCES).encode())], None);
                    return;
                }
                self.last_token += 1;
                let token = Token(self.last_token);
                self.replies.insert(token, (number, taker));
                if end.is_settling || end.is_holding() && !asks_alone(&request) {
                    end.hold(Held::Request(token, request));
                } else {
                    self.ask(number, station, now, (token, request), poll);
                }
            }
        }
    }

    fn take(
        &mut self,
        number: SocketNumber,
        station: &mut Station<Sockets>,
        now: Instant,
        header: FromProgram,
        bytes: &[u8],
    ) {
        match station.program.take(now, &mut station.host, number, header, bytes) {
            Taken::Full => {
                if let Some(end) = self.ends.get_mut(&number) {
                    end.is_full = true;
                }
            }
            Taken::Ended => {
                if let Some(end) = self.ends.get_mut(&number) {
                    end.is_settling = true;
                    self.settling.insert(number);
                }
            }
            // The program has asked before, or finds the end of its association by the next call.
            Taken::Taken | Taken::Refused(_) => {}
        }
    }

    fn ask(
        &mut self,
        number: SocketNumber,
        station: &mut Station<Sockets>,
        now: Instant,
        (token, request): (Token, requests::Request),
        poll: &Poll,
    ) {
        self.lint.look(&request);
        let answer = station.program.request(now, &mut station.host, number, token, &request);
        let Some(answer) = answer else { return };
        if answer.reply.error == Some(Errno::EINPROGRESS) || matches!(request, requests::Request::Shutdown(_))
        {
            self.late.push((token, answer));
        } else {
            self.reply(token, &answer, poll);
        }
    }

    /// Tells if answers or pieces wait until packets to this machine itself have passed.
    pub(crate) fn has_late(&self) -> bool {
        !self.late.is_empty() || !self.settling.is_empty()
    }

    /// Gives the answers that have waited, and has the pieces read.
    pub(crate) fn answer_late(&mut self, poll: &Poll) {
        for number in std::mem::take(&mut self.settling) {
            if let Some(end) = self.ends.get_mut(&number) {
                end.is_settling = false;
                self.to_read.insert(number);
            }
        }
        for (token, answer) in std::mem::take(&mut self.late) {
            self.reply(token, &answer, poll);
        }
    }

    fn reply(&mut self, token: Token, answer: &Answered, poll: &Poll) {
        let Some((_, taker)) = self.replies.remove(&token) else { return };
        let peeled = answer.socket.map(|socket| self.make(socket, poll, true));
        let (reply, beside) = match peeled {
            None => (answer.reply.encode(), None),
            Some(Ok(program)) => (answer.reply.encode(), Some(program)),
            // Its association ends with the daemon.
            Some(Err(_)) => (Reply::failed(Errno::EMFILE).encode(), None),
        };
        // Who has asked and does not wait any more has no need of it.
        let _ = pair::send(&taker, &[IoSlice::new(&reply)], beside.as_ref().map(|beside| beside.as_fd()));
    }

    fn write(&mut self, number: SocketNumber, station: &mut Station<Sockets>, now: Instant, poll: &Poll) {
        let mut has_room = match self.ends.get_mut(&number) {
            Some(end) => flushed(end),
            None => return,
        };
        for turn in 0.. {
            if !has_room {
                break;
            }
            if turn == BUDGET {
                self.to_write.insert(number);
                break;
            }
            let Some(piece) = station.program.next(now, &mut station.host, number) else { break };
            let ForProgram { header, bytes, socket } = piece;
            let beside = match socket.map(|socket| (socket, self.make(socket, poll, true))) {
                None => None,
                Some((_, Ok(program))) => Some(program),
                Some((socket, Err(_))) => {
                    // There is no descriptor for it: its peer is told at once.
                    let killed = slantpath_sockets::Closing::Killed;
                    station.program.close(now, &mut station.host, socket, killed);
                    continue;
                }
            };
            let Some(end) = self.ends.get_mut(&number) else { break };
            end.has_messages |= matches!(header, ToProgram::Data { .. });
            has_room = end.write(header.header(), bytes, beside).unwrap_or_else(|_| {
                end.forget_unsent();
                true
            });
        }
        if let Some(end) = self.ends.get_mut(&number)
            && end.waits_for_room != end.has_unsent()
        {
            end.waits_for_room = end.has_unsent();
            // One that cannot be waited for has ended, which is told of by a read.
            let _ = poll.wait_for_room_once(&end.own, socket_token(number), end.waits_for_room);
        }
    }
}

/// Errors of who has no more files: `EMFILE`, `ENFILE`, and `ETOOMANYREFS` of descriptors under way.
const FILES: [Errno; 3] = [Errno::EMFILE, Errno(23), Errno(109)];

/// Writes what had no room; what cannot be written any more is forgotten.
fn flushed(end: &mut ProgramEnd) -> bool {
    end.flush().unwrap_or_else(|_| {
        end.forget_unsent();
        true
    })
}

/// Tells if a request changes nothing, so that it may be answered before messages that wait have been taken.
fn asks_alone(request: &requests::Request) -> bool {
    matches!(
        request,
        requests::Request::GetOption { .. }
            | requests::Request::LocalName
            | requests::Request::PeerName
            | requests::Request::Ended { .. }
            | requests::Request::MaySend { .. }
            | requests::Request::MayEnd { .. }
    )
}
