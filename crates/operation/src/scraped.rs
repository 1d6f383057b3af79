//! Figures for Prometheus: `GET /metrics` over HTTP, an answer a connection.
//!
//! The program that runs is never held up. A look reads and writes what the kernel takes at once, and no more than a
//! bound for each client. A client has a time from its coming to its end, and only so many have room: a newcomer takes
//! the place of the oldest. Figures are collected at most once a second, however many ask.

mod request;

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;

use slantpath_base::{Duration, Instant};

use request::{Asked, HEAD_MAX, asked};

/// Socket at which figures are asked for, with its clients.
#[derive(Debug)]
pub struct ScrapeSocket {
    listener: TcpListener,
    /// Clients, oldest first.
    clients: VecDeque<ScrapeClient>,
    /// Figures that were collected last, with the instant.
    figures: Option<(Instant, Rc<[u8]>)>,
}

#[derive(Debug)]
struct ScrapeClient {
    stream: TcpStream,
    /// Instant by which it has to be done.
    until: Instant,
    stage: Stage,
}

/// Stage of a connection, which has one request and one answer.
#[derive(Debug)]
enum Stage {
    /// The head of the request has come so far.
    Asking(Vec<u8>),
    /// Parts of the answer, and the bytes of the first that were sent.
    Answering {
        parts: VecDeque<Rc<[u8]>>,
        sent: usize,
    },
    /// The answer is out: the client has its time to take it. What it says is thrown away.
    Answered,
    Over,
}

/// Clients at one time, at most.
const CLIENTS_MAX: usize = 8;
/// Time that a client has from its coming to the end of its answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Age up to which figures are given once more.
const FRESH: Duration = Duration::from_secs(1);
/// Bytes that are read of a client in one look, at most.
const READ_BYTES: usize = 4_096;
/// Bytes that are written to a client in one look, at most.
const WRITE_BYTES: usize = 262_144;
/// Format of the figures: Prometheus's text, version 0.0.4.
const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

impl ScrapeSocket {
    /// Listens there.
    ///
    /// # Errors
    /// If the system refuses it.
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, clients: VecDeque::new(), figures: None })
    }

    /// Address at which it listens, with the port that the system has chosen if none was asked for.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Lets clients in, and answers what they ask by what `collect` gives.
    pub fn look(&mut self, now: Instant, collect: &mut dyn FnMut() -> String) {
        self.let_in(now);
        let Self { clients, figures, .. } = self;
        let mut fresh = || match figures {
            Some((at, figures)) if now.saturating_since(*at) < FRESH => Rc::clone(figures),
            _ => {
                let collected: Rc<[u8]> = collect().into_bytes().into();
                *figures = Some((now, Rc::clone(&collected)));
                collected
            }
        };
        for client in &mut *clients {
            client.serve(now, &mut fresh);
        }
        clients.retain(|client| !matches!(client.stage, Stage::Over));
    }

    fn let_in(&mut self, now: Instant) {
        // No more than there is room for: a crowd at the door does not hold the program up.
        for _ in 0..CLIENTS_MAX {
            let Ok((stream, _)) = self.listener.accept() else { break };
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            if self.clients.len() >= CLIENTS_MAX {
                self.clients.pop_front();
            }
            let until = now.saturating_add(PATIENCE);
            self.clients.push_back(ScrapeClient { stream, until, stage: Stage::Asking(Vec::new()) });
        }
    }
}

impl ScrapeClient {
    /// Reads what has come, and sends what is to be told.
    fn serve(&mut self, now: Instant, figures: &mut dyn FnMut() -> Rc<[u8]>) {
        if now >= self.until {
            self.stage = Stage::Over;
            return;
        }
        let mut bytes = [0; READ_BYTES];
        match (self.stream.read(&mut bytes), &mut self.stage) {
            (Ok(0), Stage::Asking(_) | Stage::Answered) => self.stage = Stage::Over,
            (Ok(read), Stage::Asking(head)) => {
                head.extend_from_slice(&bytes[..read]);
                if let Some(parts) = answer(head, figures) {
                    self.stage = Stage::Answering { parts, sent: 0 };
                }
            }
            // One that has said all it will may still listen.
            (Ok(_), _) => {}
            (Err(error), _) if is_for_later(&error) => {}
            (Err(_), _) => self.stage = Stage::Over,
        }
        self.send();
    }

    fn send(&mut self) {
        let mut room = WRITE_BYTES;
        while let Stage::Answering { parts, sent } = &mut self.stage {
            let Some(part) = parts.front() else {
                // The kernel throws away what a client has not read if its own words are unread here: it is to hang up.
                self.stage = match self.stream.shutdown(Shutdown::Write) {
                    Ok(()) => Stage::Answered,
                    Err(_) => Stage::Over,
                };
                return;
            };
            let rest = &part[*sent..];
            if rest.is_empty() {
                parts.pop_front();
                *sent = 0;
                continue;
            }
            if room == 0 {
                return;
            }
            match self.stream.write(&rest[..rest.len().min(room)]) {
                Ok(written) => (*sent, room) = (*sent + written, room - written),
                Err(error) if is_for_later(&error) => return,
                Err(_) => self.stage = Stage::Over,
            }
        }
    }
}

/// Answer to a head, once that is whole.
fn answer(head: &[u8], figures: &mut dyn FnMut() -> Rc<[u8]>) -> Option<VecDeque<Rc<[u8]>>> {
    let (status, body) = match asked(head)? {
        Asked::Figures { with_body } => {
            let figures = figures();
            let head = head_of("200 OK", FORMAT, figures.len());
            return Some(std::iter::once(head).chain(with_body.then_some(figures)).collect());
        }
        Asked::Elsewhere => ("404 Not Found", "figures are at /metrics\n".to_owned()),
        Asked::NoReading => ("405 Method Not Allowed\r\nAllow: GET, HEAD", "write GET /metrics\n".to_owned()),
        Asked::TooLong => {
            ("431 Request Header Fields Too Large", format!("a request has at most {HEAD_MAX} bytes\n"))
        }
        Asked::Nonsense => ("400 Bad Request", "this is no request of HTTP\n".to_owned()),
    };
    let head = head_of(status, "text/plain; charset=utf-8", body.len());
    Some([head, body.into_bytes().into()].into())
}

fn head_of(status: &str, kind: &str, length: usize) -> Rc<[u8]> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    head.into_bytes().into()
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests;
