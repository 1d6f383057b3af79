//! Cells of a column that hold a value: a bit map that costs nothing while every cell does.

/// One bit a cell, set where there is a value; no map at all until the first missing one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Validity {
    len: usize,
    missing: usize,
    /// Least significant bit first, as Arrow wants it. Empty while nothing is missing; bits past `len` are 0.
    bits: Vec<u8>,
}

impl Validity {
    pub(crate) fn push(&mut self, is_present: bool) {
        if !is_present && self.missing == 0 {
            self.bits = vec![0xFF; self.len / 8];
            if !self.len.is_multiple_of(8) {
                self.bits.push((1 << (self.len % 8)) - 1);
            }
        }
        self.missing += usize::from(!is_present);
        if self.missing > 0 {
            if self.len.is_multiple_of(8) {
                self.bits.push(0);
            }
            self.bits[self.len / 8] |= u8::from(is_present) << (self.len % 8);
        }
        self.len += 1;
    }

    pub(crate) fn is_present(&self, row: usize) -> bool {
        self.missing == 0 || self.bits[row / 8] & (1 << (row % 8)) != 0
    }

    pub(crate) fn missing(&self) -> usize {
        self.missing
    }

    /// The map, least significant bit first, or nothing when every cell holds a value.
    pub(crate) fn bitmap(&self) -> Option<&[u8]> {
        (self.missing > 0).then_some(&self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_pushed_is_read(cells: Vec<bool>) {
            let mut validity = Validity::default();
            for cell in &cells {
                validity.push(*cell);
            }
            let read: Vec<bool> = (0..cells.len()).map(|row| validity.is_present(row)).collect();
            prop_assert_eq!(&read, &cells);
            prop_assert_eq!(validity.missing(), cells.iter().filter(|cell| !**cell).count());
            if let Some(bitmap) = validity.bitmap() {
                prop_assert_eq!(bitmap.len(), cells.len().div_ceil(8));
                let ones: u32 = bitmap.iter().map(|byte| byte.count_ones()).sum();
                prop_assert_eq!(ones as usize, cells.len() - validity.missing());
            }
        }
    }
}
