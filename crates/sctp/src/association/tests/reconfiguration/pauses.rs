//! Resets (RFC 6525) as told to a reader that pauses, and the times at which it is told.

use super::*;

#[test]
fn a_reader_that_pauses_is_told_of_resets_behind_the_messages_in_front_of_them() {
    let mut wire = wire();
    wire.ends[1].pause_delivery();
    // Nothing waits, so that nothing is to be read first.
    reset(&mut wire, 0, ResetDirection::Outbound, &[3]);
    wire.run_until(Instant::from_secs(1));
    let told = |streams: &[u16]| Event::StreamsChanged(StreamsChanged::InboundReset(listed(streams)));
    assert_eq!(changes(&wire, 1), [told(&[3])]);
    send_on(&mut wire, 0, 0, 0..2);
    for streams in [&[1][..], &[0, 2]] {
        reset(&mut wire, 0, ResetDirection::Outbound, streams);
        let later = wire.now + Duration::from_secs(1);
        wire.run_until(later);
    }
    send_on(&mut wire, 0, 0, 2..3);
    wire.run_to_rest();
    assert_eq!(changes(&wire, 1), [told(&[3])]);
    wire.ends[1].resume_delivery();
    wire.drain();
    let heard: Vec<Result<u16, &Event>> = wire.events[1][1..]
        .iter()
        .map(|event| match event {
            Event::Received(message) => Ok(message.sequence.0),
            other => Err(other),
        })
        .collect();
    // Two that no message lies between are one.
    assert_eq!(heard, [Ok(0), Ok(1), Err(&told(&[0, 1, 2])), Ok(0)]);
}

#[test]
fn a_reader_that_pauses_is_told_of_a_new_beginning_behind_the_messages_in_front_of_it() {
    let mut wire = wire();
    for end in [0, 1] {
        wire.ends[end].pause_delivery();
        send_on(&mut wire, 1 - end, 0, 0..1);
    }
    wire.run_until(Instant::from_secs(1));
    reset(&mut wire, 0, ResetDirection::Outbound, &[]);
    wire.run_until(Instant::from_secs(2));
    wire.ends[0].reset_association(wire.now).unwrap();
    wire.drain();
    wire.run_until(Instant::from_secs(5));
    reset(&mut wire, 0, ResetDirection::Outbound, &[2]);
    wire.run_to_rest();
    for end in [0, 1] {
        let before = wire.events[end].len();
        wire.ends[end].resume_delivery();
        wire.drain();
        let [Event::Received(_), Event::StreamsChanged(StreamsChanged::AssociationReset)] =
            &wire.events[end][before..]
        else {
            panic!("{:?}", wire.events[end]);
        };
    }
}
