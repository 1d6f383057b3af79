//! CRC32c (RFC 9260, appendix A), by the processor's own instruction where there is one.

/// Over `head`, four zero bytes in the place of those from the ninth on, `tail` and so many zero bytes.
///
/// # Panics
/// If `head` is shorter than twelve bytes.
#[expect(clippy::inline_always, reason = "each packet passes it, and it is little more than a call")]
#[inline(always)]
pub(super) fn sctp(head: &[u8], tail: &[u8], padding: u8) -> u32 {
    let (front, rest) = head.split_first_chunk::<12>().expect("a common header");
    let front =
        u64::from_le_bytes([front[0], front[1], front[2], front[3], front[4], front[5], front[6], front[7]]);
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("sse4.2") && is_x86_feature_detected!("pclmulqdq") {
        #[expect(unsafe_code, reason = "the processor has been asked for both instructions")]
        // SAFETY: The function needs nothing but the instructions that the processor has said to have.
        return unsafe { x86::behind_front(front, rest, tail, padding) };
    }
    anywhere::behind_front(front, rest, tail, padding)
}

/// On a processor of which nothing is known here.
mod anywhere {
    pub(super) fn behind_front(front: u64, rest: &[u8], tail: &[u8], padding: u8) -> u32 {
        let parts = [&front.to_le_bytes()[..], &[0; 4], rest, tail];
        let crc = parts.into_iter().fold(0, crc32c::crc32c_append);
        (0..padding).fold(crc, |crc, _| crc32c::crc32c_append(crc, &[0]))
    }
}

/// The instruction takes eight bytes and three cycles, but a new one can begin in each: so a block is read as three
/// streams of equal length, side by side, which a multiplication without carries puts together. The lengths of blocks
/// are constants: so are the factors then, and the compiler makes an instruction of each word, and no loop.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::{
        _mm_clmulepi64_si128, _mm_crc32_u8, _mm_crc32_u32, _mm_crc32_u64, _mm_cvtsi64_si128,
        _mm_cvtsi128_si64,
    };

    type Word = [u8; 8];

    /// Words of a long block: most of a kilobyte, and of what an Ethernet carries.
    const LONG: usize = 3 * 42;
    /// Words of a middle block, one of which is most of what a long one leaves of an Ethernet's packet.
    const MIDDLE: usize = 3 * 16;
    /// Words of a short block: less is read as fast in one stream.
    const SHORT: usize = 3 * 8;

    /// Over eight bytes, four zero bytes, `rest`, `tail` and more zero bytes.
    #[target_feature(enable = "sse4.2,pclmulqdq")]
    pub(super) fn behind_front(front: u64, rest: &[u8], tail: &[u8], padding: u8) -> u32 {
        let crc = _mm_crc32_u64(u32::MAX.into(), front);
        let mut crc = append(_mm_crc32_u32(low(crc), 0).into(), rest);
        if !tail.is_empty() {
            crc = append(crc, tail);
        }
        !(0..padding).fold(low(crc), |crc, _| _mm_crc32_u8(crc, 0))
    }

    #[inline]
    #[target_feature(enable = "sse4.2,pclmulqdq")]
    fn append(mut crc: u64, bytes: &[u8]) -> u64 {
        let (mut words, mut rest) = bytes.as_chunks::<8>();
        while let Some((block, others)) = words.split_first_chunk::<LONG>() {
            crc = of_block(crc, block);
            words = others;
        }
        while let Some((block, others)) = words.split_first_chunk::<MIDDLE>() {
            crc = of_block(crc, block);
            words = others;
        }
        if let Some((block, others)) = words.split_first_chunk::<SHORT>() {
            crc = of_block(crc, block);
            words = others;
        }
        while let Some((four, others)) = words.split_first_chunk::<4>() {
            crc = four.iter().fold(crc, |crc, word| of_word(crc, *word));
            words = others;
        }
        // Not a loop: the compiler would prepare one for many words, at more than these three cost.
        if let Some((two, others)) = words.split_first_chunk::<2>() {
            crc = two.iter().fold(crc, |crc, word| of_word(crc, *word));
            words = others;
        }
        if let Some(word) = words.first() {
            crc = of_word(crc, *word);
        }
        if let Some((half, bytes)) = rest.split_first_chunk() {
            crc = _mm_crc32_u32(low(crc), u32::from_le_bytes(*half)).into();
            rest = bytes;
        }
        for byte in rest {
            crc = _mm_crc32_u8(low(crc), *byte).into();
        }
        crc
    }

    /// A block as three streams, one behind the other.
    #[inline]
    #[target_feature(enable = "sse4.2,pclmulqdq")]
    fn of_block<const WORDS: usize>(crc: u64, block: &[Word; WORDS]) -> u64 {
        let len = const { WORDS / 3 };
        let (mut a, mut b, mut c) = (crc, 0, 0);
        for at in 0..len {
            a = of_word(a, block[at]);
            b = of_word(b, block[len + at]);
            c = of_word(c, block[2 * len + at]);
        }
        let behind =
            multiplied(a, const { shift(WORDS / 3 * 2) }) ^ multiplied(b, const { shift(WORDS / 3) });
        c ^ _mm_crc32_u64(0, behind)
    }

    #[inline]
    #[target_feature(enable = "sse4.2,pclmulqdq")]
    fn of_word(crc: u64, word: Word) -> u64 {
        _mm_crc32_u64(crc, u64::from_le_bytes(word))
    }

    /// With a [`shift`] by so many words: what has the same remainder as `crc` behind those words of zeros, once the
    /// instruction has taken it in.
    #[inline]
    #[target_feature(enable = "sse4.2,pclmulqdq")]
    fn multiplied(crc: u64, shift: u32) -> u64 {
        let factor = _mm_cvtsi64_si128(shift.into());
        let crc = _mm_cvtsi64_si128(crc.cast_signed());
        _mm_cvtsi128_si64(_mm_clmulepi64_si128::<0>(crc, factor)).cast_unsigned()
    }

    #[expect(clippy::cast_possible_truncation, reason = "the instruction leaves the upper half zero")]
    const fn low(crc: u64) -> u32 {
        crc as u32
    }

    /// x to the power of 64 n - 33 modulo the polynomial for n words, lowest bit first. The instruction multiplies what
    /// it takes in by x to the power of 32, and the product of two numbers whose lowest bit comes first is short of a
    /// factor of x.
    const fn shift(words: usize) -> u32 {
        // x to the power of 31.
        let mut power = 1_u32;
        let mut bit = 64;
        while bit < 64 * words {
            power = (power >> 1) ^ if power & 1 == 1 { POLYNOMIAL } else { 0 };
            bit += 1;
        }
        power
    }

    const POLYNOMIAL: u32 = 0x82f6_3b78;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit by bit, as the polynomial says it.
    fn by_division(bytes: &[u8]) -> u32 {
        let shift = |crc: u32| (crc >> 1) ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
        !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| shift(crc)))
    }

    fn noise(len: u32) -> Vec<u8> {
        (0..len).map(|at| at.wrapping_mul(0x9e37_79b1).to_le_bytes()[2]).collect()
    }

    fn zeroed(head: &[u8], tail: &[u8]) -> Vec<u8> {
        [&head[..8], &[0; 4], &head[12..], tail].concat()
    }

    #[test]
    fn the_check_value_of_the_polynomial() {
        assert_eq!(by_division(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn every_length_gives_what_division_by_the_polynomial_gives() {
        let bytes = noise(1_700);
        for len in 12..bytes.len() {
            let expected = by_division(&zeroed(&bytes[..len], &[]));
            assert_eq!(sctp(&bytes[..len], &[], 0), expected, "{len} bytes");
        }
    }

    #[test]
    fn where_parts_are_cut_makes_no_difference() {
        let mut bytes = noise(5_000);
        bytes.extend([0; 3]);
        let expected = by_division(&zeroed(&bytes, &[]));
        for cut in (12..5_000).step_by(7) {
            let (head, tail) = bytes[..5_000].split_at(cut);
            assert_eq!(sctp(head, tail, 3), expected, "cut at {cut}");
            assert_eq!(sctp(head, &bytes[cut..5_002], 1), expected, "cut at {cut}");
        }
    }

    #[test]
    fn a_processor_without_the_instructions_gives_the_same() {
        for len in [12, 13, 28, 40, 1_052, 1_480] {
            let bytes = noise(len);
            let (front, rest) = bytes.split_first_chunk().unwrap();
            let general = anywhere::behind_front(u64::from_le_bytes(*front), &rest[4..], &[7; 33], 3);
            assert_eq!(general, sctp(&bytes, &[7; 33], 3), "{len} bytes");
        }
    }
}
