//! Bulk transfer between two endpoints in memory, to count instructions: `bulk SEGMENTS WINDOW_SEGMENTS LOSS_EVERY`.

use std::collections::VecDeque;
use std::net::SocketAddr;

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Seed};
use slantpath_tcp::{Chance, ChecksumPolicy, Endpoint, Event, Input, Output, TcpConfig, WindowLimit};
use slantpath_wire::Packet;

static PATTERN: [u8; 1 << 20] = [0x55; 1 << 20];

#[expect(clippy::print_stderr, reason = "the result of a run by hand")]
fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>().expect("a number"));
    let mut next = |default| arguments.next().unwrap_or(default);
    let (segments, window, loss_every) = (next(1_000_000), next(2_000), next(0));
    let mss = 1_000;
    let config = TcpConfig {
        mss_bytes: mss,
        window_limit: Some(WindowLimit::Segments(u32::try_from(window).expect("a small window"))),
        receive_buffer_bytes: 1 << 24,
        send_buffer_bytes: 1 << 24,
        checksum: ChecksumPolicy::Omit,
        ..TcpConfig::default()
    };
    let seed = Seed::new(1, 0);
    let (mut left, mut right) = (Endpoint::default(), Endpoint::default());
    let (from, to): (SocketAddr, SocketAddr) =
        ("10.0.0.1:5000".parse().expect("an address"), "10.0.0.2:5000".parse().expect("an address"));
    right.listen(5_000, config, Chance::InTurn(seed.stream("right"))).expect("a free port");
    let mut now = Instant::START;
    let id = left.connect(now, from, to, config, &mut seed.stream("left")).expect("a free port");
    let total = segments * u64::from(mss);
    let (mut written, mut received, mut sent, mut acks) = (0, 0, 0_u64, 0_u64);
    let (mut rightwards, mut leftwards) = (VecDeque::<Packet>::new(), VecDeque::<Packet>::new());
    let mut deadline;
    while received < total {
        while written < total && left.writable_bytes(id) >= PATTERN.len() as u64 {
            left.write(now, id, Bytes::from_static(&PATTERN)).expect("an open connection");
            written += PATTERN.len() as u64;
        }
        loop {
            let mut packet = Packet::default();
            match left.poll_output(now, &mut packet) {
                Output::Transmit(_) => {
                    sent += 1;
                    if loss_every == 0 || !sent.is_multiple_of(loss_every) {
                        rightwards.push_back(packet);
                    }
                }
                Output::Event(..) => {}
                Output::Wait(at) => {
                    deadline = at;
                    break;
                }
            }
        }
        now += Duration::from_micros(100);
        if rightwards.is_empty()
            && leftwards.is_empty()
            && let Some(at) = deadline
        {
            now = now.max(at);
            left.handle_input(now, Input::Deadline);
        }
        // One packet at a time each way, with the window full: as a simulated bottleneck feeds them.
        for _ in 0..2 {
            let Some(mut packet) = rightwards.pop_front() else { break };
            right.handle_input(
                now,
                Input::Packet {
                    source: from.ip(),
                    destination: to.ip(),
                    ip: slantpath_wire::ip::IpFields::default(),
                    packet: &mut packet,
                },
            );
            loop {
                let mut packet = Packet::default();
                match right.poll_output(now, &mut packet) {
                    Output::Transmit(_) => {
                        acks += 1;
                        leftwards.push_back(packet);
                    }
                    Output::Event(_, Event::Data(data)) => received += data.len() as u64,
                    Output::Event(..) => {}
                    Output::Wait(at) => {
                        if rightwards.is_empty()
                            && leftwards.is_empty()
                            && let Some(at) = at
                        {
                            now = now.max(at);
                            right.handle_input(now, Input::Deadline);
                            continue;
                        }
                        break;
                    }
                }
            }
        }
        if let Some(mut packet) = leftwards.pop_front() {
            left.handle_input(
                now,
                Input::Packet {
                    source: to.ip(),
                    destination: from.ip(),
                    ip: slantpath_wire::ip::IpFields::default(),
                    packet: &mut packet,
                },
            );
        }
    }
    let snapshot = left.snapshot(id).expect("it is there");
    eprintln!("sent {sent}, acks {acks}, {snapshot:?}");
}
