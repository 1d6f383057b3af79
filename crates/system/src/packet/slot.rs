//! Layout of a slot: `struct tpacket2_hdr`, the offload header, and the frame right behind that.

use std::ops::Range;
use std::time::Duration;

/// Bytes of a `struct virtio_net_hdr`.
pub const OFFLOAD_LEN: usize = 10;
/// Bytes of a slot before the Ethernet header, at most: 76 with a header of 14.
pub(super) const HEADROOM: usize = 96;
/// Flags of a slot's status (TP_STATUS_VLAN_VALID and TP_STATUS_VLAN_TPID_VALID).
const HAS_VLAN: u32 = 0x10;
const HAS_VLAN_PROTOCOL: u32 = 0x40;
/// Protocol of a tag whose protocol is not told.
const VLAN: u16 = 0x8100;

/// Content of a slot, but for the bytes of the frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SlotHeader {
    /// Place of the frame in the slot behind its status.
    pub(super) frame: Range<usize>,
    pub(super) offload: [u8; OFFLOAD_LEN],
    pub(super) vlan: Option<(u16, u16)>,
    pub(super) stamp: Duration,
    pub(super) is_cut: bool,
}

impl SlotHeader {
    /// Reads a slot with this status from behind it. `None` if the frame would not lie within the slot.
    pub(super) fn read(status: u32, slot: &[u8]) -> Option<Self> {
        /// Bytes of the status, from whose beginning the kernel counts.
        const STATUS: usize = 4;
        let (len, kept, mac) = (u32_at(slot, 0)?, u32_at(slot, 4)?, u16_at(slot, 8)?);
        let (seconds, nanoseconds) = (u32_at(slot, 12)?, u32_at(slot, 16)?);
        let (tag, protocol) = (u16_at(slot, 20)?, u16_at(slot, 22)?);
        let start = usize::from(mac).checked_sub(STATUS)?;
        let end = start.checked_add(usize::try_from(kept).ok()?)?;
        slot.get(start..end)?;
        let offload = *slot.get(start.checked_sub(OFFLOAD_LEN)?..)?.first_chunk()?;
        let protocol = if status & HAS_VLAN_PROTOCOL == 0 { VLAN } else { protocol };
        Some(Self {
            frame: start..end,
            offload,
            vlan: (status & HAS_VLAN != 0).then_some((protocol, tag)),
            // A stamp is not divided by the kernel if it never is: seconds alone would be wrong by less than one.
            stamp: Duration::new(seconds.into(), nanoseconds.min(999_999_999)),
            is_cut: kept < len,
        })
    }
}

fn u16_at(octets: &[u8], at: usize) -> Option<u16> {
    octets.get(at..)?.first_chunk().copied().map(u16::from_ne_bytes)
}

fn u32_at(octets: &[u8], at: usize) -> Option<u32> {
    octets.get(at..)?.first_chunk().copied().map(u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slot of 128 bytes, its status left out, with a frame of so many bytes of which some are kept, at byte 76.
    fn slot(len: u32, kept: u32) -> Vec<u8> {
        let mut slot = [len, kept].map(u32::to_ne_bytes).concat();
        slot.extend([76_u16, 90].map(u16::to_ne_bytes).concat());
        slot.extend([1_700_000_000_u32, 12_345].map(u32::to_ne_bytes).concat());
        slot.extend([0x0123_u16, 0x88a8].map(u16::to_ne_bytes).concat());
        slot.resize(62, 0);
        slot.extend(1..=10);
        slot.extend(100..152);
        slot
    }

    #[test]
    fn a_slot_is_read_as_the_kernel_lays_it_out() {
        let header = SlotHeader {
            frame: 72..76,
            offload: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
            vlan: None,
            stamp: Duration::new(1_700_000_000, 12_345),
            is_cut: false,
        };
        let slot_of_four = slot(4, 4);
        assert_eq!(SlotHeader::read(1, &slot_of_four), Some(header.clone()));
        assert_eq!(slot_of_four[header.frame.clone()], [100, 101, 102, 103]);
        let cut = SlotHeader { is_cut: true, ..header.clone() };
        assert_eq!(SlotHeader::read(1, &slot(5, 4)), Some(cut));
        for (status, vlan) in [(0x11, (0x8100, 0x0123)), (0x51, (0x88a8, 0x0123))] {
            let tagged = SlotHeader { vlan: Some(vlan), ..header.clone() };
            assert_eq!(SlotHeader::read(status, &slot_of_four), Some(tagged));
        }
    }

    proptest::proptest! {
        #[test]
        fn any_slot_gives_a_frame_within_it_or_none(
            status: u32,
            octets in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
            (len, kept, mac) in (0_u32..200, 0_u32..200, 0_u16..200),
        ) {
            let mut octets = octets;
            let places = [&len.to_ne_bytes()[..], &kept.to_ne_bytes(), &mac.to_ne_bytes()].concat();
            for (place, octet) in octets.iter_mut().zip(places) {
                *place = octet;
            }
            if let Some(header) = SlotHeader::read(status, &octets) {
                proptest::prop_assert!(header.frame.start >= OFFLOAD_LEN && header.frame.end <= octets.len());
                proptest::prop_assert_eq!(header.frame.len(), kept as usize);
                proptest::prop_assert_eq!(header.is_cut, kept < len);
            }
        }
    }

    #[test]
    fn a_frame_outside_of_its_slot_is_none() {
        assert!(SlotHeader::read(1, &slot(52, 52)).is_some());
        assert_eq!(SlotHeader::read(1, &slot(53, 53)), None);
        assert_eq!(SlotHeader::read(1, &slot(1, u32::MAX)), None);
        let whole = slot(4, 4);
        for len in 0..76 {
            assert_eq!(SlotHeader::read(1, &whole[..len]), None, "{len}");
        }
        for mac in [0_u16, 3, 13, u16::MAX] {
            let mut octets = whole.clone();
            octets[8..10].copy_from_slice(&mac.to_ne_bytes());
            assert_eq!(SlotHeader::read(1, &octets), None, "{mac}");
        }
    }
}
