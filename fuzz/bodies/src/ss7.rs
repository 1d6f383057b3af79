//! Signalling System No. 7.

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_ss7::PointCodeFormat;
use slantpath_ss7::link::LinkRequest;
use slantpath_ss7::mtp2::{self, SignalUnit};
use slantpath_ss7::mtp3::Fsn;
use slantpath_ss7::mtp3::{ManagementLayout, ManagementMessage, Msu, TestMessage};
use slantpath_ss7::sccp::{self, AddressFormat, PartyAddress, ScmgMessage};
use slantpath_user_parts::isup;
use slantpath_user_parts::tcap;

/// The first byte chooses the format of point codes. What is read is written as what reads the same.
pub fn mtp3(data: &[u8]) {
    let Some((choice, octets)) = data.split_first() else { return };
    let format = [PointCodeFormat::Ansi, PointCodeFormat::Itu, PointCodeFormat::Ttc][usize::from(choice % 3)];
    let Ok(msu) = Msu::parse(octets, format) else { return };
    let mut written = Vec::new();
    msu.emit(format, &mut written);
    assert_eq!(Msu::parse(&written, format), Ok(msu));
    let Some(layout) = ManagementLayout::of(format) else { return };
    if let Ok(message) = ManagementMessage::parse(msu.user_part, layout, msu.label.sls) {
        let mut written = Vec::new();
        message.0.emit(layout, message.1, &mut written);
        assert_eq!(ManagementMessage::parse(&written, layout, msu.label.sls), Ok(message));
    }
    if let Ok(message) = TestMessage::parse(msu.user_part, layout, msu.label.sls) {
        let mut written = Vec::new();
        message.0.emit(layout, message.1, &mut written);
        assert_eq!(TestMessage::parse(&written, layout, msu.label.sls), Ok(message));
    }
}

/// A message that is read is written as one that reads the same, unless it is longer than its pointers reach:
/// a received one may let several pointers share octets. An address is written octet for octet.
pub fn sccp(data: &[u8]) {
    for format in [AddressFormat::Ansi, AddressFormat::Itu] {
        if let Ok(message) = sccp::Message::parse_as(format, data) {
            let mut written = Vec::new();
            if message.emit_as(format, &mut written).is_ok() {
                assert_eq!(sccp::Message::parse_as(format, &written), Ok(message));
            }
        }
        if let Ok(address) = PartyAddress::parse_as(format, data) {
            let mut written = Vec::new();
            address.emit_as(format, &mut written).expect("what was read has a place");
            assert_eq!(written, data);
        }
    }
    if let Ok(message) = ScmgMessage::parse(data) {
        let mut written = Vec::new();
        message.emit(&mut written);
        assert_eq!(ScmgMessage::parse(&written), Ok(message));
    }
}

/// A unit that is read is written as one that reads the same. A terminal that is told anything at any time keeps its
/// buffers within bounds and always ends by waiting for a time to come.
pub fn mtp2(data: &[u8]) {
    if let Ok(unit) = SignalUnit::parse(data) {
        let mut written = Vec::new();
        unit.emit(&mut written);
        assert_eq!(SignalUnit::parse(&written), Ok(unit));
    }
    let config =
        mtp2::Config { transmit_buffer: 50, congestion_onset: [10, 20, 30], ..mtp2::Config::default() };
    let mut link = mtp2::Link::new(config).expect("the configuration is sound");
    let mut now = Instant::START;
    for step in data.chunks(4) {
        let [what, pause, rest @ ..] = step else { break };
        now += Duration::from_millis(u64::from(*pause) * u64::from(*pause));
        match what % 12 {
            0 => link.request(now, LinkRequest::Start),
            1 => link.request(now, LinkRequest::Stop),
            2 => link.request(now, LinkRequest::Emergency),
            3 => link.request(now, LinkRequest::LocalProcessorOutage),
            4 => link.request(now, LinkRequest::LocalProcessorRecovered),
            5 => link.request(now, LinkRequest::FlushBuffers),
            6 => link.request(now, LinkRequest::RetrieveMessagesAfter(Fsn(u32::from(*pause)))),
            7 => link.request(now, LinkRequest::Transmit(Bytes::from_static(&[0x85, 1, 2, 3, 4]))),
            8 => link.set_busy(now, pause % 2 == 0),
            9 if what / 12 % 2 == 0 => link.handle_errored_unit(now),
            9 => link.handle_units_lost(now),
            _ => {
                let body: &[u8] = if what / 12 % 2 == 0 { &[0] } else { &[1, what / 24 % 6] };
                if let Ok(unit) = SignalUnit::parse(&[rest, body].concat()) {
                    link.handle_unit(now, unit, Some(Duration::from_micros(750)));
                }
            }
        }
        while !matches!(link.poll_output(now), mtp2::Output::Wait(_)) {}
        if let mtp2::Output::Wait(Some(deadline)) = link.poll_output(now) {
            assert!(deadline > now);
        }
        assert!(link.queued() <= 50 + 127);
    }
}

/// A message or number that is read is written octet for octet.
pub fn isup(data: &[u8]) {
    if let Ok(message) = isup::Message::parse(data) {
        let mut written = Vec::new();
        message.emit(&mut written).expect("it was read");
        assert_eq!(written, data);
    }
    if let Ok(number) = isup::CalledPartyNumber::parse(data) {
        let mut written = Vec::new();
        number.emit(&mut written);
        assert_eq!(written, data);
    }
    if let Ok(number) = isup::CallingPartyNumber::parse(data) {
        let mut written = Vec::new();
        number.emit(&mut written);
        assert_eq!(written, data);
    }
}

/// A message that is read is written octet for octet with its layout, and without it as one that reads the same;
/// dialogues that are sent anything stay within their
/// limit and end by waiting.
pub fn tcap(data: &[u8]) {
    if let Ok(message) = tcap::Message::parse(data) {
        let mut written = Vec::new();
        message.emit(&mut written);
        let layout = tcap::Layout::of(data).expect("it was read");
        assert_eq!(layout.apply(&written).as_deref(), Ok(data));
        assert_eq!(tcap::Message::parse(&written), Ok(message));
    }
    let config = tcap::DialoguesConfig { local: PartyAddress::default(), max_dialogues: 3 };
    let mut dialogues = tcap::Dialogues::new(config);
    for octets in data.split(|octet| *octet == 0xff) {
        dialogues.handle_message(&PartyAddress::default(), octets);
    }
    while !matches!(dialogues.poll_output(Instant::START), tcap::DialogueOutput::Wait(_)) {}
    assert!(dialogues.len() <= 3);
}
