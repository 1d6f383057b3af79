//! Receive ring of a packet socket (TPACKET_V2): slots of equal size, each the kernel's or ours.

use std::io;
use std::marker::PhantomData;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

use super::slot::{HEADROOM, OFFLOAD_LEN, SlotHeader};

/// Status of a slot: the kernel's, and a bit of those that are ours (TP_STATUS_KERNEL, TP_STATUS_USER).
const OF_KERNEL: u32 = 0;
const OURS: u32 = 1;
/// Bytes of the status, with which a slot begins.
const STATUS_LEN: usize = 4;
/// TPACKET_ALIGNMENT, of which the size of a slot is a multiple.
const ALIGNMENT: usize = 16;
/// Fewest slots: one to read while another is written.
const FEWEST: usize = 2;
/// Pages of a block, at most.
const BLOCK_PAGES: usize = 256;

/// Sizes of a ring, as the kernel wants them. All of it is one piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    slot_bytes: u32,
    block_bytes: u32,
    blocks: u32,
    slots: u32,
}

impl Geometry {
    /// Sizes of a ring of about `ring_bytes` whose slots hold `frame_bytes`.
    pub(super) fn of(ring_bytes: usize, frame_bytes: usize, page: usize) -> io::Result<Self> {
        let refused = || {
            let told = format!(
                "a ring of {ring_bytes} bytes for frames of {frame_bytes}: frames of 14 to 1,048,576 bytes, and a \
                 ring of less than 4 GiB that holds two of them"
            );
            io::Error::new(io::ErrorKind::InvalidInput, told)
        };
        if !(14..=1 << 20).contains(&frame_bytes) {
            return Err(refused());
        }
        let needed = (HEADROOM + frame_bytes).next_multiple_of(ALIGNMENT);
        // A slot is not spread over two blocks, and blocks are whole pages.
        let slot = if needed < page { needed.next_power_of_two() } else { needed.next_multiple_of(page) };
        let slots_of_block = if slot < page { page / slot } else { slots_of_block(slot / page) };
        let block = slot * slots_of_block;
        let blocks = (ring_bytes / block).max(FEWEST.div_ceil(slots_of_block));
        let slots = blocks * slots_of_block;
        if ring_bytes / slot < FEWEST || u32::try_from(blocks * block).is_err() {
            return Err(refused());
        }
        let narrow = |number: usize| u32::try_from(number).map_err(|_| refused());
        Ok(Self {
            slot_bytes: narrow(slot)?,
            block_bytes: narrow(block)?,
            blocks: narrow(blocks)?,
            slots: narrow(slots)?,
        })
    }

    /// Value of the option, a `struct tpacket_req`.
    pub(super) fn request(self) -> Vec<u8> {
        let Self { slot_bytes, block_bytes, blocks, slots } = self;
        [block_bytes, blocks, slot_bytes, slots].map(u32::to_ne_bytes).concat()
    }

    fn len(self) -> usize {
        self.block_bytes as usize * self.blocks as usize
    }
}

/// Number of slots in a block, where a slot has several pages. The kernel takes a power of two pages for a block: the
/// fewest of them are to be left over.
fn slots_of_block(slot_pages: usize) -> usize {
    let most = (BLOCK_PAGES / slot_pages).max(1);
    let left_over = |slots: usize| {
        let pages = slots * slot_pages;
        // In thousandths, so that a small block is not taken for being small.
        (pages.next_power_of_two() - pages) * 1_000 / pages
    };
    (1..=most).min_by_key(|&slots| left_over(slots)).unwrap_or(1)
}

/// Memory of a ring, in the order in which the kernel fills it.
#[derive(Debug)]
pub(super) struct Ring {
    start: NonNull<u8>,
    geometry: Geometry,
    /// Slot that is read next.
    next: usize,
}

#[expect(unsafe_code, reason = "the memory is the process's, and no thread has a part in it")]
// SAFETY: `start` is memory that is mapped until the ring is dropped and that no other value points to.
unsafe impl Send for Ring {}

#[expect(unsafe_code, reason = "nothing is read or written by a shared reference")]
// SAFETY: All access to the memory is by `&mut self`, or by a frame that borrows so.
unsafe impl Sync for Ring {}

impl Ring {
    /// Maps the ring of a socket that has been told this geometry.
    pub(super) fn map(socket: &OwnedFd, geometry: Geometry) -> io::Result<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        #[expect(unsafe_code, reason = "memory is mapped")]
        // SAFETY: The system chooses the place, so that no memory in use is touched.
        let start =
            unsafe { mmap(std::ptr::null_mut(), geometry.len(), access, MapFlags::SHARED, socket, 0) }?;
        let start = NonNull::new(start.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let ring = Self { start, geometry, next: 0 };
        #[expect(unsafe_code, reason = "advice about mapped memory")]
        // SAFETY: The memory was mapped just now, and this process keeps it.
        //
        // A child would get an entry for each page of it, while all other threads wait for memory.
        unsafe { madvise(start.as_ptr().cast(), geometry.len(), Advice::LinuxDontFork) }?;
        Ok(ring)
    }

    /// Tells if the kernel has written the next frame.
    pub(super) fn is_ready(&self) -> bool {
        let slot_bytes = self.geometry.slot_bytes as usize;
        #[expect(unsafe_code, reason = "a word that the kernel writes, too")]
        // SAFETY: `next` is less than the number of slots, all of which lie within the mapped memory. A slot begins
        // with the status and is aligned to 16 bytes. Kernel and process access the word atomically.
        let status = unsafe { AtomicU32::from_ptr(self.start.add(self.next * slot_bytes).as_ptr().cast()) };
        status.load(Ordering::Acquire) & OURS != 0
    }

    /// The next frame, if the kernel has written one.
    pub(super) fn receive(&mut self) -> Option<ReceivedFrame<'_>> {
        let slot_bytes = self.geometry.slot_bytes as usize;
        // A slot that the kernel has filled in a way that it never does goes back, once around the ring at most.
        for _ in 0..self.geometry.slots {
            #[expect(unsafe_code, reason = "a place in mapped memory")]
            // SAFETY: `next` is less than the number of slots, all of which lie within the mapped memory.
            let slot = unsafe { self.start.add(self.next * slot_bytes) };
            #[expect(unsafe_code, reason = "a word that the kernel writes, too")]
            // SAFETY: A slot begins with the status, is aligned to 16 bytes, and stays mapped as long as the ring,
            // which is borrowed. Kernel and process access the word atomically.
            let status = unsafe { AtomicU32::from_ptr(slot.as_ptr().cast()) };
            // Behind it the kernel's writes to the slot are seen.
            let flags = status.load(Ordering::Acquire);
            if flags & OURS == 0 {
                return None;
            }
            self.next = (self.next + 1) % self.geometry.slots as usize;
            #[expect(unsafe_code, reason = "memory of a slot that is ours")]
            // SAFETY: The slot has `slot_bytes` bytes, all initialized since the kernel gives zeroed pages. The kernel
            // does not write to it while its status says that it is ours. The status itself is left out.
            let octets =
                unsafe { std::slice::from_raw_parts(slot.add(STATUS_LEN).as_ptr(), slot_bytes - STATUS_LEN) };
            if let Some(header) = SlotHeader::read(flags, octets) {
                let bytes = NonNull::from(&octets[header.frame.clone()]);
                return Some(ReceivedFrame { status, bytes, header, borrowed: PhantomData });
            }
            status.store(OF_KERNEL, Ordering::Release);
        }
        None
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "memory is given back")]
        // SAFETY: It was mapped with this length, and every frame has borrowed the ring, so that none is left.
        // An error could only say that it was not mapped.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.geometry.len()) };
    }
}

/// Frame in the ring, whose place goes back to the kernel when it is dropped.
#[derive(Debug)]
pub struct ReceivedFrame<'a> {
    status: &'a AtomicU32,
    /// A pointer, since the kernel may write there before the value itself ends.
    bytes: NonNull<[u8]>,
    header: SlotHeader,
    borrowed: PhantomData<&'a mut Ring>,
}

impl ReceivedFrame<'_> {
    /// Bytes from the Ethernet header on, without a VLAN tag that the kernel has taken out.
    pub fn bytes(&self) -> &[u8] {
        #[expect(unsafe_code, reason = "memory that is ours as long as the frame")]
        // SAFETY: The bytes lie in a slot that goes back to the kernel when `self` is dropped, which `&self` outlives
        // not; the ring stays mapped as long as it is borrowed.
        unsafe {
            self.bytes.as_ref()
        }
    }

    /// Offload header (`struct virtio_net_hdr`, in the machine's byte order): segments and checksums that are left to
    /// do.
    pub fn offload(&self) -> [u8; OFFLOAD_LEN] {
        self.header.offload
    }

    /// VLAN tag that the kernel has taken out: its protocol identifier, as 0x8100, and its control information.
    pub fn vlan(&self) -> Option<(u16, u16)> {
        self.header.vlan
    }

    /// Time at which the kernel received it, on [`crate::clock::realtime`].
    pub fn stamp(&self) -> Duration {
        self.header.stamp
    }

    /// Says that the end is missing, since the slot is too short.
    pub fn is_cut(&self) -> bool {
        self.header.is_cut
    }
}

impl Drop for ReceivedFrame<'_> {
    fn drop(&mut self) {
        // What was read of the slot is read before the kernel writes to it.
        self.status.store(OF_KERNEL, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_holds_whole_slots_in_whole_pages() {
        for (ring, frame, expected) in [
            // 96 bytes before a frame: two slots share a page, and 16 bytes more take a page.
            (1 << 20, 1_514, (2_048, 4_096, 256, 512)),
            (1 << 20, 2_048 - 96, (2_048, 4_096, 256, 512)),
            (1 << 20, 2_048 - 95, (4_096, 4_096, 256, 256)),
            // Seventeen pages each: fifteen of them are a page less than the kernel takes.
            (64 << 20, 65_536 + 18, (69_632, 1_044_480, 64, 960)),
            (64 << 20, 65_536 - 96, (65_536, 65_536, 1_024, 1_024)),
        ] {
            let Geometry { slot_bytes, block_bytes, blocks, slots } =
                Geometry::of(ring, frame, 4_096).unwrap();
            assert_eq!((slot_bytes, block_bytes, blocks, slots), expected, "{ring} {frame}");
        }
    }

    #[test]
    fn a_ring_that_cannot_be_is_refused() {
        for (ring, frame) in [
            (0, 1_514),
            (4_095, 1_514),
            (1 << 20, 13),
            (1 << 22, (1 << 20) + 1),
            (usize::MAX, 1_514),
            (1 << 32, 1_514),
            (1 << 20, usize::MAX),
        ] {
            let error = Geometry::of(ring, frame, 4_096).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{ring} {frame}");
        }
    }

    #[test]
    fn every_geometry_is_one_that_the_kernel_takes() {
        for page in [4_096, 65_536] {
            for ring in [1 << 17, (1 << 21) + 5, 64 << 20] {
                for frame in (14..70_000).step_by(97) {
                    let Ok(Geometry { slot_bytes, block_bytes, blocks, slots }) =
                        Geometry::of(ring, frame, page)
                    else {
                        assert!(ring / frame < 8, "{page} {ring} {frame}");
                        continue;
                    };
                    assert_eq!(slot_bytes % 16, 0);
                    assert_eq!(block_bytes as usize % page, 0);
                    assert_eq!(block_bytes % slot_bytes, 0);
                    assert_eq!(slots, block_bytes / slot_bytes * blocks);
                    assert!(slots >= 2, "{page} {ring} {frame}");
                    assert!(slot_bytes as usize >= HEADROOM + frame);
                }
            }
        }
    }
}
