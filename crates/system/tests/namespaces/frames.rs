//! Frames between two networks that are joined by a wire.

use std::os::fd::AsFd as _;
use std::time::Duration;

use slantpath_system::clock::{monotonic, realtime};
use slantpath_system::netlink::{Netlink, Veth};
use slantpath_system::network::{NetNamespace, write_setting};
use slantpath_system::packet::{OFFLOAD_LEN, PacketSocket};
use slantpath_system::reentry::Entered;

use crate::outside::{LIMIT, PASSED, wait_for};

/// Two networks, and the links `near` and `far` between them.
pub(crate) struct Wire {
    pub(crate) near: NetNamespace,
    pub(crate) far: NetNamespace,
}

pub(crate) const NEAR: [u8; 6] = [2, 0, 0, 0, 0, 1];
pub(crate) const FAR: [u8; 6] = [2, 0, 0, 0, 0, 2];
/// Protocol for experiments on a local network (IEEE 802).
const EXPERIMENT: [u8; 2] = [0x88, 0xb5];
/// Offload header of a frame that is complete.
const COMPLETE: [u8; OFFLOAD_LEN] = [0; OFFLOAD_LEN];
const RING: usize = 1 << 20;

impl Wire {
    pub(crate) fn new() -> Self {
        let (near, far) = (NetNamespace::new().unwrap(), NetNamespace::new().unwrap());
        near.run(|| {
            let mut netlink = Netlink::open().unwrap();
            let veth = Veth {
                name: "near",
                address: NEAR,
                peer: "far",
                peer_address: FAR,
                peer_namespace: far.as_fd(),
                mtu: 1_500,
                gso_max_size: 65_536,
            };
            netlink.add_veth(&veth).unwrap();
            netlink.set_up("near").unwrap();
        })
        .unwrap();
        far.run(|| Netlink::open().unwrap().set_up("far").unwrap()).unwrap();
        for (network, name) in [(&near, "near"), (&far, "far")] {
            let wait = || Netlink::open().unwrap().wait_until_running(name, LIMIT).unwrap();
            assert!(network.run(wait).unwrap());
        }
        Self { near, far }
    }

    /// A wire on which no machine says anything by itself.
    fn silent() -> Self {
        let wire = Self::new();
        for network in [&wire.near, &wire.far] {
            network.run(|| write_setting("ipv6/conf/all/disable_ipv6", "1").unwrap()).unwrap();
        }
        wire
    }

    fn at_near(&self) -> PacketSocket {
        self.near.run(|| PacketSocket::open("near", RING, 16_384, false)).unwrap().unwrap()
    }

    fn at_far(&self, ring_bytes: usize, frame_bytes: usize) -> PacketSocket {
        self.far.run(|| PacketSocket::open("far", ring_bytes, frame_bytes, true)).unwrap().unwrap()
    }
}

/// Copy of a frame that was received.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    bytes: Vec<u8>,
    offload: [u8; OFFLOAD_LEN],
    vlan: Option<(u16, u16)>,
    stamp: Duration,
    is_cut: bool,
}

/// The next frame that begins with this address.
fn next(socket: &mut PacketSocket) -> Seen {
    let begin = monotonic();
    while monotonic() < begin + LIMIT {
        if let Some(frame) = socket.receive() {
            // The kernel may have spoken before it was silenced.
            if frame.bytes().starts_with(&FAR) {
                return Seen {
                    bytes: frame.bytes().to_vec(),
                    offload: frame.offload(),
                    vlan: frame.vlan(),
                    stamp: frame.stamp(),
                    is_cut: frame.is_cut(),
                };
            }
        } else {
            wait_for(&*socket);
        }
    }
    panic!("the socket is ready and has no frame");
}

fn frame(kind: &[u8], payload: &[u8]) -> Vec<u8> {
    [&FAR[..], &NEAR, kind, payload].concat()
}

pub(crate) fn arrive(_: &Entered) -> u8 {
    let wire = Wire::silent();
    let (near, mut far) = (wire.at_near(), wire.at_far(1 << 16, 1_514));
    // A socket that has sent a frame does not hear it; others would.
    let mut beside = wire.at_near();
    let before = realtime();
    let sent = frame(&EXPERIMENT, b"from one network to the other, and no less than 46 bytes");
    assert!(near.send(&COMPLETE, &sent).unwrap());
    let seen = next(&mut far);
    let after = realtime();
    assert!((before..=after).contains(&seen.stamp), "{before:?} {:?} {after:?}", seen.stamp);
    assert_eq!(seen, Seen { bytes: sent, offload: COMPLETE, vlan: None, stamp: seen.stamp, is_cut: false });
    // Many times around a ring of 32 slots; each slot is the kernel's once its frame is dropped.
    for round in 0..200_u8 {
        let sent = frame(&EXPERIMENT, &[round; 100]);
        assert!(near.send(&COMPLETE, &sent).unwrap());
        assert_eq!(next(&mut far).bytes, sent);
    }
    assert!(far.receive().is_none());
    assert_eq!(far.drops().unwrap(), 0);
    while let Some(heard) = beside.receive() {
        assert!(!heard.bytes().starts_with(&FAR), "what the machine itself sends");
    }
    PASSED
}

pub(crate) fn offload(_: &Entered) -> u8 {
    let wire = Wire::silent();
    let (near, mut far) = (wire.at_near(), wire.at_far(RING, 16_384));
    // An IPv4 packet of TCP that is to be cut into segments of 1,400 bytes, its checksum begun.
    let payload = vec![7; 5_000];
    let length = u16::try_from(20 + 20 + payload.len()).unwrap().to_be_bytes();
    let mut ip = vec![0x45, 0, length[0], length[1], 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    let sum: u32 = ip.as_chunks::<2>().0.iter().map(|&pair| u32::from(u16::from_be_bytes(pair))).sum();
    let sum = !u16::try_from((sum & 0xffff) + (sum >> 16)).unwrap();
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    let tcp = [0, 80, 0, 81, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 1, 0, 0, 0, 0, 0];
    let sent = frame(&[8, 0], &[&ip[..], &tcp, &payload].concat());
    let words = [54_u16, 1_400, 34, 16].map(u16::to_ne_bytes).concat();
    let header: [u8; OFFLOAD_LEN] = [&[1, 1][..], &words].concat().try_into().unwrap();
    assert!(near.send(&header, &sent).unwrap());
    let seen = next(&mut far);
    assert_eq!(seen.bytes, sent);
    let but_headers = |header: [u8; OFFLOAD_LEN]| [&header[..2], &header[4..]].concat();
    assert_eq!(but_headers(seen.offload), but_headers(header));
    // A tag that the kernel takes out.
    let tagged = frame(&[0x81, 0x00, 0xa1, 0x23], &[&EXPERIMENT[..], &[9; 60]].concat());
    assert!(near.send(&COMPLETE, &tagged).unwrap());
    let seen = next(&mut far);
    assert_eq!((seen.vlan, seen.bytes), (Some((0x8100, 0xa123)), frame(&EXPERIMENT, &[9; 60])));
    PASSED
}

pub(crate) fn drops(_: &Entered) -> u8 {
    // Slots of 256 bytes in one page.
    const SLOTS: u64 = 16;
    const SENT: u64 = 40;
    let wire = Wire::silent();
    let (near, mut witness) = (wire.at_near(), wire.at_far(RING, 1_514));
    let mut small = wire.at_far(4_096, 100);
    for number in 0..=SENT {
        assert!(near.send(&COMPLETE, &frame(&EXPERIMENT, &[u8::try_from(number).unwrap(); 300])).unwrap());
    }
    for _ in 0..=SENT {
        next(&mut witness);
    }
    // The last one may be with one socket and not yet with the other.
    let dropped = small.drops().unwrap();
    assert!([SENT - SLOTS, SENT + 1 - SLOTS].contains(&dropped), "{dropped}");
    assert_eq!(witness.drops().unwrap(), 0);
    let seen = next(&mut small);
    assert!(seen.is_cut);
    let whole = frame(&EXPERIMENT, &[0; 300]);
    assert!((114..=256).contains(&seen.bytes.len()), "{}", seen.bytes.len());
    assert_eq!(seen.bytes, whole[..seen.bytes.len()]);
    // They are summed, though the kernel forgets what it has told.
    assert!([dropped, SENT + 1 - SLOTS].contains(&small.drops().unwrap()));
    PASSED
}
