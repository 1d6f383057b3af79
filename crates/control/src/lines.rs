//! Lines of a stream: bytes come in any pieces, and lines go out whole.

/// Longest line that is taken, in bytes, without its end.
pub const LINE_MAX: usize = 65_536;

/// A line that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// The whole line, without its end.
    Whole(&'a [u8]),
    /// A line beyond [`LINE_MAX`], of which nothing is kept.
    TooLong,
}

/// Lines of one stream. It holds no more than a line.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    /// Beginning of a line whose end has not come.
    begun: Vec<u8>,
    /// True while the rest of a line that is too long is thrown away.
    is_skipping: bool,
}

impl Lines {
    /// Takes bytes in, and gives each line that they end. Empty lines are none.
    pub fn push(&mut self, mut bytes: &[u8], each: &mut dyn FnMut(Line<'_>)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.hold(&bytes[..end]);
            bytes = &bytes[end + 1..];
            if std::mem::take(&mut self.is_skipping) {
                each(Line::TooLong);
            } else {
                let line = self.begun.strip_suffix(b"\r").unwrap_or(&self.begun);
                if !line.is_empty() {
                    each(Line::Whole(line));
                }
            }
            self.begun.clear();
        }
        self.hold(bytes);
    }

    fn hold(&mut self, bytes: &[u8]) {
        if self.begun.len() + bytes.len() > LINE_MAX {
            self.is_skipping = true;
        }
        if self.is_skipping {
            self.begun = Vec::new();
        } else {
            self.begun.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
        let (mut lines, mut found) = (Lines::default(), Vec::new());
        for piece in pieces {
            lines.push(piece, &mut |line| {
                found.push(match line {
                    Line::Whole(line) => Some(line.to_vec()),
                    Line::TooLong => None,
                });
                assert!(found.len() <= 1 << 16);
            });
            assert!(lines.begun.capacity() <= 2 * LINE_MAX);
        }
        found
    }

    #[test]
    fn a_line_that_is_too_long_is_told_once_and_the_next_is_whole() {
        let longest = [vec![b'x'; LINE_MAX], b"\n".to_vec()].concat();
        assert_eq!(lines(&[&longest]), [Some(vec![b'x'; LINE_MAX])]);
        let longer = vec![b'x'; LINE_MAX];
        assert_eq!(lines(&[&longer, b"y", &longer, b"z\nab\r\n\n"]), [None, Some(b"ab".to_vec())]);
    }

    proptest! {
        #[test]
        fn lines_are_the_same_however_bytes_are_cut(
            bytes in prop::collection::vec(prop::sample::select(b"ab\n\r{".to_vec()), 0..200),
            at in any::<prop::sample::Index>(),
        ) {
            let at = at.index(bytes.len() + 1);
            prop_assert_eq!(lines(&[&bytes]), lines(&[&bytes[..at], &bytes[at..]]));
        }
    }
}
