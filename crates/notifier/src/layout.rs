//! Structures in a program's memory, as 64-bit Linux lays them out.

use slantpath_requests::Errno;

/// Length of `struct msghdr`.
pub(crate) const MESSAGE_HEADER: usize = 56;
/// Length of `struct mmsghdr`: a header, and the length of its message.
pub(crate) const COUNTED_HEADER: u64 = 64;
/// Place of the message's length within it.
pub(crate) const COUNT_AT: u64 = 56;
/// Place of the name's length within `struct msghdr`.
pub(crate) const NAME_LENGTH_AT: u64 = 8;
/// Place of the length of control messages.
pub(crate) const CONTROL_LENGTH_AT: u64 = 40;
/// Place of the flags.
pub(crate) const FLAGS_AT: u64 = 48;
/// Length of `struct iovec`.
pub(crate) const PIECE: usize = 16;
/// Most pieces of one message (`UIO_MAXIOV`).
pub(crate) const PIECES: u32 = 1_024;
/// Longest address (`struct sockaddr_storage`).
pub(crate) const NAME_MAX: u32 = 128;

/// Fields of a `struct msghdr`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MessageHeader {
    pub(crate) name: u64,
    pub(crate) name_len: u32,
    pub(crate) pieces: u64,
    pub(crate) piece_count: u64,
    pub(crate) control: u64,
    pub(crate) control_len: u64,
}

impl MessageHeader {
    pub(crate) fn read(octets: &[u8; MESSAGE_HEADER]) -> Self {
        let long = |at: usize| u64::from_ne_bytes(*octets[at..].first_chunk().expect("within the header"));
        Self {
            name: long(0),
            name_len: u32::from_ne_bytes(*octets[8..].first_chunk().expect("within the header")),
            pieces: long(16),
            piece_count: long(24),
            control: long(32),
            control_len: long(40),
        }
    }
}

/// Reads the places of `struct iovec`s, and their length in all.
///
/// # Errors
/// `EINVAL` if they are longer than a number of the kernel's.
pub(crate) fn pieces(octets: &[u8]) -> Result<(Vec<(u64, usize)>, usize), Errno> {
    let mut total = 0_usize;
    let mut pieces = Vec::with_capacity(octets.len() / PIECE);
    for octets in octets.as_chunks::<PIECE>().0 {
        let [address, length] = [0, 8]
            .map(|at: usize| u64::from_ne_bytes(*octets[at..].first_chunk().expect("within the structure")));
        let length = usize::try_from(length).map_err(|_| Errno::EINVAL)?;
        total =
            total.checked_add(length).filter(|total| isize::try_from(*total).is_ok()).ok_or(Errno::EINVAL)?;
        pieces.push((address, length));
    }
    Ok((pieces, total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_and_its_pieces_are_read() {
        let mut octets = [0; MESSAGE_HEADER];
        for (at, octet) in octets.iter_mut().enumerate() {
            *octet = u8::try_from(at).unwrap();
        }
        let header = MessageHeader::read(&octets);
        assert_eq!(header.name, 0x0706_0504_0302_0100);
        assert_eq!(header.name_len, 0x0b0a_0908);
        assert_eq!(header.pieces.to_ne_bytes()[0], 16);
        assert_eq!(header.piece_count.to_ne_bytes()[0], 24);
        assert_eq!(header.control.to_ne_bytes()[0], 32);
        assert_eq!(header.control_len.to_ne_bytes()[0], 40);
        let two = [7_u64, 3, 9, 4].map(u64::to_ne_bytes).concat();
        assert_eq!(pieces(&two), Ok((vec![(7, 3), (9, 4)], 7)));
        let endless = [7_u64, 3, 9, i64::MAX.cast_unsigned()].map(u64::to_ne_bytes).concat();
        assert_eq!(pieces(&endless), Err(Errno::EINVAL));
    }
}
