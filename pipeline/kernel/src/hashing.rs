//! Maps and sets of the numbers of words, which are hashed by a product: most of them are small and short-lived.
//!
//! Their keys are numbers that the kernel gave, so that who writes a text can hardly choose them, and there are at most
//! some ten thousand: then even keys that all collide cost less than what else a row may cost.

use std::collections::{HashMap as Map, HashSet as Set};
use std::hash::{BuildHasherDefault, Hasher};

pub type HashMap<K, V> = Map<K, V, BuildHasherDefault<Product>>;
pub type HashSet<T> = Set<T, BuildHasherDefault<Product>>;

#[derive(Default)]
pub struct Product(u64);

/// The golden ratio's odd neighbour as a fraction of 2 to the 64th (Knuth, volume 3, section 6.4).
const RATIO: u64 = 0x9E37_79B9_7F4A_7C15;

impl Hasher for Product {
    fn write(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((piece, more)) = rest.split_first_chunk() {
            self.write_u64(u64::from_le_bytes(*piece));
            rest = more;
        }
        if !rest.is_empty() {
            self.write_u64(rest.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(RATIO);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    /// The high bits of a product are mixed best; tables take the low ones and the highest.
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}
