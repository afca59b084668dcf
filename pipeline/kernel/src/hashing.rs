//! Maps and sets of numbers, hashed by a product: most of them are small and short-lived.
//!
//! The factor is drawn once a process. Whoever writes a text chooses the keys, for words are numbered as they come, but
//! cannot make them collide.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap as Map, HashSet as Set};
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};
use std::sync::OnceLock;

pub type HashMap<K, V> = Map<K, V, BuildHasherDefault<Product>>;
pub type HashSet<T> = Set<T, BuildHasherDefault<Product>>;

pub struct Product {
    hash: u64,
    factor: u64,
}

impl Default for Product {
    fn default() -> Product {
        Product { hash: 0, factor: factor() }
    }
}

/// The odd number that hashes of this process are multiplied with.
#[inline]
pub fn factor() -> u64 {
    static FACTOR: OnceLock<u64> = OnceLock::new();
    *FACTOR.get_or_init(|| RandomState::new().build_hasher().finish() | 1)
}

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
        self.hash = (self.hash.rotate_left(5) ^ number).wrapping_mul(self.factor);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    /// The high bits of a product are mixed best; tables take the low ones and the highest.
    fn finish(&self) -> u64 {
        self.hash.rotate_left(26)
    }
}
