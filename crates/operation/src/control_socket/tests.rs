use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;

use super::*;

/// A path of a test, which is free.
struct Free(PathBuf);

impl Free {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("slantpath-control-{test}-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        Self(path)
    }

    fn open(&self) -> ControlSocket {
        ControlSocket::open(&self.0).unwrap()
    }

    fn client(&self) -> BufReader<UnixStream> {
        let stream = UnixStream::connect(&self.0).unwrap();
        stream.set_nonblocking(true).unwrap();
        BufReader::new(stream)
    }
}

impl Drop for Free {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn told(client: &mut BufReader<UnixStream>) -> String {
    let mut line = String::new();
    client.read_line(&mut line).unwrap();
    line
}

fn void() -> ControlEvent {
    ControlEvent::Void { at_s: 1.0, reason: "late".to_owned() }
}

#[test]
fn each_client_is_answered_in_order_however_its_lines_are_cut() {
    let free = Free::new("answers");
    let mut socket = free.open();
    let (mut one, mut other) = (free.client(), free.client());
    let mut asked = Vec::new();
    one.get_mut().write_all(b"{\"status\":{}}\n{\"stop\":").unwrap();
    other.get_mut().write_all(b"nonsense\n").unwrap();
    let mut look = |socket: &mut ControlSocket| {
        socket.look(&mut |command| {
            asked.push(command);
            ControlAnswer::Done(asked.len().into())
        })
    };
    assert_eq!(look(&mut socket), [0, 1]);
    assert!(socket.client(1).is_some());
    one.get_mut().write_all(b"{}}\n").unwrap();
    assert_eq!(look(&mut socket), [0_u64; 0]);
    assert_eq!(asked, [Command::Status, Command::Stop]);
    assert_eq!([told(&mut one), told(&mut one)], ["{\"ok\":1}\n", "{\"ok\":2}\n"]);
    assert!(told(&mut other).starts_with("{\"error\":{\"help\":\"a command is a line like"));
    drop(one);
    socket.look(&mut |_| unreachable!("nobody asks"));
    assert_eq!((socket.client(0).is_none(), socket.client(1).is_some()), (true, true));
}

#[test]
fn events_are_told_to_those_who_asked_for_them() {
    let free = Free::new("events");
    let mut socket = free.open();
    let (mut one, mut other) = (free.client(), free.client());
    one.get_mut().write_all(b"{\"events\":true}\n").unwrap();
    socket.look(&mut |_| unreachable!("the socket answers this itself"));
    socket.tell(&void());
    assert_eq!(told(&mut one), "{\"ok\":true}\n");
    assert_eq!(told(&mut one), "{\"event\":{\"at_s\":1.0,\"reason\":\"late\",\"type\":\"void\"}}\n");
    let mut line = String::new();
    assert_eq!(other.read_line(&mut line).unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn a_client_that_reads_nothing_is_dropped() {
    let free = Free::new("mute");
    let mut socket = free.open();
    let mut client = free.client();
    client.get_mut().write_all(b"{\"events\":true}\n").unwrap();
    socket.look(&mut |_| unreachable!("the socket answers this itself"));
    for _ in 0..100_000 {
        socket.tell(&void());
        assert!(socket.clients[&0].untaken.len() < UNTAKEN_MAX + 1_000);
    }
    socket.look(&mut |_| unreachable!("nobody asks"));
    assert!(socket.client(0).is_none());
}

#[test]
fn who_has_many_to_tell_waits_for_a_client_that_reads_slowly() {
    let free = Free::new("slow");
    let mut socket = free.open();
    assert_eq!((socket.is_heard(), socket.has_room()), (false, true));
    let (mut one, _other) = (free.client(), free.client());
    one.get_mut().write_all(b"{\"events\":true}\n").unwrap();
    socket.look(&mut |_| unreachable!("the socket answers this itself"));
    assert!(socket.is_heard());
    let mut told = 0;
    while socket.has_room() {
        socket.tell(&void());
        told += 1;
    }
    assert!(told > UNTAKEN_MAX / 2 / 100, "{told}");
    let mut read = 0;
    while read < told + 1 {
        let mut line = String::new();
        match one.read_line(&mut line) {
            Ok(_) => read += 1,
            // What is held for it is sent on at the next look.
            Err(_) => drop(socket.look(&mut |_| unreachable!("nobody asks"))),
        }
    }
    assert!(socket.has_room());
    drop(one);
    socket.look(&mut |_| unreachable!("nobody asks"));
    assert!(!socket.is_heard());
}

#[test]
fn an_answer_may_be_longer_than_what_is_held_and_one_that_asks_on_without_reading_is_dropped() {
    let free = Free::new("long");
    let mut socket = free.open();
    let long = "x".repeat(4 * UNTAKEN_MAX);
    let look = |socket: &mut ControlSocket| {
        let mut count = 0;
        socket.look(&mut |_| {
            count += 1;
            ControlAnswer::Done(long.as_str().into())
        });
        count
    };
    let (mut reader, mut other) = (free.client(), free.client());
    reader.get_mut().write_all(b"{\"status\":{}}\n").unwrap();
    assert_eq!(look(&mut socket), 1);
    let (mut line, mut looks) = (Vec::new(), 0);
    while reader.read_until(b'\n', &mut line).is_err() {
        assert_eq!(look(&mut socket), 0);
        looks += 1;
        assert!(looks < 1_000, "{} bytes have come", line.len());
    }
    assert_eq!(line.len(), long.len() + "{\"ok\":\"\"}\n".len());
    other.get_mut().write_all(&b"{\"status\":{}}\n".repeat(9)).unwrap();
    assert_eq!(look(&mut socket), 1);
    assert_eq!((socket.client(0).is_some(), socket.client(1).is_some()), (true, false));
}

#[test]
fn clients_beyond_the_most_are_told_so() {
    let free = Free::new("crowd");
    let mut socket = free.open();
    let clients: Vec<_> = (0..CLIENTS_MAX).map(|_| free.client()).collect();
    assert_eq!(socket.look(&mut |_| unreachable!("nobody asks")).len(), CLIENTS_MAX);
    let mut more = free.client();
    assert_eq!(socket.look(&mut |_| unreachable!("nobody asks")).len(), 0);
    assert!(told(&mut more).contains("there are 16 clients already"));
    drop(clients);
    socket.look(&mut |_| unreachable!("nobody asks"));
    let _last = free.client();
    assert_eq!(socket.look(&mut |_| unreachable!("nobody asks")), [16]);
}

#[test]
fn a_path_is_taken_if_nobody_listens_there_and_given_back() {
    let free = Free::new("path");
    let socket = free.open();
    assert_eq!(fs::metadata(&free.0).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(matches!(ControlSocket::open(&free.0), Err(ControlError::InUse { .. })));
    drop(socket);
    assert!(!free.0.exists());
    // One whose run was killed leaves its path behind.
    drop(UnixListener::bind(&free.0).unwrap());
    let socket = free.open();
    fs::remove_file(&free.0).unwrap();
    fs::write(&free.0, "a file").unwrap();
    drop(socket);
    assert!(matches!(ControlSocket::open(&free.0), Err(ControlError::NoSocket { .. })));
    assert_eq!(fs::read_to_string(&free.0).unwrap(), "a file");
}
