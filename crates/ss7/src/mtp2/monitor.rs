//! Error rate monitors (Q.703, section 10): of signal units in service, of alignment while proving.

use super::config::Config;

/// Monitor that runs, with its counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Off,
    InService { errors: u32, units: u64 },
    Proving { errors: u32, limit: u32 },
}

/// One of the two monitors, or none.
#[derive(Clone, Debug)]
pub(super) struct ErrorMonitor {
    mode: Mode,
    threshold: u32,
    leak: u64,
}

impl ErrorMonitor {
    pub(super) fn new(config: &Config) -> Self {
        Self { mode: Mode::Off, threshold: config.error_threshold, leak: u64::from(config.error_leak) }
    }

    pub(super) fn stop(&mut self) {
        self.mode = Mode::Off;
    }

    pub(super) fn is_running(&self) -> bool {
        self.mode != Mode::Off
    }

    pub(super) fn start_in_service(&mut self) {
        self.mode = Mode::InService { errors: 0, units: 0 };
    }

    pub(super) fn start_proving(&mut self, limit: u32) {
        self.mode = Mode::Proving { errors: 0, limit };
    }

    /// So many units have come, good or bad: every `leak` of them let one error be forgotten.
    pub(super) fn count_units(&mut self, count: u64) {
        if let Mode::InService { errors, units } = &mut self.mode {
            *units += count;
            let forgotten = *units / self.leak;
            *units %= self.leak;
            *errors = errors.saturating_sub(u32::try_from(forgotten).unwrap_or(u32::MAX));
        }
    }

    /// One of them was damaged. Whether that is too much.
    pub(super) fn count_error(&mut self) -> bool {
        match &mut self.mode {
            Mode::Off => false,
            Mode::InService { errors, .. } => {
                *errors += 1;
                *errors >= self.threshold
            }
            Mode::Proving { errors, limit } => {
                *errors += 1;
                *errors >= *limit
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixty_four_errors_in_a_row_are_too_many() {
        let mut monitor = ErrorMonitor::new(&Config::default());
        monitor.start_in_service();
        let verdicts: Vec<bool> = (0..64)
            .map(|_| {
                monitor.count_units(1);
                monitor.count_error()
            })
            .collect();
        assert_eq!(verdicts.iter().position(|excessive| *excessive), Some(63));
    }

    #[test]
    fn one_error_in_256_units_is_borne_for_ever() {
        let mut monitor = ErrorMonitor::new(&Config::default());
        monitor.start_in_service();
        for _ in 0..10_000 {
            monitor.count_units(256);
            assert!(!monitor.count_error());
        }
    }

    #[test]
    fn one_error_ends_emergency_proving() {
        let mut monitor = ErrorMonitor::new(&Config::default());
        monitor.start_proving(1);
        assert!(monitor.count_error());
    }
}
