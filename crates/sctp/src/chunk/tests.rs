use proptest::prelude::*;

use super::asconf::tests::{any_asconf, any_asconf_ack};
use super::framing::ChunkHeader;
use super::re_config::tests::any_re_config;
use super::*;
use crate::cause::Cause;
use crate::cause::tests::any_cause;
use crate::parameter::Parameter;
use crate::parameter::tests::{any_bytes, any_parameter};
use crate::types::{FragmentSequence, MessageId, Ppid, StreamId, StreamSequence, Tsn, VerificationTag};

fn any_fields() -> impl Strategy<Value = InitFields> {
    any::<(u32, u32, u16, u16, u32)>().prop_map(|(tag, a_rwnd, outbound, inbound, tsn)| InitFields {
        initiate_tag: VerificationTag(tag),
        a_rwnd,
        outbound_streams: outbound,
        inbound_streams: inbound,
        initial_tsn: Tsn(tsn),
    })
}

fn any_flags() -> impl Strategy<Value = DataFlags> {
    const ALL: [DataFlags; 4] =
        [DataFlags::ENDING, DataFlags::BEGINNING, DataFlags::UNORDERED, DataFlags::IMMEDIATE];
    any::<[bool; 4]>().prop_map(|set| {
        ALL.into_iter()
            .zip(set)
            .filter(|(_, is_set)| *is_set)
            .fold(DataFlags::MIDDLE, |flags, (flag, _)| flags.with(flag))
    })
}

pub(crate) fn any_data(max: usize) -> impl Strategy<Value = Data> {
    (any_flags(), any::<(u32, u16, u16, u32)>(), any_bytes(max)).prop_map(
        |(flags, (tsn, stream, sequence, ppid), payload)| Data {
            flags,
            tsn: Tsn(tsn),
            stream: StreamId(stream),
            sequence: StreamSequence(sequence),
            ppid: Ppid(ppid),
            payload,
        },
    )
}

fn any_sack() -> impl Strategy<Value = Sack> {
    let blocks = proptest::collection::vec(any::<(u16, u16)>(), 0..20);
    let duplicates = proptest::collection::vec(any::<u32>(), 0..10);
    (any::<u32>(), any::<u32>(), blocks, duplicates).prop_map(|(ack, a_rwnd, blocks, duplicates)| Sack {
        cumulative_tsn_ack: Tsn(ack),
        a_rwnd,
        gap_ack_blocks: blocks.into_iter().map(|(start, end)| GapAckBlock { start, end }).collect(),
        duplicates: duplicates.into_iter().map(Tsn).collect(),
    })
}

fn any_forward_tsn() -> impl Strategy<Value = ForwardTsn> {
    let skipped = any::<(u16, u16)>().prop_map(|(stream, sequence)| SkippedStream {
        stream: StreamId(stream),
        sequence: StreamSequence(sequence),
    });
    (any::<u32>(), proptest::collection::vec(skipped, 0..10))
        .prop_map(|(tsn, skipped)| ForwardTsn { new_cumulative_tsn: Tsn(tsn), skipped })
}

fn any_i_forward_tsn() -> impl Strategy<Value = IForwardTsn> {
    let skipped = any::<(u16, bool, u32)>().prop_map(|(stream, is_unordered, id)| SkippedMessages {
        stream: StreamId(stream),
        is_unordered,
        message_id: MessageId(id),
    });
    (any::<u32>(), proptest::collection::vec(skipped, 0..10))
        .prop_map(|(tsn, skipped)| IForwardTsn { new_cumulative_tsn: Tsn(tsn), skipped })
}

/// A first fragment says its protocol, any other its place.
fn any_i_data(max: usize) -> impl Strategy<Value = IData> {
    (any_data(max), any::<(u32, u32)>()).prop_map(|(data, (id, fragment))| {
        let is_first = data.flags.is_beginning();
        let fragment = FragmentSequence(if is_first { 0 } else { fragment });
        let Data { flags, tsn, stream, payload, .. } = data;
        let ppid = if is_first { data.ppid } else { Ppid(0) };
        let place = FragmentPlace { message_id: MessageId(id), fragment };
        IData { flags, tsn, stream, place, ppid, payload }
    })
}

pub(crate) fn any_chunk() -> impl Strategy<Value = Chunk> {
    let parameters = || proptest::collection::vec(any_parameter(), 0..4);
    let causes = || proptest::collection::vec(any_cause(), 0..4);
    prop_oneof![
        any_data(600).prop_map(Chunk::Data),
        (any_fields(), parameters())
            .prop_map(|(fields, parameters)| Chunk::Init(Init { fields, parameters })),
        (any_fields(), parameters())
            .prop_map(|(fields, parameters)| Chunk::InitAck(InitAck { fields, parameters })),
        any_sack().prop_map(Chunk::Sack),
        (any_bytes(60), any_bytes(20))
            .prop_map(|(info, others)| Chunk::Heartbeat(Heartbeat { info, others })),
        (any_bytes(60), any_bytes(20))
            .prop_map(|(info, others)| Chunk::HeartbeatAck(HeartbeatAck { info, others })),
        (any::<bool>(), causes())
            .prop_map(|(is_tag_reflected, causes)| Chunk::Abort(Abort { is_tag_reflected, causes })),
        any::<u32>().prop_map(|tsn| Chunk::Shutdown(Shutdown { cumulative_tsn_ack: Tsn(tsn) })),
        Just(Chunk::ShutdownAck(ShutdownAck)),
        causes().prop_map(|causes| Chunk::Error(Error { causes })),
        any_bytes(120).prop_map(|cookie| Chunk::CookieEcho(CookieEcho { cookie })),
        Just(Chunk::CookieAck(CookieAck)),
        any::<u32>().prop_map(|tsn| Chunk::Ecne(Ecne { lowest_tsn: Tsn(tsn) })),
        any::<u32>().prop_map(|tsn| Chunk::Cwr(Cwr { lowest_tsn: Tsn(tsn) })),
        any::<bool>()
            .prop_map(|is_tag_reflected| { Chunk::ShutdownComplete(ShutdownComplete { is_tag_reflected }) }),
        (any_sack(), any_sack()).prop_map(|(sack, other)| {
            Chunk::NrSack(NrSack {
                cumulative_tsn_ack: sack.cumulative_tsn_ack,
                a_rwnd: sack.a_rwnd,
                gap_ack_blocks: sack.gap_ack_blocks,
                non_renegable_blocks: other.gap_ack_blocks,
                duplicates: sack.duplicates,
            })
        }),
        (0..2_000_u16).prop_map(|padding_len| Chunk::Pad(Pad { padding_len })),
        any_re_config().prop_map(Chunk::ReConfig),
        any_asconf().prop_map(Chunk::Asconf),
        any_asconf_ack().prop_map(Chunk::AsconfAck),
        (any::<u16>(), any::<u16>(), any_bytes(40)).prop_map(|(key, hmac, digest)| Chunk::Auth(Auth {
            key,
            hmac,
            digest
        })),
        (17_u8..64, any::<u8>(), any_bytes(60)).prop_map(|(kind, flags, value)| Chunk::Unknown {
            kind,
            flags,
            value
        }),
        any_forward_tsn().prop_map(Chunk::ForwardTsn),
        any_i_data(600).prop_map(Chunk::IData),
        any_i_forward_tsn().prop_map(Chunk::IForwardTsn),
    ]
}

fn parse(bytes: &[u8]) -> Result<Chunk, WireError> {
    let header = ChunkHeader::parse(bytes)?;
    let end = header.len.min(bytes.len());
    Chunk::parse(header.kind, header.flags, BytesView::borrowed(&bytes[CHUNK_HEADER_LEN..end]))
}

fn written(chunk: &Chunk) -> Vec<u8> {
    let mut out = Vec::new();
    chunk.write(&mut out);
    out
}

/// RFC 9260, section 3.3.4: the SACK for TSNs 10–12, 14, 15 and 17.
#[test]
fn the_rfc_example_of_a_sack_is_written_as_it_says() {
    let sack = Sack {
        cumulative_tsn_ack: Tsn(12),
        a_rwnd: 4_660,
        gap_ack_blocks: [GapAckBlock { start: 2, end: 3 }, GapAckBlock { start: 5, end: 5 }]
            .into_iter()
            .collect(),
        duplicates: [].into_iter().collect(),
    };
    let bytes = written(&Chunk::Sack(sack.clone()));
    let expected = [3, 0, 0, 24, 0, 0, 0, 12, 0, 0, 0x12, 0x34, 0, 2, 0, 0, 0, 2, 0, 3, 0, 5, 0, 5];
    assert_eq!(bytes, expected);
    assert_eq!((sack.wire_len(), Sack::FIXED_LEN), (24, 16));
    assert_eq!(parse(&bytes), Ok(Chunk::Sack(sack)));
}

/// TSNs 14, 15 may still be thrown away, 17 not.
#[test]
fn an_nr_sack_has_three_counts_and_a_reserved_field_before_its_blocks() {
    let block = |start, end| [GapAckBlock { start, end }].into_iter().collect();
    let sack = NrSack {
        cumulative_tsn_ack: Tsn(12),
        a_rwnd: 4_660,
        gap_ack_blocks: block(2, 3),
        non_renegable_blocks: block(5, 5),
        duplicates: [Tsn(9)].into_iter().collect(),
    };
    let bytes = written(&Chunk::NrSack(sack.clone()));
    let head = [0x10, 0, 0, 32, 0, 0, 0, 12, 0, 0, 0x12, 0x34, 0, 1, 0, 1, 0, 1, 0, 0];
    assert_eq!(bytes[..20], head);
    assert_eq!(bytes[20..], [0, 2, 0, 3, 0, 5, 0, 5, 0, 0, 0, 9]);
    assert_eq!((sack.wire_len(), parse(&bytes)), (32, Ok(Chunk::NrSack(sack))));
}

/// RFC 3758, section 3.2, and RFC 8260, section 2.3.1.
#[test]
fn what_was_skipped_is_written_stream_by_stream() {
    let skipped = vec![SkippedStream { stream: StreamId(5), sequence: StreamSequence(0x0607) }];
    let forward = Chunk::ForwardTsn(ForwardTsn { new_cumulative_tsn: Tsn(0x0102_0304), skipped });
    assert_eq!(written(&forward), [192, 0, 0, 12, 1, 2, 3, 4, 0, 5, 6, 7]);
    let entry = |is_unordered| SkippedMessages {
        stream: StreamId(5),
        is_unordered,
        message_id: MessageId(0x0607_0809),
    };
    let skipped = vec![entry(false), entry(true)];
    let forward = Chunk::IForwardTsn(IForwardTsn { new_cumulative_tsn: Tsn(0x0102_0304), skipped });
    let (ordered, unordered) = ([0, 5, 0, 0, 6, 7, 8, 9], [0, 5, 0, 1, 6, 7, 8, 9]);
    assert_eq!(written(&forward), [&[194, 0, 0, 24, 1, 2, 3, 4][..], &ordered, &unordered].concat());
}

#[test]
fn an_entry_that_is_cut_short_is_ignored() {
    let torn = [192, 0, 0, 14, 0, 0, 0, 9, 0, 5, 0, 7, 0, 6];
    let skipped = vec![SkippedStream { stream: StreamId(5), sequence: StreamSequence(7) }];
    assert_eq!(parse(&torn), Ok(Chunk::ForwardTsn(ForwardTsn { new_cumulative_tsn: Tsn(9), skipped })));
    assert!(parse(&[192, 0, 0, 6, 0, 0]).is_err());
    assert!(parse(&[64, 3, 0, 16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]).is_err());
}

/// RFC 8260, section 2.1: the last field in front of the payload is one of two things.
#[test]
fn a_first_fragment_of_i_data_says_its_protocol_and_the_others_their_number() {
    let place = FragmentPlace { message_id: MessageId(0x0a0b_0c0d), fragment: FragmentSequence(0) };
    let first = IData {
        flags: DataFlags::BEGINNING,
        tsn: Tsn(0x0102_0304),
        stream: StreamId(5),
        place,
        ppid: Ppid(46),
        payload: Bytes::from_static(&[0xff]),
    };
    let fields = [1, 2, 3, 4, 0, 5, 0, 0, 10, 11, 12, 13];
    let bytes = |flags, last| [&[64, flags, 0, 21][..], &fields, &[0, 0, 0, last, 0xff, 0, 0, 0]].concat();
    assert_eq!(written(&Chunk::IData(first.clone())), bytes(2, 46));
    let place = FragmentPlace { fragment: FragmentSequence(7), ..place };
    let flags = DataFlags::ENDING.with(DataFlags::UNORDERED);
    let last = Chunk::IData(IData { flags, place, ppid: Ppid(0), ..first });
    assert_eq!(written(&last), bytes(5, 7));
    assert_eq!(parse(&bytes(5, 7)), Ok(last));
}

#[test]
fn one_byte_of_data_makes_a_chunk_of_length_17_padded_to_20() {
    let data = Data {
        flags: DataFlags::WHOLE.with(DataFlags::IMMEDIATE),
        tsn: Tsn(0x0102_0304),
        stream: StreamId(5),
        sequence: StreamSequence(6),
        ppid: Ppid(7),
        payload: Bytes::from_static(&[0xff]),
    };
    assert_eq!(Data::wire_len(1), 20);
    let expected = [0, 0x0b, 0, 17, 1, 2, 3, 4, 0, 5, 0, 6, 0, 0, 0, 7, 0xff, 0, 0, 0];
    assert_eq!(written(&Chunk::Data(data)), expected);
}

#[test]
fn a_sack_that_counts_more_blocks_than_it_holds_is_refused() {
    let bytes = [3, 0, 0, 20, 0, 0, 0, 12, 0, 0, 0x12, 0x34, 0, 2, 0, 0, 0, 2, 0, 3];
    assert_eq!(parse(&bytes), Err(WireError::Truncated { wanted: 8, left: 4 }));
}

#[test]
fn the_padding_of_the_last_parameter_is_not_counted() {
    let info = Bytes::from_static(&[1, 2, 3, 4, 5]);
    let bytes = written(&Chunk::Heartbeat(Heartbeat::new(info)));
    assert_eq!(bytes, [4, 0, 0, 13, 0, 1, 0, 9, 1, 2, 3, 4, 5, 0, 0, 0]);
    // Nor that of the last of several parameters or causes; that between them is.
    let [first, last] = [&b"12345"[..], &b"123"[..]].map(Bytes::from_static);
    let unknown = |value| Parameter::Unknown { kind: 0xc000, value };
    let fields = InitFields {
        initiate_tag: VerificationTag(1),
        a_rwnd: 1_500,
        outbound_streams: 1,
        inbound_streams: 1,
        initial_tsn: Tsn(0),
    };
    let init = Init { fields, parameters: vec![unknown(first.clone()), unknown(last.clone())] };
    let bytes = written(&Chunk::Init(init));
    assert_eq!((bytes.len(), &bytes[2..4]), (20 + 12 + 8, &[0, 20 + 12 + 7][..]));
    let causes = vec![Cause::UserInitiatedAbort(first), Cause::UserInitiatedAbort(last)];
    let bytes = written(&Chunk::Error(Error { causes }));
    assert_eq!((bytes.len(), &bytes[2..4]), (4 + 12 + 8, &[0, 4 + 12 + 7][..]));
}

#[test]
fn a_heartbeat_without_its_info_is_refused() {
    for kind in [4, 5] {
        let error = WireError::BadValue { field: "heartbeat info type", value: 2 };
        assert_eq!(parse(&[kind, 0, 0, 8, 0, 2, 0, 4]), Err(error));
    }
}

#[test]
fn a_flag_that_is_set_twice_is_set() {
    let flags = DataFlags::WHOLE.with(DataFlags::ENDING).with(DataFlags::UNORDERED);
    assert!(flags.is_beginning() && flags.is_ending() && flags.is_unordered() && !flags.is_immediate());
}

#[test]
fn a_chunk_whose_length_counts_its_last_padding_is_accepted() {
    let bytes = [4, 0, 0, 16, 0, 1, 0, 9, 1, 2, 3, 4, 5, 0, 0, 0];
    let info = Bytes::from_static(&[1, 2, 3, 4, 5]);
    assert_eq!(parse(&bytes), Ok(Chunk::Heartbeat(Heartbeat::new(info))));
}

proptest! {
    #[test]
    fn chunks_round_trip(chunk in any_chunk()) {
        let bytes = written(&chunk);
        prop_assert_eq!(bytes.len() % 4, 0);
        prop_assert_eq!(parse(&bytes), Ok(chunk));
    }

    /// The short way reads and writes the same as the long one, and tells which SACKs are plain.
    #[test]
    fn a_plain_sack_is_written_and_read_as_any_other(tsn: u32, a_rwnd: u32, blocks in 0..2_usize, twice in 0..2_usize) {
        let block = GapAckBlock { start: 2, end: 3 };
        let sack = Sack {
            cumulative_tsn_ack: Tsn(tsn),
            a_rwnd,
            gap_ack_blocks: [block].into_iter().take(blocks).collect(),
            duplicates: [Tsn(tsn)].into_iter().take(twice).collect(),
        };
        let mut long = Vec::new();
        sack.write(&mut long);
        let plain = (blocks, twice) == (0, 0);
        let read = Sack::parse_plain(BytesView::borrowed(&long[CHUNK_HEADER_LEN..]));
        prop_assert_eq!(read, plain.then_some((Tsn(tsn), a_rwnd)));
        let mut short = Vec::new();
        Sack::write_plain(Tsn(tsn), a_rwnd, &mut short);
        prop_assert_eq!(short == long, plain);
    }

    #[test]
    fn any_bytes_give_a_chunk_or_an_error(bytes: Vec<u8>) {
        let _ = parse(&bytes);
    }

    #[test]
    fn a_chunk_of_any_value_is_read_or_refused(kind in 0_u8..16, flags: u8, value: Vec<u8>) {
        let _ = Chunk::parse(kind, flags, BytesView::borrowed(&value));
    }
}
