//! The memory of a batch: what is freed while a batch is scored is kept for the batch's next rows, which ask for the same
//! again.
//!
//! Blocks of the sizes 16, 32, …, 4,096 are kept, in one list for each size and thread; each has the address of the next.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::null_mut;

struct Kept;

#[global_allocator]
static MEMORY: Kept = Kept;

const SMALLEST: usize = 16;
const SIZES: usize = 9;

/// Blocks of one size that are kept at once.
const MOST_KEPT: usize = 128;

struct Shelf {
    first: Cell<*mut u8>,
    /// How many more may be kept: none where no batch is being scored.
    room: Cell<usize>,
}

thread_local! {
    // Without a destructor, so that it is there for whatever a thread frees last.
    static SHELVES: [Shelf; SIZES] = const { [const { Shelf { first: Cell::new(null_mut()), room: Cell::new(0) } }; SIZES] };
}

/// The number of the size that a block of this layout is given; None where it is too large or too strictly aligned.
fn size_number(layout: Layout) -> Option<usize> {
    let is_small = layout.size() <= SMALLEST << (SIZES - 1) && layout.align() <= SMALLEST;
    is_small.then(|| (layout.size().max(SMALLEST) - 1).ilog2() as usize + 1 - SMALLEST.ilog2() as usize)
}

fn sized(number: usize) -> Layout {
    Layout::from_size_align(SMALLEST << number, SMALLEST).unwrap_or(Layout::new::<u128>())
}

/// Keeps what is freed from now on, until what is returned is dropped.
pub fn keep_blocks() -> KeptWhile {
    SHELVES.with(|shelves| shelves.iter().for_each(|shelf| shelf.room.set(MOST_KEPT)));
    KeptWhile
}

pub struct KeptWhile;

impl Drop for KeptWhile {
    fn drop(&mut self) {
        SHELVES.with(|shelves| {
            for (number, shelf) in shelves.iter().enumerate() {
                shelf.room.set(0);
                while !shelf.first.get().is_null() {
                    let block = shelf.first.get();
                    // SAFETY: the block is kept: nobody uses it, its first word is the next one, and `alloc` made it.
                    unsafe {
                        shelf.first.set(block.cast::<*mut u8>().read());
                        System.dealloc(block, sized(number));
                    }
                }
            }
        });
    }
}

// SAFETY: a block that is kept is in one list only, and is as large and as aligned as all that its size serves.
unsafe impl GlobalAlloc for Kept {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(number) = size_number(layout) else {
            return System.alloc(layout);
        };
        SHELVES.with(|shelves| {
            let Shelf { first, room } = &shelves[number];
            let block = first.get();
            if block.is_null() {
                return System.alloc(sized(number));
            }
            first.set(block.cast::<*mut u8>().read());
            room.set(room.get() + 1);
            block
        })
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(number) = size_number(layout) else {
            return System.dealloc(block, layout);
        };
        SHELVES.with(|shelves| {
            let Shelf { first, room } = &shelves[number];
            if room.get() == 0 {
                return System.dealloc(block, sized(number));
            }
            block.cast::<*mut u8>().write(first.get());
            first.set(block);
            room.set(room.get() - 1);
        })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if size_number(layout).is_none() {
            return System.alloc_zeroed(layout);
        }
        let block = self.alloc(layout);
        if !block.is_null() {
            block.write_bytes(0, layout.size());
        }
        block
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let wider = Layout::from_size_align_unchecked(size, layout.align());
        let (before, after) = (size_number(layout), size_number(wider));
        if before.is_none() && after.is_none() {
            return System.realloc(block, layout, size);
        }
        if before == after {
            return block;
        }
        let moved = self.alloc(wider);
        if !moved.is_null() {
            block.copy_to_nonoverlapping(moved, layout.size().min(size));
            self.dealloc(block, layout);
        }
        moved
    }
}
