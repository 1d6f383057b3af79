//! Management and test messages of both layouts, written by us and read by tshark.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Command;

use slantpath_ss7::mtp3::{
    ChangebackCode, Fsn, ManagementLayout, ManagementMessage as M, Msu, NetworkIndicator, RoutingLabel,
    ServiceIndicator, ServiceInformation, SignallingDataLink, Slc, Sls, TestMessage,
};
use slantpath_ss7::{PointCode, PointCodeFormat};

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

/// A capture of link type MTP3.
fn capture(packets: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 141] {
        file.extend_from_slice(&word.to_le_bytes());
    }
    for packet in packets {
        let len = u32::try_from(packet.len()).unwrap();
        for word in [0, 0, len, len] {
            file.extend_from_slice(&word.to_le_bytes());
        }
        file.extend_from_slice(packet);
    }
    file
}

/// What tshark prints of each packet; nothing, loudly, where there is no tshark.
fn tshark(layout: ManagementLayout, packets: &[Vec<u8>]) -> Option<Vec<Vec<String>>> {
    let standard = match layout {
        ManagementLayout::Ansi => "ANSI",
        ManagementLayout::Itu => "ITU",
    };
    let mut name = String::new();
    write!(name, "slantpath-mtp3-{standard}-{}.pcap", std::process::id()).unwrap();
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, capture(packets)).unwrap();
    let output = Command::new("tshark")
        .arg("-r")
        .arg(&path)
        .args(["-o", &format!("mtp3.standard:{standard}"), "-T", "fields", "-E", "separator=|"])
        .args(["-e", "_ws.col.Info", "-e", "mtp3.dpc", "-e", "mtp3.opc", "-e", "_ws.malformed"])
        .output();
    std::fs::remove_file(&path).unwrap();
    let output = match output {
        Ok(output) if output.status.success() => output,
        Ok(output) => panic!("tshark: {}", String::from_utf8_lossy(&output.stderr)),
        Err(_) => {
            assert!(std::env::var_os("CI").is_none(), "tshark is not installed");
            writeln!(std::io::stderr(), "SKIPPED: tshark is not installed").expect("stderr is open");
            return None;
        }
    };
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| line.split('|').map(|field| field.trim().to_owned()).collect()).collect())
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
