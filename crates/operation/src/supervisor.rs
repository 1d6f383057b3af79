//! Messages to a service manager, as systemd has them for `Type=notify`: one datagram each, to the socket that it names
//! in the environment. Nobody waits for an answer.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use slantpath_base::{Duration, Instant};

/// Service manager that has started the program and waits for its word.
#[derive(Debug)]
pub struct Supervisor {
    socket: UnixDatagram,
    address: SocketAddr,
    watchdog: Option<Watchdog>,
}

/// Signs of life that the manager waits for.
#[derive(Debug)]
struct Watchdog {
    every: Duration,
    next: Instant,
}

impl Supervisor {
    /// The manager that the environment names; none if it names none.
    ///
    /// # Errors
    /// If its socket has a name of no known form, or the system refuses one of ours.
    pub fn of_environment() -> io::Result<Option<Self>> {
        let Some(name) = std::env::var_os("NOTIFY_SOCKET").filter(|name| !name.is_empty()) else {
            return Ok(None);
        };
        let number = |key: &str| std::env::var(key).ok()?.parse::<u64>().ok();
        // It is meant for the process that it names.
        let is_ours = std::env::var_os("WATCHDOG_PID").is_none()
            || number("WATCHDOG_PID") == Some(u64::from(std::process::id()));
        let patience = number("WATCHDOG_USEC").filter(|_| is_ours).map(Duration::from_micros);
        Self::at(&name, patience).map(Some)
    }

    /// The manager at a socket of that name: a path, or an abstract name behind `@`. It ends a program that gives no
    /// sign of life for the time of its patience.
    ///
    /// # Errors
    /// If the name has another form, or the system refuses a socket.
    pub fn at(name: &OsStr, patience: Option<Duration>) -> io::Result<Self> {
        let address = match name.as_bytes() {
            [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
            [b'/', ..] => SocketAddr::from_pathname(name)?,
            _ => {
                let name = name.display();
                let message = format!("NOTIFY_SOCKET is {name}: neither a whole path nor an abstract name");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
        };
        let socket = UnixDatagram::unbound()?;
        socket.set_nonblocking(true)?;
        // Half of the time, so that one that is late does not count.
        let every = patience.map(|patience| patience / 2).filter(|every| *every > Duration::ZERO);
        let watchdog = every.map(|every| Watchdog { every, next: Instant::START });
        Ok(Self { socket, address, watchdog })
    }

    /// The program serves from now on, as `status` says in words.
    ///
    /// # Errors
    /// If the manager does not hear it.
    pub fn ready(&self, status: &str) -> io::Result<()> {
        // A line is a message of its own.
        let status = status.replace('\n', " ");
        self.tell(&format!("READY=1\nSTATUS={status}"))
    }

    /// The program has been asked to end, and does so.
    ///
    /// # Errors
    /// If the manager does not hear it.
    pub fn stopping(&self) -> io::Result<()> {
        self.tell("STOPPING=1")
    }

    /// Gives a sign of life if it is time to. One that the manager has no room for is given in the next look.
    pub fn look(&mut self, now: Instant) {
        if let Some(watchdog) = &self.watchdog
            && watchdog.next <= now
            && self.tell("WATCHDOG=1").is_ok()
            && let Some(watchdog) = &mut self.watchdog
        {
            watchdog.next = now.saturating_add(watchdog.every);
        }
    }

    fn tell(&self, message: &str) -> io::Result<()> {
        self.socket.send_to_addr(message.as_bytes(), &self.address).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    /// Socket of a manager, with its name.
    fn manager(name: &str) -> (UnixDatagram, OsString) {
        let name = OsString::from(format!("{name}-{}", std::process::id()));
        let socket = if let [b'@', rest @ ..] = name.as_bytes() {
            UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(rest).unwrap()).unwrap()
        } else {
            let _ = std::fs::remove_file(&name);
            UnixDatagram::bind(&name).unwrap()
        };
        socket.set_nonblocking(true).unwrap();
        (socket, name)
    }

    fn heard(manager: &UnixDatagram) -> Option<String> {
        let mut bytes = [0; 512];
        let length = manager.recv(&mut bytes).ok()?;
        Some(String::from_utf8(bytes[..length].to_vec()).unwrap())
    }

    #[test]
    fn a_manager_hears_under_either_kind_of_name() {
        let path = std::env::temp_dir().join("slantpath-notify");
        for name in [path.to_str().unwrap(), "@slantpath-notify"] {
            let (manager, name) = manager(name);
            let supervisor = Supervisor::at(&name, None).unwrap();
            supervisor.ready("serves\nLONDON=1").unwrap();
            supervisor.stopping().unwrap();
            assert_eq!(heard(&manager).as_deref(), Some("READY=1\nSTATUS=serves LONDON=1"));
            assert_eq!(heard(&manager).as_deref(), Some("STOPPING=1"));
            let _ = std::fs::remove_file(&name);
        }
        assert!(Supervisor::at(OsStr::new("vsock:2:1"), None).is_err());
        let nobody = Supervisor::at(OsStr::new("@slantpath-nobody"), None).unwrap();
        assert!(nobody.stopping().is_err());
    }

    #[test]
    fn signs_of_life_are_given_at_half_of_the_time() {
        let (manager, name) = manager("@slantpath-watchdog");
        let mut supervisor = Supervisor::at(&name, Some(Duration::from_secs(2))).unwrap();
        for (millis, wanted) in [(0, true), (999, false), (1_000, true), (1_500, false), (5_000, true)] {
            supervisor.look(Instant::from_millis(millis));
            assert_eq!(heard(&manager).is_some_and(|word| word == "WATCHDOG=1"), wanted, "{millis}");
        }
        let mut without = Supervisor::at(&name, None).unwrap();
        without.look(Instant::from_secs(9));
        assert_eq!(heard(&manager), None);
    }
}
