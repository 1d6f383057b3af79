//! The passes of a site as bytes and back, for those who want to keep them.

use super::planner::SitePasses;
use super::stretch::{ContactCause, Stretch};
use super::visibility::Pass;

/// A pass is a satellite, two times and two causes.
const PASS_BYTES: usize = 4 + 8 + 8 + 1 + 1;

impl SitePasses {
    /// All of it. Equal passes give equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_count(&mut bytes, self.of_antenna.len());
        for &list in &self.of_antenna {
            put_count(&mut bytes, list);
        }
        put_count(&mut bytes, self.lists.len());
        for list in &self.lists {
            put_count(&mut bytes, list.len());
            for Pass { satellite, stretch } in list {
                bytes.extend(satellite.to_le_bytes());
                bytes.extend(stretch.start.to_le_bytes());
                bytes.extend(stretch.end.to_le_bytes());
                bytes.extend([stretch.opens, stretch.closes].map(number));
            }
        }
        bytes
    }

    /// Reads the bytes that [`Self::to_bytes`] wrote; `None` if these are no such bytes.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let rest = &mut bytes;
        let antennas = take_count(rest)?;
        let of_antenna: Vec<usize> = (0..antennas).map(|_| take_count(rest)).collect::<Option<_>>()?;
        let count = take_count(rest)?;
        let lists: Vec<Vec<Pass>> = (0..count).map(|_| take_list(rest)).collect::<Option<_>>()?;
        let whole = rest.is_empty() && of_antenna.iter().all(|&list| list < lists.len());
        whole.then_some(Self { lists, of_antenna })
    }
}

fn take_list(rest: &mut &[u8]) -> Option<Vec<Pass>> {
    let count = take_count(rest)?;
    // The bytes bound what is set aside, not the number that they begin with.
    let mut list = Vec::with_capacity(count.min(rest.len() / PASS_BYTES));
    for _ in 0..count {
        let satellite = u32::from_le_bytes(take(rest)?);
        let (start, end) = (f64::from_le_bytes(take(rest)?), f64::from_le_bytes(take(rest)?));
        let [opens, closes] = take::<2>(rest)?.map(cause);
        let stretch = Stretch { start, end, opens: opens?, closes: closes? };
        list.push(Pass { satellite, stretch });
    }
    Some(list)
}

fn put_count(bytes: &mut Vec<u8>, count: usize) {
    bytes.extend((count as u64).to_le_bytes());
}

fn take_count(rest: &mut &[u8]) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(take(rest)?)).ok()
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, others) = rest.split_first_chunk::<N>()?;
    *rest = others;
    Some(*first)
}

fn number(cause: ContactCause) -> u8 {
    let at = ContactCause::ALL.iter().position(|known| *known == cause);
    at.and_then(|at| u8::try_from(at).ok()).unwrap_or(u8::MAX)
}

fn cause(number: u8) -> Option<ContactCause> {
    ContactCause::ALL.get(usize::from(number)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn passes_survive_being_bytes(
            rows in prop::collection::vec((any::<u32>(), 0.0..1e6_f64, 0.0..1e6_f64, 0..13_u8, 0..13_u8), 0..20),
            antennas in 1..4_usize,
        ) {
            let pass = |(satellite, start, end, opens, closes)| {
                let stretch =
                    Stretch { start, end, opens: cause(opens).unwrap(), closes: cause(closes).unwrap() };
                Pass { satellite, stretch }
            };
            let passes = SitePasses {
                lists: vec![rows.into_iter().map(pass).collect()],
                of_antenna: vec![0; antennas],
            };
            let bytes = passes.to_bytes();
            prop_assert_eq!(SitePasses::from_bytes(&bytes), Some(passes));
            prop_assert_eq!(SitePasses::from_bytes(&bytes[..bytes.len() - 1]), None);
        }

        #[test]
        fn any_bytes_are_passes_or_none(bytes: Vec<u8>) {
            let _ = SitePasses::from_bytes(&bytes);
        }
    }

    #[test]
    fn every_cause_has_its_number() {
        for known in ContactCause::ALL {
            assert_eq!(cause(number(known)), Some(known));
        }
    }
}
