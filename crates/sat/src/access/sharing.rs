//! Sharing of slots that are too few: max-min fair in each plan, and over plans where slots do not divide.

/// Whose turn it is for slots that are too few for one each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Turn {
    /// The place from which on terminals have theirs.
    first: usize,
    /// The place from which on they have the next one, if some have had a slot in this one and others have not.
    next: Option<usize>,
}

impl Turn {
    /// Tells if somebody waits for the next turn.
    pub(super) fn is_due(&self) -> bool {
        self.next.is_some()
    }

    /// Ends a turn: the next one begins behind those that had a slot in it.
    pub(super) fn pass(&mut self) {
        self.first = self.next.take().unwrap_or(self.first);
    }
}

/// Adds to the grants what is wanted, out of what is left: max-min fair, the rest of a division to those whose turn it
/// is.
pub(super) fn share(wanted: &[u32], left: &mut u32, grants: &mut [u32], turn: &mut Turn) {
    let mut by_need: Vec<usize> = (0..wanted.len()).filter(|&place| wanted[place] > 0).collect();
    by_need.sort_by_key(|&place| wanted[place]);
    let level = |place: usize, left: u32| left / u32::try_from(by_need.len() - place).unwrap_or(u32::MAX);
    // Those that want no more than an equal part have what they want.
    let mut served = 0;
    while let Some(&place) = by_need.get(served)
        && wanted[place] <= level(served, *left)
    {
        grants[place] += wanted[place];
        *left -= wanted[place];
        served += 1;
    }
    if served == by_need.len() {
        return;
    }
    let level = level(served, *left);
    let lacking = &mut by_need[served..];
    for &place in &*lacking {
        grants[place] += level;
        *left -= level;
    }
    // What is left is less than one for each of them.
    if *left == 0 {
        return;
    }
    lacking.sort_unstable();
    let first = lacking.partition_point(|&place| place < turn.first);
    lacking.rotate_left(first);
    for &place in lacking.iter().take(*left as usize) {
        grants[place] += 1;
    }
    turn.next = Some(lacking[*left as usize]);
    *left = 0;
}
