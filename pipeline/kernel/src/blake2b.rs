//! BLAKE2b with a digest of 16 bytes, without key or salt (RFC 7693): the hash of certificates, and of rows that are joined.

const START: [u64; 8] = [
    0x6A09_E667_F3BC_C908,
    0xBB67_AE85_84CA_A73B,
    0x3C6E_F372_FE94_F82B,
    0xA54F_F53A_5F1D_36F1,
    0x510E_527F_ADE6_82D1,
    0x9B05_688C_2B3E_6C1F,
    0x1F83_D9AB_FB41_BD6B,
    0x5BE0_CD19_137E_2179,
];

const ORDER: [[usize; 16]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];

const SIZE: usize = 16;

/// The digest of some bytes, as two numbers.
pub fn digest(bytes: &[u8]) -> [u64; 2] {
    let mut state = START;
    state[0] ^= 0x0101_0000 ^ SIZE as u64;
    let blocks = bytes.len().div_ceil(128).max(1);
    for number in 0..blocks - 1 {
        let block = bytes[number * 128..].first_chunk().unwrap_or(&[0; 128]);
        compress(&mut state, block, (number * 128 + 128) as u64, false);
    }
    let rest = &bytes[(blocks - 1) * 128..];
    let mut block = [0; 128];
    block[..rest.len()].copy_from_slice(rest);
    compress(&mut state, &block, bytes.len() as u64, true);
    [state[0], state[1]]
}

/// The digest of some bytes in hexadecimal digits.
pub fn hex_digest(bytes: &[u8]) -> [u8; 2 * SIZE] {
    let state = digest(bytes);
    let mut digits = [0; 2 * SIZE];
    for (i, digit) in digits.iter_mut().enumerate() {
        let byte = (state[i / 16] >> (8 * (i / 2 % 8))) as u8;
        *digit = b"0123456789abcdef"[usize::from(if i % 2 == 0 { byte >> 4 } else { byte & 15 })];
    }
    digits
}

#[inline(never)]
fn compress(state: &mut [u64; 8], block: &[u8; 128], read: u64, last: bool) {
    let mut words = [0; 16];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(8)) {
        *word = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
    }
    let mut v = [0; 16];
    v[..8].copy_from_slice(state);
    v[8..].copy_from_slice(&START);
    v[12] ^= read;
    if last {
        v[14] = !v[14];
    }
    round::<0>(&mut v, &words);
    round::<1>(&mut v, &words);
    round::<2>(&mut v, &words);
    round::<3>(&mut v, &words);
    round::<4>(&mut v, &words);
    round::<5>(&mut v, &words);
    round::<6>(&mut v, &words);
    round::<7>(&mut v, &words);
    round::<8>(&mut v, &words);
    round::<9>(&mut v, &words);
    round::<0>(&mut v, &words);
    round::<1>(&mut v, &words);
    for (i, each) in state.iter_mut().enumerate() {
        *each ^= v[i] ^ v[i + 8];
    }
}

/// One round; its number is known to the compiler, so that it finds the words without the table.
#[inline(always)]
fn round<const ROUND: usize>(v: &mut [u64; 16], words: &[u64; 16]) {
    let word = |at: usize| words[ORDER[ROUND][at]];
    mix(v, [0, 4, 8, 12], word(0), word(1));
    mix(v, [1, 5, 9, 13], word(2), word(3));
    mix(v, [2, 6, 10, 14], word(4), word(5));
    mix(v, [3, 7, 11, 15], word(6), word(7));
    mix(v, [0, 5, 10, 15], word(8), word(9));
    mix(v, [1, 6, 11, 12], word(10), word(11));
    mix(v, [2, 7, 8, 13], word(12), word(13));
    mix(v, [3, 4, 9, 14], word(14), word(15));
}

#[inline(always)]
fn mix(v: &mut [u64; 16], [a, b, c, d]: [usize; 4], one: u64, other: u64) {
    v[a] = v[a].wrapping_add(v[b]).wrapping_add(one);
    v[d] = (v[d] ^ v[a]).rotate_right(32);
    v[c] = v[c].wrapping_add(v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(24);
    v[a] = v[a].wrapping_add(v[b]).wrapping_add(other);
    v[d] = (v[d] ^ v[a]).rotate_right(16);
    v[c] = v[c].wrapping_add(v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(63);
}
