//! A queue of nodes by distance for a search that never goes back: buckets of equal width, used round and
//! round.

/// Number of buckets.
const COUNT: usize = 1024;
const WORDS: usize = COUNT / 64;

/// Nodes waiting to be expanded. All that wait lie within `COUNT − 1` buckets of the one in hand.
#[derive(Clone, Debug)]
pub(super) struct Buckets {
    lists: Vec<Vec<u32>>,
    occupied: [u64; WORDS],
    shift: u32,
    in_hand: usize,
}

impl Buckets {
    /// A queue for steps of up to `weight_max`. A bucket is at least half a millisecond wide, which in low
    /// orbit is the shortest link: nodes of one bucket are then rarely expanded twice.
    pub(super) fn new(weight_max: u32) -> Self {
        let mut shift = 19;
        while (weight_max >> shift) as usize >= COUNT - 2 {
            shift += 1;
        }
        Self { lists: vec![Vec::new(); COUNT], occupied: [0; WORDS], shift, in_hand: 0 }
    }

    /// Begins a search at a distance.
    pub(super) fn start_at(&mut self, distance: u32) {
        self.in_hand = self.bucket_of(distance);
    }

    pub(super) fn push(&mut self, node: u32, distance: u32) {
        let bucket = self.bucket_of(distance);
        self.occupied[bucket / 64] |= 1 << (bucket % 64);
        self.lists[bucket].push(node);
    }

    /// The bucket of a distance.
    pub(super) fn bucket_of(&self, distance: u32) -> usize {
        (distance >> self.shift) as usize % COUNT
    }

    /// The nodes of the next bucket that holds any, and its number. `spare` is left in their place, so that
    /// no memory is lost.
    pub(super) fn next(&mut self, spare: &mut Vec<u32>) -> Option<usize> {
        let bucket = self.next_occupied()?;
        self.in_hand = bucket;
        self.occupied[bucket / 64] &= !(1 << (bucket % 64));
        spare.clear();
        core::mem::swap(spare, &mut self.lists[bucket]);
        Some(bucket)
    }

    fn next_occupied(&self) -> Option<usize> {
        let (word, bit) = (self.in_hand / 64, self.in_hand % 64);
        let here = self.occupied[word] & (u64::MAX << bit);
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        // Once round, back to the bits before the one in hand.
        (1..=WORDS).find_map(|step| {
            let word = (word + step) % WORDS;
            let bits = self.occupied[word];
            (bits != 0).then(|| word * 64 + bits.trailing_zeros() as usize)
        })
    }
}
