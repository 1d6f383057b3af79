//! Measure of the work that acknowledgements make, for the tests that bound it.

/// A counter of steps; nothing at all outside of tests.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    #[cfg(test)]
    count: core::cell::Cell<usize>,
}

impl Steps {
    /// So many more things have been looked at.
    #[cfg(test)]
    pub(super) fn take(&self, steps: usize) {
        self.count.set(self.count.get() + steps);
    }

    /// So many more things have been looked at.
    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "only tests count")]
    pub(super) const fn take(&self, _steps: usize) {}

    /// Number of steps since the last time.
    #[cfg(test)]
    pub(super) fn reset(&self) -> usize {
        self.count.replace(0)
    }
}
