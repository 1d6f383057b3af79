//! Asks the processor for memory before it is read: of very many components, the next one's is in no cache.

/// So many associations, connections or sockets are in the processor's cache with what belongs to them: they take 5 kB
/// each at most. What is one of more is worth asking for.
pub const CACHED: usize = 64;

/// Asks for all of a value, so that its cache lines come side by side and not one after the other as each is read.
/// Nothing but time depends on it; where it is not known how to ask, nothing is done.
#[inline]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = core::ptr::from_ref(value).cast::<i8>();
        for offset in (0..size_of::<T>()).step_by(LINE_BYTES) {
            #[expect(unsafe_code, reason = "an instruction that reads nothing that a program sees")]
            // SAFETY: The address lies within the value; a hint could not fault at any other, either.
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(start.add(offset));
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

#[cfg(target_arch = "x86_64")]
const LINE_BYTES: usize = 64;
