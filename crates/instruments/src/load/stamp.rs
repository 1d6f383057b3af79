//! Stamp in a message of a load: its number, its kind and when it was due; a filling follows.

use bytes::Bytes;
use slantpath_base::Instant;

/// Identification that a message of a load bears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Number of the message within its association, from 0 on; below 2^48, which at a million a second are nine years.
    pub(super) number: u64,
    /// The place of its kind among those of the workload.
    pub(super) kind: u16,
    /// From when its delay counts.
    pub(super) due: Instant,
}

impl Stamp {
    /// Bytes that it takes.
    pub(super) const LEN: usize = 16;

    /// A message of so many bytes, filled from the same place of `filling`.
    pub(super) fn message(self, bytes: usize, filling: &[u8]) -> Bytes {
        let mut octets = Vec::with_capacity(bytes);
        octets.extend_from_slice(&(self.number << 16 | u64::from(self.kind)).to_be_bytes());
        octets.extend_from_slice(&self.due.as_nanos().to_be_bytes());
        octets.extend_from_slice(&filling[Self::LEN..bytes]);
        octets.into()
    }

    /// Reads the stamp of a message, if it is long enough to have one.
    pub(super) fn read(message: &[u8]) -> Option<Self> {
        let (which, rest) = message.split_first_chunk()?;
        let (due, _) = rest.split_first_chunk()?;
        let which = u64::from_be_bytes(*which);
        Some(Self {
            number: which >> 16,
            kind: (which & 0xffff) as u16,
            due: Instant::from_nanos(u64::from_be_bytes(*due)),
        })
    }

    /// Tells if a message is as long as it has to be, with every byte of the filling in its place.
    pub(super) fn is_whole(message: &[u8], bytes: usize, filling: &[u8]) -> bool {
        message.len() == bytes && message.get(Self::LEN..) == filling.get(Self::LEN..bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_which_it_is_and_one_that_was_cut_or_changed_is_not_whole() {
        let filling = [7; 40];
        let stamp = Stamp { number: (1 << 48) - 2, kind: 65_534, due: Instant::from_millis(5) };
        for bytes in [16, 17, 40] {
            let message = stamp.message(bytes, &filling);
            assert_eq!((message.len(), Stamp::read(&message)), (bytes, Some(stamp)));
            assert!(Stamp::is_whole(&message, bytes, &filling));
            assert!(!Stamp::is_whole(&message, bytes + 1, &filling));
            assert!(!Stamp::is_whole(&message[..bytes - 1], bytes, &filling));
            assert_eq!(Stamp::read(&message[..15]), None);
        }
        let mut changed = stamp.message(40, &filling).to_vec();
        changed[39] ^= 1;
        assert!(!Stamp::is_whole(&changed, 40, &filling));
    }
}
