//! The socket by which a running network is controlled: clients, their lines, and what they are told.
//!
//! It is looked at between two turns of the network, and nothing waits for a client. What one does not read is held
//! for it up to a limit. One that is told more while it has that much to read is dropped, and costs nothing any more.
//! So one answer may have any length: a status of thousands of links has.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use slantpath_control::{Command, ControlAnswer, ControlEvent, Lines, Refusal};
use slantpath_system::local::listen;

/// Why a socket for control is not opened.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// Somebody listens there.
    #[error("{path}: another run is controlled there: name another path")]
    InUse {
        /// Path of the socket.
        path: PathBuf,
    },
    /// Something else has that name.
    #[error("{path}: this is no socket, and stays: name another path")]
    NoSocket {
        /// Path that was given.
        path: PathBuf,
    },
    /// The system refuses it.
    #[error("{path}: {error}")]
    System {
        /// Path of the socket.
        path: PathBuf,
        /// Reason for which it is refused.
        error: io::Error,
    },
}

/// Socket at a path, with its clients.
#[derive(Debug)]
pub struct ControlSocket {
    listener: UnixListener,
    path: PathBuf,
    /// Device and number of the file, by which it is known that the path is still this socket's.
    file: (u64, u64),
    clients: BTreeMap<u64, Client>,
    /// Number of clients that there have been.
    count: u64,
}

#[derive(Debug)]
struct Client {
    stream: UnixStream,
    lines: Lines,
    /// Bytes that the client has not taken.
    untaken: Vec<u8>,
    hears_events: bool,
    /// True once it has left, or is to leave.
    is_over: bool,
}

/// Clients at one time, at most.
const CLIENTS_MAX: usize = 16;
/// Bytes that are held for a client that is told more, at most.
const UNTAKEN_MAX: usize = 262_144;
/// Bytes that are read of a client before others have their turn.
const READ_BYTES: usize = 4_096;

impl ControlSocket {
    /// Opens a socket that only its owner may use. One that nobody listens at any more is replaced.
    ///
    /// # Errors
    /// If somebody listens there, something else has that name, or the system refuses it.
    pub fn open(path: &Path) -> Result<Self, ControlError> {
        let refused = |error| ControlError::System { path: path.to_owned(), error };
        match fs::symlink_metadata(path) {
            Ok(found) if !found.file_type().is_socket() => {
                return Err(ControlError::NoSocket { path: path.to_owned() });
            }
            Ok(_) => match UnixStream::connect(path) {
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                    fs::remove_file(path).map_err(refused)?;
                }
                Ok(_) => return Err(ControlError::InUse { path: path.to_owned() }),
                Err(error) => return Err(refused(error)),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(refused(error)),
        }
        let listener = listen(path).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let file = file_of(path).map_err(refused)?;
        Ok(Self { listener, path: path.to_owned(), file, clients: BTreeMap::new(), count: 0 })
    }

    /// Descriptor that can be read when a client comes: [`look`](Self::look) then.
    pub fn woken(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Lets clients in, and has `answer` answer what they ask. Gives the numbers of clients that have come: something
    /// has to wake the network when they [ask](Self::client).
    pub fn look(&mut self, answer: &mut dyn FnMut(Command) -> ControlAnswer) -> Vec<u64> {
        let come = self.let_in();
        for client in self.clients.values_mut() {
            client.serve(answer);
        }
        self.clients.retain(|_, client| !client.is_over);
        come
    }

    /// Descriptor that can be read when a client asks.
    pub fn client(&self, number: u64) -> Option<BorrowedFd<'_>> {
        self.clients.get(&number).map(|client| client.stream.as_fd())
    }

    /// Tells everybody who has asked for events of one.
    pub fn tell(&mut self, event: &ControlEvent) {
        let mut line = None;
        for client in self.clients.values_mut().filter(|client| client.hears_events && !client.is_over) {
            let line = line.get_or_insert_with(|| ControlAnswer::Event(event.to_json()).to_line());
            client.send(line);
        }
    }

    /// Tells if anybody has asked for events.
    pub fn is_heard(&self) -> bool {
        self.clients.values().any(|client| client.hears_events && !client.is_over)
    }

    /// Tells if nobody who has asked for events has much left to read. For whoever has many to tell at one time.
    pub fn has_room(&self) -> bool {
        let mut hearing = self.clients.values().filter(|client| client.hears_events);
        hearing.all(|client| client.untaken.len() <= UNTAKEN_MAX / 2)
    }

    fn let_in(&mut self) -> Vec<u64> {
        let mut come = Vec::new();
        // No more than there is room for: a crowd at the door does not hold the network up.
        for _ in 0..CLIENTS_MAX {
            let Ok((stream, _)) = self.listener.accept() else { break };
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            let mut client = Client {
                stream,
                lines: Lines::default(),
                untaken: Vec::new(),
                hears_events: false,
                is_over: false,
            };
            if self.clients.len() >= CLIENTS_MAX {
                let refusal = Refusal::new(format!("there are {CLIENTS_MAX} clients already"));
                client.send(&ControlAnswer::Refused(refusal.help("come when another has left")).to_line());
                continue;
            }
            self.clients.insert(self.count, client);
            come.push(self.count);
            self.count += 1;
        }
        come
    }
}

impl Client {
    /// Reads what has come, and sends what is to be told.
    fn serve(&mut self, answer: &mut dyn FnMut(Command) -> ControlAnswer) {
        let mut bytes = [0; READ_BYTES];
        let read = match self.stream.read(&mut bytes) {
            Ok(0) => {
                self.is_over = true;
                return;
            }
            Ok(read) => read,
            Err(error) if is_for_later(&error) => 0,
            Err(_) => {
                self.is_over = true;
                return;
            }
        };
        let (mut told, mut hears_events) = (String::new(), self.hears_events);
        self.lines.push(&bytes[..read], &mut |line| {
            // Who asks on and on without reading has the length of one answer beyond the limit, not of all.
            if told.len() > UNTAKEN_MAX {
                self.is_over = true;
                return;
            }
            let answer = match Command::parse(line) {
                Ok(Command::Events(is_wanted)) => {
                    hears_events = is_wanted;
                    ControlAnswer::Done(is_wanted.into())
                }
                Ok(command) => answer(command),
                Err(refusal) => ControlAnswer::Refused(refusal),
            };
            told.push_str(&answer.to_line());
        });
        self.hears_events = hears_events;
        self.send(&told);
    }

    /// Sends a string behind what is still to be taken.
    fn send(&mut self, text: &str) {
        if !text.is_empty() && self.untaken.len() > UNTAKEN_MAX {
            self.is_over = true;
            return;
        }
        self.untaken.extend_from_slice(text.as_bytes());
        while !self.untaken.is_empty() {
            match self.stream.write(&self.untaken) {
                Ok(written) => drop(self.untaken.drain(..written)),
                Err(error) if is_for_later(&error) => break,
                Err(_) => {
                    self.is_over = true;
                    break;
                }
            }
        }
    }
}

impl Drop for ControlSocket {
    /// Takes the path away, unless it is another's by now.
    fn drop(&mut self) {
        if file_of(&self.path).is_ok_and(|file| file == self.file) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn file_of(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests;
