//! Options of an interface that say how its time is counted.

use slantpath_base::Instant;

use super::Order;

const END: u16 = 0;
const IF_TIME_RESOLUTION: u16 = 9;
const IF_TIME_OFFSET: u16 = 14;

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// Time as an interface counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    ticks_per_second: u64,
    /// Seconds that are added to each time.
    offset_seconds: i64,
}

impl Clock {
    /// Instant of a count, held between the epoch and the end of what 64 bits of nanoseconds hold.
    pub(super) fn instant(self, ticks: u64) -> Instant {
        let nanos = u128::from(ticks) * NANOS_PER_SECOND / u128::from(self.ticks_per_second);
        let nanos = i128::try_from(nanos).unwrap_or(i128::MAX);
        let offset = i128::from(self.offset_seconds) * 1_000_000_000;
        let since_epoch = nanos.saturating_add(offset).max(0);
        Instant::from_nanos(u64::try_from(since_epoch).unwrap_or(u64::MAX))
    }
}

/// Reads the clock of an interface: microseconds if its options say nothing. The resolution that none can have is the
/// error.
pub(super) fn clock(mut options: &[u8], order: Order) -> Result<Clock, u8> {
    let mut clock = Clock { ticks_per_second: 1_000_000, offset_seconds: 0 };
    while let Some((head, rest)) = options.split_at_checked(4) {
        let (code, len) = (order.u16(head, 0), usize::from(order.u16(head, 2)));
        // Options that do not fit their block say nothing.
        let Some(value) = rest.get(..len).filter(|_| code != END) else { break };
        match (code, value) {
            (IF_TIME_RESOLUTION, [resolution, ..]) => {
                clock.ticks_per_second = ticks_per_second(*resolution).ok_or(*resolution)?;
            }
            (IF_TIME_OFFSET, value) if value.len() == 8 => {
                let (first, second) = (u64::from(order.u32(value, 0)), u64::from(order.u32(value, 4)));
                let bits = match order {
                    Order::Big => first << 32 | second,
                    Order::Little => second << 32 | first,
                };
                clock.offset_seconds = bits.cast_signed();
            }
            _ => {}
        }
        options = rest.get(len.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(clock)
}

/// A negative power of ten, or with the highest bit of two.
fn ticks_per_second(resolution: u8) -> Option<u64> {
    let power = u32::from(resolution & 0x7f);
    if resolution & 0x80 == 0 { 10_u64.checked_pow(power) } else { 1_u64.checked_shl(power) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(code: u16, value: &[u8]) -> Vec<u8> {
        let mut option = [code.to_le_bytes(), u16::try_from(value.len()).unwrap().to_le_bytes()].concat();
        option.extend_from_slice(value);
        option.resize(option.len().next_multiple_of(4), 0);
        option
    }

    #[test]
    fn time_is_counted_as_its_interface_says() {
        let read = |options: &[u8]| clock(options, Order::Little).unwrap();
        assert_eq!(read(&[]).instant(3).as_nanos(), 3_000);
        assert_eq!(read(&option(9, &[9])).instant(3).as_nanos(), 3);
        assert_eq!(read(&option(9, &[0x83])).instant(3).as_nanos(), 375_000_000);
        let offset = [option(2, b"eth0"), option(14, &(-2_i64).to_le_bytes()), option(9, &[0])].concat();
        assert_eq!(read(&offset).instant(5).as_nanos(), 3_000_000_000);
        assert_eq!(read(&offset).instant(1).as_nanos(), 0);
        assert_eq!(read(&offset).instant(u64::MAX).as_nanos(), u64::MAX);
    }

    #[test]
    fn what_follows_the_last_option_is_not_read_and_a_resolution_that_cannot_be_is_refused() {
        let behind = [option(0, &[]), option(9, &[9])].concat();
        assert_eq!(clock(&behind, Order::Little), clock(&[], Order::Little));
        assert_eq!(clock(&option(9, &[20]), Order::Little), Err(20));
        assert_eq!(clock(&option(9, &[0xc0]), Order::Little), Err(0xc0));
        assert!(clock(&[9, 0, 200, 0, 1], Order::Little).is_ok());
    }
}
