//! Frames and packets of Linux 6.18: it forwarded each frame from a device with offloads to one without, and cut it
//! itself.

use super::*;

/// A frame with its work, and the packets that the kernel made of it.
struct Forwarded {
    kind: Option<SegmentationKind>,
    checksum: PartialChecksum,
    header_len: u16,
    frame: &'static str,
    packets: &'static [&'static str],
}

const FORWARDED: &[Forwarded] = &[
    Forwarded {
        kind: Some(SegmentationKind::TcpV4 { has_ecn: true }),
        checksum: PartialChecksum { start: 20, offset: 16 },
        header_len: 52,
        frame: "45280049ffff0000400666730a0900020a08000230390050fffffff80909090980d9010214500000\
             0101080a00000001000000020102030405060708090a0b0c0d0e0f101112131415",
        packets: &[
            "4528003cffff00003f0667800a0900020a08000230390050fffffff80909090980d001020e340000\
             0101080a00000001000000020102030405060708",
            "4528003c000000003f0667800a0900020a08000230390050000000000909090980500102ee8c0000\
             0101080a0000000100000002090a0b0c0d0e0f10",
            "45280039000100003f0667820a0900020a08000230390050000000080909090980590102e58c0000\
             0101080a00000001000000021112131415",
        ],
    },
    Forwarded {
        kind: Some(TCPV6),
        checksum: PartialChecksum { start: 48, offset: 16 },
        header_len: 80,
        frame: "62800000003d3c40fd090000000000000000000000000002fd080000000000000000000000000002\
             060001040000000030390050fffffff80909090980180102fa5100000101080a0000000100000002\
             0102030405060708090a0b0c0d0e0f101112131415",
        packets: &[
            "6280000000303c3ffd090000000000000000000000000002fd080000000000000000000000000002\
             060001040000000030390050fffffff8090909098010010228f200000101080a0000000100000002\
             0102030405060708",
            "6280000000303c3ffd090000000000000000000000000002fd080000000000000000000000000002\
             06000104000000003039005000000000090909098010010208cb00000101080a0000000100000002\
             090a0b0c0d0e0f10",
            "62800000002d3c3ffd090000000000000000000000000002fd080000000000000000000000000002\
             060001040000000030390050000000080909090980180102ffcb00000101080a0000000100000002\
             1112131415",
        ],
    },
    Forwarded {
        kind: Some(SegmentationKind::TcpV6 { has_ecn: true }),
        checksum: PartialChecksum { start: 40, offset: 16 },
        header_len: 72,
        frame: "6280000000350640fd090000000000000000000000000002fd080000000000000000000000000002\
             30390050fffffff80909090980980102fa5100000101080a00000001000000020102030405060708\
             090a0b0c0d0e0f101112131415",
        packets: &[
            "628000000028063ffd090000000000000000000000000002fd080000000000000000000000000002\
             30390050fffffff80909090980900102287200000101080a00000001000000020102030405060708",
            "628000000028063ffd090000000000000000000000000002fd080000000000000000000000000002\
             3039005000000000090909098010010208cb00000101080a0000000100000002090a0b0c0d0e0f10",
            "628000000025063ffd090000000000000000000000000002fd080000000000000000000000000002\
             30390050000000080909090980180102ffcb00000101080a00000001000000021112131415",
        ],
    },
    Forwarded {
        kind: Some(SegmentationKind::Udp),
        checksum: PartialChecksum { start: 20, offset: 6 },
        header_len: 28,
        frame: "45280031ffff0000401166800a0900020a08000230390035001d14430102030405060708090a0b0c\
             0d0e0f101112131415",
        packets: &[
            "45280024ffff00003f11678d0a0900020a080002303900350010ab370102030405060708",
            "45280024000000003f11678d0a0900020a0800023039003500108b17090a0b0c0d0e0f10",
            "45280021000100003f11678f0a0900020a08000230390035000d822b1112131415",
        ],
    },
    Forwarded {
        kind: Some(SegmentationKind::Udp),
        checksum: PartialChecksum { start: 40, offset: 6 },
        header_len: 48,
        frame: "62800000001d1140fd090000000000000000000000000002fd080000000000000000000000000002\
             30390035001dfa440102030405060708090a0b0c0d0e0f101112131415",
        packets: &[
            "628000000010113ffd090000000000000000000000000002fd080000000000000000000000000002\
             303900350010c5350102030405060708",
            "628000000010113ffd090000000000000000000000000002fd080000000000000000000000000002\
             303900350010a515090a0b0c0d0e0f10",
            "62800000000d113ffd090000000000000000000000000002fd080000000000000000000000000002\
             30390035000d9c291112131415",
        ],
    },
    Forwarded {
        kind: None,
        checksum: PartialChecksum { start: 20, offset: 6 },
        header_len: 28,
        frame: "45280031ffff0000401166800a0900020a08000230390035001d14430102030405060708090a0b0c\
             0d0e0f101112131415",
        packets: &["45280031ffff00003f1167800a0900020a08000230390035001d41c30102030405060708090a0b0c\
             0d0e0f101112131415"],
    },
];

fn octets(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().map(|digit| char::from(digit).to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// A frame after one more hop.
fn forwarded(mut frame: Vec<u8>) -> Vec<u8> {
    if frame[0] >> 4 == 4 {
        frame[8] -= 1;
        let sum = ipv4_checksum(&frame[..20]);
        frame[10..12].copy_from_slice(&sum);
    } else {
        frame[7] -= 1;
    }
    frame
}

#[test]
fn a_frame_is_cut_as_linux_cuts_it_and_joined_as_linux_takes_it() {
    for &Forwarded { kind, checksum, header_len, frame, packets } in FORWARDED {
        let frame = forwarded(octets(frame));
        let packets: Vec<Vec<u8>> = packets.iter().map(|packet| octets(packet)).collect();
        let segmentation = kind.map(|kind| segments(kind, 8));
        let offload = Offload { checksum: Some(checksum), segmentation, header_len };
        assert_eq!(made(offload, DeviceLayer::Ip, &frame, 1_500).unwrap(), packets, "{offload:?}");
        if let Some(SegmentationKind::TcpV4 { .. } | SegmentationKind::TcpV6 { .. }) = kind {
            assert_eq!(joined(DeviceLayer::Ip, &packets, 65_535), [(offload, frame)]);
        }
    }
}
