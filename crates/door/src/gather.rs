//! A header in front of the buffers of a program.

use std::io::{IoSlice, IoSliceMut};

/// Buffers that stand beside a header without an allocation; a program that brings more gets one.
const FEW: usize = 8;

/// Most buffers that the kernel takes at once, less the header.
pub(crate) const MOST: usize = 1023;

/// Calls with the header in front of buffers that are read from.
pub(crate) fn sending<R>(
    header: &[u8],
    buffers: &[IoSlice<'_>],
    call: impl FnOnce(&[IoSlice<'_>]) -> R,
) -> R {
    let buffers = &buffers[..buffers.len().min(MOST)];
    if buffers.len() <= FEW {
        let mut all = [IoSlice::new(&[]); FEW + 1];
        all[0] = IoSlice::new(header);
        all[1..=buffers.len()].copy_from_slice(buffers);
        return call(&all[..=buffers.len()]);
    }
    let mut all = Vec::with_capacity(buffers.len() + 1);
    all.push(IoSlice::new(header));
    all.extend_from_slice(buffers);
    call(&all)
}

/// Calls with the header, if there is one, in front of what is left of buffers that are written to, behind the bytes
/// that are filled.
pub(crate) fn receiving<R>(
    header: &mut [u8],
    buffers: &mut [IoSliceMut<'_>],
    filled: usize,
    call: impl FnOnce(&mut [IoSliceMut<'_>]) -> R,
) -> R {
    let has_header = usize::from(!header.is_empty());
    let most = buffers.len().min(MOST);
    let left = left(&mut buffers[..most], filled);
    if most <= FEW {
        let mut all: [IoSliceMut<'_>; FEW + 1] = std::array::from_fn(|_| IoSliceMut::new(&mut []));
        if has_header == 1 {
            all[0] = IoSliceMut::new(header);
        }
        let mut count = has_header;
        for buffer in left {
            all[count] = buffer;
            count += 1;
        }
        return call(&mut all[..count]);
    }
    let mut all = Vec::with_capacity(most + 1);
    if has_header == 1 {
        all.push(IoSliceMut::new(header));
    }
    all.extend(left);
    call(&mut all)
}

/// Parts of buffers behind the bytes that are filled.
fn left<'a>(buffers: &'a mut [IoSliceMut<'_>], mut filled: usize) -> impl Iterator<Item = IoSliceMut<'a>> {
    buffers.iter_mut().filter_map(move |buffer| {
        let skipped = filled.min(buffer.len());
        filled -= skipped;
        Some(&mut buffer[skipped..]).filter(|rest| !rest.is_empty()).map(IoSliceMut::new)
    })
}

/// Room in all buffers.
pub(crate) fn room(buffers: &[IoSliceMut<'_>]) -> usize {
    buffers.iter().take(MOST).fold(0, |sum: usize, buffer| sum.saturating_add(buffer.len()))
}

/// Length of all buffers.
pub(crate) fn length(buffers: &[IoSlice<'_>]) -> usize {
    buffers.iter().take(MOST).fold(0, |sum: usize, buffer| sum.saturating_add(buffer.len()))
}

/// Part of buffers: so many bytes behind the first ones.
pub(crate) fn part<'a>(buffers: &'a [IoSlice<'a>], mut skipped: usize, mut len: usize) -> Vec<IoSlice<'a>> {
    let mut parts = Vec::with_capacity(2);
    for buffer in buffers {
        let begin = skipped.min(buffer.len());
        skipped -= begin;
        let taken = len.min(buffer.len() - begin);
        len -= taken;
        if taken > 0 {
            parts.push(IoSlice::new(&buffer[begin..begin + taken]));
        }
    }
    parts
}
