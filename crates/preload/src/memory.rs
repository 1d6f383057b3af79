//! Memory of the program, which its pointers say.
//!
//! The kernel copies with care and says `EFAULT`; a library cannot. What is read or written here is held to the range
//! that a program can have, so that the pointers that tests and mistakes bring (null, -1) give `EFAULT`, too. A pointer
//! within the range to what is not mapped ends the program, as it does in the C library.

use std::ffi::c_void;
use std::io::{IoSlice, IoSliceMut};

use slantpath_requests::Errno;

/// Lowest address that a program has mapped, by the kernel's usual limit.
const LOWEST: usize = 65_536;
/// End of the addresses of a program: 2^47 on x86-64, 2^48 at most on others.
const END: usize = if cfg!(target_arch = "x86_64") { 0x7fff_ffff_f000 } else { 0xffff_ffff_f000 };

/// Most buffers of one call.
const IOV_MAX: usize = 1024;
/// Buffers that need no allocation.
const FEW: usize = 8;

/// Refuses addresses that no program has.
pub(crate) fn held(pointer: *const c_void, len: usize) -> Result<(), Errno> {
    let begin = pointer as usize;
    let is_within = begin >= LOWEST && begin.checked_add(len).is_some_and(|end| end <= END);
    if len == 0 || is_within { Ok(()) } else { Err(Errno::EFAULT) }
}

/// Value at a place of the program.
pub(crate) fn read<T: Copy>(pointer: *const T) -> Result<T, Errno> {
    held(pointer.cast(), size_of::<T>())?;
    // SAFETY: The program says that a value is there, which may be unaligned; the kernel would read it as well.
    Ok(unsafe { pointer.read_unaligned() })
}

/// Puts a value to a place of the program.
pub(crate) fn write<T: Copy>(pointer: *mut T, value: T) -> Result<(), Errno> {
    held(pointer.cast(), size_of::<T>())?;
    // SAFETY: The program says that there is a place, which may be unaligned; the kernel would write to it as well.
    unsafe { pointer.write_unaligned(value) };
    Ok(())
}

/// Bytes of the program.
pub(crate) fn bytes<'a>(pointer: *const c_void, len: usize) -> Result<&'a [u8], Errno> {
    held(pointer, len)?;
    if len == 0 {
        return Ok(&[]);
    }
    // SAFETY: The program says that so many bytes are there, and waits for the call to end.
    Ok(unsafe { std::slice::from_raw_parts(pointer.cast(), len) })
}

/// Place of the program for bytes.
pub(crate) fn place<'a>(pointer: *mut c_void, len: usize) -> Result<&'a mut [u8], Errno> {
    held(pointer, len)?;
    if len == 0 {
        return Ok(&mut []);
    }
    // SAFETY: The program says that so many bytes are there, of any value, and waits for the call to end.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer.cast(), len) })
}

/// Vectors of the program.
pub(crate) fn vectors<'a>(pointer: *const libc::iovec, count: usize) -> Result<&'a [libc::iovec], Errno> {
    held(pointer.cast(), count * size_of::<libc::iovec>())?;
    if count == 0 {
        return Ok(&[]);
    }
    if !pointer.is_aligned() {
        return Err(Errno::EFAULT);
    }
    // SAFETY: The program says that so many vectors are there, and waits for the call to end.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// Number of vectors as `readv` and the like give it.
pub(crate) fn count(count: i32) -> Result<usize, Errno> {
    usize::try_from(count).ok().filter(|count| *count <= IOV_MAX).ok_or(Errno::EINVAL)
}

/// Number of vectors in a `struct msghdr`.
pub(crate) fn message_count(count: usize) -> Result<usize, Errno> {
    if count <= IOV_MAX { Ok(count) } else { Err(Errno::EMSGSIZE) }
}

/// Calls with the places that vectors name. The kernel fills them: nothing here looks into one.
pub(crate) fn with_places<R>(
    vectors: &[libc::iovec],
    call: impl FnOnce(&mut [IoSliceMut<'_>]) -> Result<R, Errno>,
) -> Result<R, Errno> {
    if vectors.len() <= FEW {
        let mut places: [IoSliceMut<'_>; FEW] = std::array::from_fn(|_| IoSliceMut::new(&mut []));
        for (vector, own) in vectors.iter().zip(&mut places) {
            *own = IoSliceMut::new(place(vector.iov_base, vector.iov_len)?);
        }
        return call(&mut places[..vectors.len()]);
    }
    let places = vectors.iter().map(|vector| place(vector.iov_base, vector.iov_len).map(IoSliceMut::new));
    call(&mut places.collect::<Result<Vec<_>, _>>()?)
}

/// Calls with the bytes that vectors name. The kernel copies them: nothing here looks into them.
pub(crate) fn with_bytes<R>(
    vectors: &[libc::iovec],
    call: impl FnOnce(&[IoSlice<'_>]) -> Result<R, Errno>,
) -> Result<R, Errno> {
    if vectors.len() <= FEW {
        let mut all = [IoSlice::new(&[]); FEW];
        for (vector, own) in vectors.iter().zip(&mut all) {
            *own = IoSlice::new(bytes(vector.iov_base, vector.iov_len)?);
        }
        return call(&all[..vectors.len()]);
    }
    let all = vectors.iter().map(|vector| bytes(vector.iov_base, vector.iov_len).map(IoSlice::new));
    call(&all.collect::<Result<Vec<_>, _>>()?)
}

/// Gives bytes to a place whose length the program says and is told (`getsockname`, `getsockopt`).
pub(crate) fn give(bytes: &[u8], to: *mut c_void, len: *mut libc::socklen_t) -> Result<(), Errno> {
    let room = room(len)?;
    let taken = room.min(bytes.len());
    place(to, taken)?.copy_from_slice(&bytes[..taken]);
    write(len, libc::socklen_t::try_from(bytes.len()).unwrap_or(libc::socklen_t::MAX))
}

/// Room that the program says.
pub(crate) fn room(len: *const libc::socklen_t) -> Result<usize, Errno> {
    let room = read(len)?.cast_signed();
    usize::try_from(room).map_err(|_| Errno::EINVAL)
}
