//! Capacity of the send buffer: so many bytes of payload, and a message for each 60 of them.

use super::*;

fn config(send_buffer_bytes: u64) -> SctpConfig {
    SctpConfig { send_buffer_bytes, ..quiet() }
}

/// Number of messages of `len` bytes that are taken while nothing is acknowledged, and the error of the next.
fn fill(end: &mut Association, len: usize) -> (u64, SendError) {
    let mut count = 0;
    loop {
        match end.send(Instant::START, message(0, count, len)) {
            Ok(()) => count += 1,
            Err(error) => return (count, error),
        }
    }
}

#[test]
fn a_buffer_holds_a_message_for_each_60_bytes_and_no_more_however_short_they_are() {
    let full = |wanted, free| SendError::BufferFull { wanted, free };
    // Bytes of the buffer and of each message; how many are taken, and what is free of bytes then.
    for (buffer, len, count, free) in [
        (65_536, 8, 1_092, 0),
        (65_536, 59, 1_092, 0),
        // From here on payload alone counts.
        (65_536, 60, 1_092, 16),
        (65_536, 61, 1_074, 22),
        (65_536, 1_000, 65, 536),
        (1_048_576, 8, 17_476, 0),
        // A short one holds 64 all the same.
        (1_000, 8, 64, 0),
        (500, 8, 62, 4),
    ] {
        let mut wire = Wire::new(1, config(buffer));
        assert_eq!(fill(&mut wire.ends[0], len), (count, full(len as u64, free)), "{buffer} {len}");
        assert_eq!(wire.ends[0].snapshot().send_buffered, count * len as u64);
    }
}

#[test]
fn room_for_short_messages_is_announced_once_half_of_them_have_been_acknowledged() {
    let mut wire = Wire::new(1, config(65_536));
    let (count, _) = fill(&mut wire.ends[0], 8);
    let is_room = |event: &&Event| matches!(event, Event::SendBufferDrained { .. });
    let mut left = count;
    wire.drain();
    while !wire.events[0].iter().any(|event| is_room(&event)) {
        assert!(wire.step(), "room is never announced");
        left = wire.ends[0].snapshot().send_buffered / 8;
    }
    assert!(left <= count / 2, "{left}");
    let told: Vec<_> = wire.events[0].iter().filter(is_room).cloned().collect();
    assert_eq!(told, [Event::SendBufferDrained { free: 65_536 - 8 * left }]);
    // As many as have gone are taken.
    assert_eq!(fill(&mut wire.ends[0], 8).0, count - left);
    wire.run_to_rest();
    assert_eq!(fill(&mut wire.ends[0], 8).0, count);
}

#[test]
fn fragments_count_as_the_message_that_they_are_of() {
    let mut wire = Wire::new(1, config(65_536));
    for context in 0..2 {
        wire.ends[0].send(Instant::START, message(0, context, 30_000)).unwrap();
    }
    wire.drain();
    // 60,000 bytes in 42 fragments, and 690 messages of eight.
    assert_eq!(fill(&mut wire.ends[0], 8), (692, SendError::BufferFull { wanted: 8, free: 0 }));
    wire.run_to_rest();
    assert_eq!(fill(&mut wire.ends[0], 8).0, 1_092);
}
