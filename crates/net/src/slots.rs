//! Places of the components in the calendar.

/// The components' places in the calendar. At one instant, changes of the network come first, then arrivals
/// in the order of the directions, then the hosts' own deadlines, then samples are taken; packets from outside come
/// last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    pub(crate) directions: usize,
    pub(crate) hosts: usize,
}

/// Component that a slot of the calendar stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Component {
    Direction(usize),
    Host(usize),
    Outside,
    Sampler,
    Source,
}

impl Slots {
    pub(crate) const SOURCE: usize = 0;

    pub(crate) const fn count(self) -> usize {
        self.outside() + 1
    }

    pub(crate) const fn direction(index: usize) -> usize {
        1 + index
    }

    pub(crate) const fn host(self, index: usize) -> usize {
        1 + self.directions + index
    }

    pub(crate) const fn sampler(self) -> usize {
        1 + self.directions + self.hosts
    }

    pub(crate) const fn outside(self) -> usize {
        self.sampler() + 1
    }

    #[inline]
    pub(crate) const fn component(self, slot: usize) -> Component {
        if slot == Self::SOURCE {
            Component::Source
        } else if slot <= self.directions {
            Component::Direction(slot - 1)
        } else if slot < self.sampler() {
            Component::Host(slot - 1 - self.directions)
        } else if slot == self.sampler() {
            Component::Sampler
        } else {
            Component::Outside
        }
    }
}
