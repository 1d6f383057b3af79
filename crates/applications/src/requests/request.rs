//! The bytes of a request: how much it asks for, its own length, and a pattern that fills it up.

use bytes::Bytes;

use crate::message::{Content, MAX_MESSAGE_LEN, compose};

/// Bytes in front of each request: eight say how many the answer has, four how many the request has itself, big-endian.
pub const HEADER_LEN: usize = 12;

/// A request of `len` bytes.
///
/// # Panics
/// If it is shorter than its header or longer than the longest message.
pub(super) fn encode(answer_bytes: u64, len: usize) -> Bytes {
    let length = u32::try_from(len).expect("a request is at most 64 KiB");
    let filler = compose(Content::Pattern, 0, len.checked_sub(HEADER_LEN).expect("a request has a header"));
    [&answer_bytes.to_be_bytes()[..], &length.to_be_bytes(), &filler].concat().into()
}

/// A stream in which no request can be told from the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a request says that it has {length} bytes")]
pub(super) struct Malformed {
    length: u32,
}

/// Reads requests out of a stream that may be cut anywhere.
#[derive(Debug, Default)]
pub(super) struct RequestReader {
    header: [u8; HEADER_LEN],
    /// Number of bytes of the header that have come.
    read: usize,
    /// Number of bytes left of the request whose header has been read.
    to_skip: usize,
    /// Number of bytes of the answer to the request.
    answer_bytes: u64,
}

impl RequestReader {
    /// Takes the next bytes; `ask` is called with the length of each answer once its request is complete.
    pub(super) fn push(&mut self, mut bytes: &[u8], mut ask: impl FnMut(u64)) -> Result<(), Malformed> {
        while !bytes.is_empty() {
            if self.to_skip == 0 {
                let taken = bytes.len().min(HEADER_LEN - self.read);
                self.header[self.read..self.read + taken].copy_from_slice(&bytes[..taken]);
                (self.read, bytes) = (self.read + taken, &bytes[taken..]);
                if self.read < HEADER_LEN {
                    return Ok(());
                }
                self.to_skip = self.read_header()?;
            } else {
                let taken = bytes.len().min(self.to_skip);
                (self.to_skip, bytes) = (self.to_skip - taken, &bytes[taken..]);
            }
            if self.to_skip == 0 {
                self.read = 0;
                ask(self.answer_bytes);
            }
        }
        Ok(())
    }

    /// Reads the header, and gives the number of bytes that follow it.
    fn read_header(&mut self) -> Result<usize, Malformed> {
        let (mut answer, mut length) = ([0; 8], [0; 4]);
        answer.copy_from_slice(&self.header[..8]);
        length.copy_from_slice(&self.header[8..]);
        self.answer_bytes = u64::from_be_bytes(answer);
        let length = u32::from_be_bytes(length);
        match (length as usize).checked_sub(HEADER_LEN) {
            Some(filler) if length as usize <= MAX_MESSAGE_LEN => Ok(filler),
            _ => Err(Malformed { length }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn requests_are_read_however_they_are_cut(
            requests in proptest::collection::vec((any::<u64>(), HEADER_LEN..300), 1..20),
            cuts in proptest::collection::vec(1_usize..100, 1..50),
        ) {
            let stream: Vec<u8> =
                requests.iter().flat_map(|&(answer, len)| encode(answer, len).to_vec()).collect();
            let (mut reader, mut read, mut rest) = (RequestReader::default(), Vec::new(), &stream[..]);
            for cut in cuts.iter().cycle() {
                let (now, later) = rest.split_at((*cut).min(rest.len()));
                reader.push(now, |answer| read.push(answer)).unwrap();
                rest = later;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(read, requests.iter().map(|&(answer, _)| answer).collect::<Vec<_>>());
        }

        #[test]
        fn any_bytes_are_requests_or_an_error(bytes: Vec<u8>) {
            let mut asked = 0;
            let _ = RequestReader::default().push(&bytes, |_| asked += 1);
            prop_assert!(asked <= bytes.len() / HEADER_LEN);
        }
    }

    #[test]
    fn a_length_that_no_request_has_is_refused() {
        for length in [0, 11, 65_537, u32::MAX] {
            let bytes = [&5_u64.to_be_bytes()[..], &length.to_be_bytes()].concat();
            assert_eq!(RequestReader::default().push(&bytes, |_| {}), Err(Malformed { length }));
        }
        for length in [12, 65_536] {
            let bytes = [&5_u64.to_be_bytes()[..], &u32::to_be_bytes(length)].concat();
            let mut asked = Vec::new();
            assert_eq!(RequestReader::default().push(&bytes, |answer| asked.push(answer)), Ok(()));
            // The longer one is not complete.
            assert_eq!(asked, if length == 12 { vec![5] } else { vec![] });
        }
    }
}
