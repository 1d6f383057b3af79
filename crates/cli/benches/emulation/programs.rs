//! Programs at both ends of what is measured: this benchmark's own executable, started there.

use std::fs;
use std::io::{IoSliceMut, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrStorage, TimestampingFlag, recvmsg, setsockopt, sockopt,
};
use nix::sys::time::TimeSpec;
use slantpath_system::clock::{TimerFd, monotonic, rest, set_timer_slack};
use slantpath_system::poll::Poll;

/// Port of the far end.
pub(crate) const PORT: u16 = 7_000;
/// Number of the packet after which a receiver has done.
const LAST: u64 = u64::MAX;
/// Time after which a receiver gives up.
const PATIENCE: Duration = Duration::from_secs(20);
const SECOND: Duration = Duration::from_secs(1);

/// Runs the program that the words name.
pub(crate) fn run(words: &[&str]) {
    let number = |place: usize| words[place].parse::<u64>().unwrap();
    match words[0] {
        "receive" => receive(Path::new(words[1])),
        "send" => {
            send([number(1), number(2), number(3)], Path::new(words[4]), words[5], words[6] == "stamped");
        }
        "sink" => sink(Path::new(words[1])),
        "source" => source(number(1), words[2]),
        "spin" => spin(number(1)),
        "timer" => timer(number(1)),
        other => panic!("nothing is called {other}"),
    }
}

/// Writes a file whole: whoever waits for it finds all of it.
fn publish(path: &Path, text: &str) {
    let unfinished = path.with_extension("unfinished");
    fs::write(&unfinished, text).unwrap();
    fs::rename(unfinished, path).unwrap();
}

/// Lines of a packet's number and its kernel stamp.
fn stamps_text(stamps: &[(u64, i128)]) -> String {
    lines(stamps.iter().map(|(number, nanos)| format!("{number} {nanos}")))
}

fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.flat_map(|line| [line, "\n".to_owned()]).collect()
}

/// Reads what [`stamps_text`] wrote.
pub(crate) fn stamps(path: &Path) -> Vec<(u64, i128)> {
    let text = fs::read_to_string(path).unwrap();
    let pair = |line: &str| {
        let (number, nanos) = line.split_once(' ')?;
        Some((number.parse().ok()?, nanos.parse().ok()?))
    };
    text.lines().map(|line| pair(line).unwrap()).collect()
}

fn nanos(time: TimeSpec) -> i128 {
    i128::from(time.tv_sec()) * 1_000_000_000 + i128::from(time.tv_nsec())
}

/// Number in the last eight octets of a packet.
fn number_in(packet: &[u8]) -> Option<u64> {
    packet.last_chunk().map(|octets| u64::from_be_bytes(*octets))
}

/// Takes packets, each with the instant at which the kernel received it.
fn receive(file: &Path) {
    let socket = UdpSocket::bind(("0.0.0.0", PORT)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    setsockopt(&socket, sockopt::ReceiveTimestampns, &true).unwrap();
    // As much as may be had without a privilege.
    setsockopt(&socket, sockopt::RcvBuf, &(4 << 20)).unwrap();
    let mut found = Vec::new();
    let mut packet = [0; 2_048];
    let mut control = nix::cmsg_space!(TimeSpec);
    loop {
        let mut parts = [IoSliceMut::new(&mut packet)];
        let Ok(message) =
            recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::empty())
        else {
            break;
        };
        let stamp = message.cmsgs().unwrap().find_map(|message| match message {
            ControlMessageOwned::ScmTimestampns(time) => Some(nanos(time)),
            _ => None,
        });
        let len = message.bytes;
        match number_in(&packet[..len]) {
            Some(LAST) => break,
            Some(number) => found.extend(stamp.map(|stamp| (number, stamp))),
            None => {}
        }
    }
    publish(file, &stamps_text(&found));
}

/// Sends so many packets a second, of so many octets from the IP header on, for so many seconds. The file tells the
/// kernel's instant of each where that is asked for (`stamped`); beside it stands when it began, and what it sent.
fn send([rate, seconds, octets]: [u64; 3], file: &Path, far: &str, is_stamped: bool) {
    let socket = UdpSocket::bind(("0.0.0.0", 0)).unwrap();
    socket.connect((far, PORT)).unwrap();
    if is_stamped {
        let asked =
            TimestampingFlag::SOF_TIMESTAMPING_TX_SOFTWARE | TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE;
        setsockopt(&socket, sockopt::Timestamping, &asked).unwrap();
    }
    set_timer_slack(std::num::NonZeroU64::MIN).unwrap();
    let mut packet = vec![0; usize::try_from(octets).unwrap() - 28];
    let mut found = Vec::new();
    let mut send = |number: u64| {
        let place = packet.len() - 8;
        packet[place..].copy_from_slice(&number.to_be_bytes());
        socket.send(&packet).unwrap();
    };
    // A first packet has neighbours found.
    send(0);
    rest(Duration::from_millis(300));
    publish(&file.with_extension("began"), "");
    let begin = Instant::now();
    let mut sent: u64 = 0;
    loop {
        let elapsed = begin.elapsed();
        if elapsed >= Duration::from_secs(seconds) {
            break;
        }
        // What is due by now: a program that was held up catches up, at most by 5 ms.
        let due = u64::try_from(elapsed.as_nanos() * u128::from(rate) / 1_000_000_000).unwrap() + 1;
        let due = due.min(sent + rate.div_ceil(200).max(1));
        while sent < due {
            sent += 1;
            send(sent);
        }
        if is_stamped {
            take_stamps(&socket, &mut found);
        }
        rest(Duration::from_micros(if rate > 10_000 { 200 } else { 1_000_000 / rate }));
    }
    let elapsed = begin.elapsed();
    rest(Duration::from_millis(500));
    if is_stamped {
        take_stamps(&socket, &mut found);
    }
    publish(&file.with_extension("done"), &format!("{sent} {}", elapsed.as_nanos()));
    publish(file, &stamps_text(&found));
    // The receiver has to write down what it has, before all is over.
    let received = file.with_file_name("received");
    for _ in 0..PATIENCE.as_millis() / 100 {
        send(LAST);
        rest(Duration::from_millis(100));
        if received.exists() {
            return;
        }
    }
}

/// Reads from the socket's errors when packets went out.
fn take_stamps(socket: &UdpSocket, found: &mut Vec<(u64, i128)>) {
    let mut packet = [0; 2_048];
    let mut control = vec![0; 512];
    loop {
        let mut parts = [IoSliceMut::new(&mut packet)];
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        let Ok(message) =
            recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut parts, Some(&mut control), flags)
        else {
            return;
        };
        let stamp = message.cmsgs().unwrap().find_map(|message| match message {
            ControlMessageOwned::ScmTimestampsns(times) => Some(nanos(times.system)),
            _ => None,
        });
        let len = message.bytes;
        found.extend(number_in(&packet[..len]).zip(stamp));
    }
}

/// Takes what one connection sends; the file has the octets of each second.
fn sink(file: &Path) {
    let listener = TcpListener::bind(("0.0.0.0", PORT)).unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    let begin = Instant::now();
    let mut seconds: Vec<usize> = Vec::new();
    let mut buffer = vec![0; 1 << 20];
    while let Ok(octets @ 1..) = stream.read(&mut buffer) {
        let second = usize::try_from(begin.elapsed().as_secs()).unwrap();
        seconds.resize(seconds.len().max(second + 1), 0);
        seconds[second] += octets;
    }
    publish(file, &lines(seconds.iter().map(ToString::to_string)));
}

/// Sends for so many seconds as much as goes, by this controller of congestion.
fn source(seconds: u64, control: &str) {
    let mut stream = TcpStream::connect(("far", PORT)).unwrap();
    setsockopt(&stream, sockopt::TcpCongestion, &control.into()).unwrap();
    let (begin, buffer) = (Instant::now(), vec![0; 1 << 20]);
    while begin.elapsed() < Duration::from_secs(seconds) {
        stream.write_all(&buffer).unwrap();
    }
    // The other end closes once it has written down what came.
    stream.shutdown(Shutdown::Write).unwrap();
    let _ = stream.read(&mut [0]);
}

/// Keeps a processor busy.
fn spin(seconds: u64) {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(seconds) {
        std::hint::spin_loop();
    }
}

/// Waits for a timer a thousand times a second, and prints the latenesses in nanoseconds, sorted.
fn timer(seconds: u64) {
    set_timer_slack(std::num::NonZeroU64::MIN).unwrap();
    let (mut poll, timer) = (Poll::new().unwrap(), TimerFd::new().unwrap());
    poll.add(&timer, 0).unwrap();
    let begin = monotonic();
    let mut late = Vec::new();
    for number in 1..=seconds * 1_000 {
        let due = begin + Duration::from_millis(number);
        if due <= monotonic() {
            continue;
        }
        timer.set(due).unwrap();
        while poll.wait(Some(SECOND)).unwrap().is_empty() {}
        late.push(monotonic().saturating_sub(due).as_nanos());
    }
    late.sort_unstable();
    print!("{}", lines(late.iter().map(ToString::to_string)));
}
