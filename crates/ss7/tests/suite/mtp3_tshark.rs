//! Management and test messages of both layouts, written by us and read by tshark.

use slantpath_ss7::mtp3::{
    ChangebackCode, Fsn, ManagementLayout, ManagementMessage as M, Msu, NetworkIndicator, RoutingLabel,
    ServiceIndicator, ServiceInformation, SignallingDataLink, Slc, Sls, TestMessage,
};
use slantpath_ss7::{PointCode, PointCodeFormat};
use slantpath_testkit::{Tshark, pcap};

const LABEL: RoutingLabel = RoutingLabel { dpc: PointCode(92), opc: PointCode(257), sls: Sls(5) };

/// Every message that the layout has, with the name that tshark's column gives it.
fn messages(layout: ManagementLayout) -> Vec<(&'static str, M)> {
    let code = PointCode(300);
    let mut messages = vec![
        ("COO", M::Coo(Fsn(99))),
        ("COA", M::Coa(Fsn(100))),
        ("XCO", M::Xco(Fsn(0x12_3456))),
        ("XCA", M::Xca(Fsn(0x65_4321))),
        ("CBD", M::Cbd(ChangebackCode(200))),
        ("CBA", M::Cba(ChangebackCode(201))),
        ("ECO", M::Eco),
        ("ECA", M::Eca),
        ("RCT", M::Rct),
        ("TFC", M::Tfc(code, 2)),
        ("TFP", M::Tfp(code)),
        ("TFR", M::Tfr(code)),
        ("TFA", M::Tfa(code)),
        ("RST", M::Rst(code)),
        ("RSR", M::Rsr(code)),
        ("LIN", M::Lin),
        ("LUN", M::Lun),
        ("LIA", M::Lia),
        ("LUA", M::Lua),
        ("LID", M::Lid),
        ("LFU", M::Lfu),
        ("LLT (LLI)", M::Llt),
        ("LRT (LRI)", M::Lrt),
        ("TRA", M::Tra),
        ("DLC", M::Dlc(SignallingDataLink(0xabc))),
        ("CSS", M::Css),
        ("CNS", M::Cns),
        ("CNP", M::Cnp),
        ("UPU", M::Upu { destination: code, user: 3, cause: 1 }),
    ];
    if layout == ManagementLayout::Ansi {
        let cluster = PointCode(0x01_0200);
        messages.extend([
            ("TCP", M::Tcp(cluster)),
            ("TCR", M::Tcr(cluster)),
            ("TCA", M::Tca(cluster)),
            ("RCP", M::Rcp(cluster)),
            ("RCR", M::Rcr(cluster)),
            ("TRW", M::Trw),
        ]);
    }
    messages
}

fn msu(format: PointCodeFormat, indicator: ServiceIndicator, user_part: &[u8]) -> Vec<u8> {
    let mut octets = Vec::new();
    let service = ServiceInformation { indicator, network: NetworkIndicator::National, priority: 0 };
    Msu { service, label: LABEL, user_part }.emit(format, &mut octets);
    octets
}

/// Gives the fields that tshark prints of each packet; nothing, loudly, where there is no tshark.
fn tshark(layout: ManagementLayout, packets: &[Vec<u8>]) -> Option<Vec<Vec<String>>> {
    let standard = match layout {
        ManagementLayout::Ansi => "ANSI",
        ManagementLayout::Itu => "ITU",
    };
    Tshark::of_octets(&format!("mtp3-{standard}"), &pcap::write(pcap::MTP3, packets))
        .prefer(&format!("mtp3.standard:{standard}"))
        .rows(&["_ws.col.Info", "mtp3.dpc", "mtp3.opc", "_ws.malformed"])
}

#[test]
fn every_message_reads_as_tshark_names_it() {
    for (format, layout, test) in [
        (PointCodeFormat::Itu, ManagementLayout::Itu, ServiceIndicator::TEST),
        (PointCodeFormat::Ansi, ManagementLayout::Ansi, ServiceIndicator::TEST_SPECIAL),
    ] {
        let (mut packets, mut expected) = (Vec::new(), Vec::new());
        let mut expect = |name: &str, packet| {
            packets.push(packet);
            expected.push([name, "92", "257", ""].map(str::to_owned).to_vec());
        };
        for (name, message) in messages(layout) {
            let mut user_part = Vec::new();
            message.emit(layout, Slc(5), &mut user_part);
            expect(name, msu(format, ServiceIndicator::MANAGEMENT, &user_part));
        }
        for (name, message) in [("SLTM", TestMessage::Sltm(b"abc")), ("SLTA", TestMessage::Slta(b"abc"))] {
            let mut user_part = Vec::new();
            message.emit(layout, Slc(5), &mut user_part);
            expect(name, msu(format, test, &user_part));
        }
        let Some(read) = tshark(layout, &packets) else { return };
        assert_eq!(read, expected);
    }
}
