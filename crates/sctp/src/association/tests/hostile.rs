//! A peer that sends anything: no panic, nothing inconsistent, and in the end a closed association or one that
//! still works.

use proptest::prelude::*;

use super::*;
use crate::chunk::tests::any_chunk;
use crate::chunk::{
    Data, DataFlags, ForwardTsn, FragmentPlace, GapAckBlock, IData, IForwardTsn, Sack, SkippedMessages,
    SkippedStream,
};
use crate::event::SendOptions;
use crate::extension::{Extension, Extensions};
use crate::reliability::Reliability;
use crate::types::{FragmentSequence, MessageId, StreamSequence};

/// Next step of the hostile peer, the layer above or the clock.
#[derive(Clone, Debug)]
enum Act {
    Send {
        stream: u16,
        len: usize,
        reliability: Reliability,
    },
    /// Acknowledges as many chunks as are outstanding, modulo, with blocks likewise.
    Sack {
        advance: usize,
        blocks: Vec<(u16, u16)>,
        a_rwnd: u32,
        path: usize,
    },
    Data {
        tsn: u32,
        stream: u16,
        sequence: u16,
        flags: u8,
        len: usize,
    },
    /// FORWARD TSN, or I-FORWARD-TSN: streams, whether unordered, and numbers.
    Forward {
        up_to: u32,
        skipped: Vec<(u16, bool, u16)>,
    },
    Any(Chunk),
    Expire,
}

fn any_act() -> impl Strategy<Value = Act> {
    let block = (1_u16..40, 0_u16..8).prop_map(|(start, more)| (start, start + more));
    let sack = (0_usize..4, proptest::collection::vec(block, 0..5), 0_usize..2);
    let window = prop_oneof![Just(0_u32), Just(2_000), Just(100_000)];
    prop_oneof![
        3 => (0_u16..5, 1_usize..4_000, any_reliability())
            .prop_map(|(stream, len, reliability)| Act::Send { stream, len, reliability }),
        4 => (sack, window).prop_map(|((advance, blocks, path), a_rwnd)| Act::Sack { advance, blocks, a_rwnd, path }),
        2 => (0_u32..30, 0_u16..5, 0_u16..6, 0_u8..16, 1_usize..300)
            .prop_map(|(tsn, stream, sequence, flags, len)| Act::Data { tsn, stream, sequence, flags, len }),
        1 => (0_u32..30, proptest::collection::vec((0_u16..6, any::<bool>(), 0_u16..6), 0..4))
            .prop_map(|(up_to, skipped)| Act::Forward { up_to, skipped }),
        1 => any_chunk().prop_map(Act::Any),
        2 => Just(Act::Expire),
    ]
}

fn any_reliability() -> impl Strategy<Value = Reliability> {
    prop_oneof![
        Just(Reliability::Full),
        (0_u64..5_000).prop_map(|ms| Reliability::Lifetime(Duration::from_millis(ms))),
        (0_u32..3).prop_map(Reliability::Retransmissions),
        (0_u32..3).prop_map(Reliability::Priority),
    ]
}

fn flags(bits: u8) -> DataFlags {
    let all = [DataFlags::ENDING, DataFlags::BEGINNING, DataFlags::UNORDERED, DataFlags::IMMEDIATE];
    let set = all.into_iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
    set.fold(DataFlags::MIDDLE, |flags, (_, flag)| flags.with(flag))
}

fn perform(wire: &mut Wire, act: Act, context: u64) {
    match act {
        Act::Send { stream, len, reliability } => {
            let options = Some(Box::new(SendOptions { reliability, ..SendOptions::default() }));
            let message = Message { options, ..message(stream, context, len) };
            let _ = wire.ends[0].send(wire.now, message);
            wire.drain();
        }
        Act::Sack { advance, blocks, a_rwnd, path } => {
            let snapshot = wire.ends[0].snapshot();
            let outstanding = snapshot.outstanding_chunks;
            let advance = advance.min(outstanding);
            let left = (outstanding - advance) as u16;
            let blocks = blocks.into_iter().filter(|(_, end)| *end <= left);
            let sack = Sack {
                cumulative_tsn_ack: snapshot.cumulative_tsn_acked.plus(advance as u32),
                a_rwnd,
                gap_ack_blocks: blocks.map(|(start, end)| GapAckBlock { start, end }).collect(),
                duplicates: SmallVec::new(),
            };
            wire.inject(0, path, &[Chunk::Sack(sack)]);
        }
        Act::Data { tsn, stream, sequence, flags: bits, len } => {
            let data = Data {
                flags: flags(bits),
                tsn: Tsn(6).plus(tsn),
                stream: StreamId(stream),
                sequence: StreamSequence(sequence),
                ppid: Ppid(0),
                payload: vec![0; len].into(),
            };
            let chunk = if wire.ends[0].tcb.extensions.contain(Extension::Interleaving) {
                let Data { flags, tsn, stream, ppid, payload, .. } = data;
                let place = FragmentPlace {
                    message_id: MessageId(sequence.into()),
                    fragment: FragmentSequence(if flags.is_beginning() { 0 } else { len as u32 % 4 }),
                };
                Chunk::IData(IData { flags, tsn, stream, place, ppid, payload })
            } else {
                Chunk::Data(data)
            };
            wire.inject(0, 0, &[chunk]);
        }
        Act::Forward { up_to, skipped } => {
            let new_cumulative_tsn = Tsn(6).plus(up_to);
            let chunk = if wire.ends[0].tcb.extensions.contain(Extension::Interleaving) {
                let skipped = skipped.into_iter().map(|(stream, is_unordered, id)| SkippedMessages {
                    stream: StreamId(stream),
                    is_unordered,
                    message_id: MessageId(id.into()),
                });
                Chunk::IForwardTsn(IForwardTsn { new_cumulative_tsn, skipped: skipped.collect() })
            } else {
                let skipped = skipped.into_iter().map(|(stream, _, sequence)| SkippedStream {
                    stream: StreamId(stream),
                    sequence: StreamSequence(sequence),
                });
                Chunk::ForwardTsn(ForwardTsn { new_cumulative_tsn, skipped: skipped.collect() })
            };
            wire.inject(0, 0, &[chunk]);
        }
        Act::Any(chunk) => wire.inject(0, 1, &[chunk]),
        Act::Expire => {
            if let Some(at) = wire.next_at() {
                wire.run_until(at.max(wire.now));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_the_peer_sends_the_association_stays_consistent(
        acts in proptest::collection::vec(any_act(), 1..60),
        extensions in 0_u16..4,
    ) {
        let config = SctpConfig {
            initial_cwnd_bytes: Some(30_000),
            max_burst: 20,
            extensions: Extensions::from_bits(extensions),
            ..quiet()
        };
        let mut wire = Wire::new(2, config);
        wire.decide(|_| is_lost());
        for (context, act) in acts.into_iter().enumerate() {
            perform(&mut wire, act, context as u64);
        }
        // Nobody answers any more: that must come to an end, too.
        if wire.ends[0].snapshot().outstanding_chunks > 0 {
            wire.run_to_rest();
            prop_assert!(matches!(wire.events[0].last(), Some(Event::Closed(_))), "{:?}", wire.ends[0].snapshot());
        }
    }
}
