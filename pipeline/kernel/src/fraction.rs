//! Exact numbers, as Python's `Fraction` has them. What does not fit into the bits here is left to the definition.

use crate::left::{Answer, Left};
use std::cmp::Ordering;

/// Digits on either side of the point of a number that is read here.
const MOST_DIGITS: usize = 15;

/// Up to here each whole number is one of the numbers of eight bytes.
const MOST_EXACT: i128 = 1 << 53;

/// In lowest terms; the denominator is positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fraction {
    above: i128,
    below: i128,
}

impl Fraction {
    pub const ZERO: Fraction = Fraction { above: 0, below: 1 };
    pub const ONE: Fraction = Fraction { above: 1, below: 1 };

    pub fn whole(number: usize) -> Answer<Fraction> {
        Ok(Fraction { above: i128::try_from(number).map_err(|_| Left::Budget)?, below: 1 })
    }

    fn new(above: Option<i128>, below: Option<i128>) -> Answer<Fraction> {
        let (above, below) = (above.ok_or(Left::Budget)?, below.ok_or(Left::Budget)?);
        let (mut divisor, mut rest) = (above.unsigned_abs(), below.unsigned_abs());
        while rest > 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        let divisor =
            i128::try_from(divisor).ok().and_then(|each| each.checked_mul(below.signum())).ok_or(Left::Budget)?;
        let divided = above.checked_div(divisor).zip(below.checked_div(divisor)).ok_or(Left::Budget)?;
        Ok(Fraction { above: divided.0, below: divided.1 })
    }

    /// The number `-12.5` of a text.
    pub fn parse(text: &[u8]) -> Answer<Fraction> {
        let (sign, digits) = text.strip_prefix(b"-").map_or((1, text), |digits| (-1, digits));
        let mut parts = digits.split(|byte| *byte == b'.');
        let (whole, decimals) = (parts.next().unwrap_or_default(), parts.next());
        let is_count = |part: &[u8]| (1..=MOST_DIGITS).contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
        if parts.next().is_some() || !is_count(whole) || decimals.is_some_and(|part| !is_count(part)) {
            return Err(Left::Notation);
        }
        let decimals = decimals.unwrap_or_default();
        let above = whole.iter().chain(decimals).fold(0i128, |number, digit| 10 * number + i128::from(digit - b'0'));
        Fraction::new(Some(sign * above), Some((0..decimals.len()).fold(1, |number, _| 10 * number)))
    }

    pub fn plus(self, other: Fraction) -> Answer<Fraction> {
        let (ours, theirs) = (self.above.checked_mul(other.below), other.above.checked_mul(self.below));
        let sum = ours.zip(theirs).and_then(|(ours, theirs)| ours.checked_add(theirs));
        Fraction::new(sum, self.below.checked_mul(other.below))
    }

    pub fn minus(self, other: Fraction) -> Answer<Fraction> {
        self.plus(Fraction { above: other.above.checked_neg().ok_or(Left::Budget)?, below: other.below })
    }

    pub fn times(self, other: Fraction) -> Answer<Fraction> {
        Fraction::new(self.above.checked_mul(other.above), self.below.checked_mul(other.below))
    }

    /// Division by 0, of which the definition has more to say, is left.
    pub fn over(self, other: Fraction) -> Answer<Fraction> {
        if other.above == 0 {
            return Err(Left::Strips);
        }
        Fraction::new(self.above.checked_mul(other.below), self.below.checked_mul(other.above))
    }

    pub fn order(self, other: Fraction) -> Answer<Ordering> {
        Ok(self.minus(other)?.above.cmp(&0))
    }

    /// As Python writes it.
    pub fn text(self) -> String {
        match self.below {
            1 => self.above.to_string(),
            below => format!("{}/{below}", self.above),
        }
    }

    /// As PDDL writes it; as `text` where no decimal says it.
    pub fn shown(self) -> Answer<String> {
        let (mut below, mut places, mut left) = (1i128, 0, self.below);
        while left > 1 {
            let factor = [10, 2, 5].into_iter().find(|factor| left % factor == 0);
            let Some(factor) = factor else { return Ok(self.text()) };
            (left, places) = (left / factor, places + 1);
            below = below.checked_mul(10).ok_or(Left::Budget)?;
        }
        if places == 0 {
            return Ok(self.text());
        }
        let digits = self.above.abs().checked_mul(below).ok_or(Left::Budget)? / self.below;
        let sign = if self.above < 0 { "-" } else { "" };
        Ok(format!("{sign}{}.{:0places$}", digits / below, digits % below))
    }

    /// The nearest number of eight bytes.
    pub fn nearest(self) -> Answer<f64> {
        // Each step that rounds does so once, to even in the middle.
        if self.below == 1 {
            return Ok(self.above as f64);
        }
        if self.above.abs() > MOST_EXACT || self.below > MOST_EXACT {
            return Err(Left::Budget);
        }
        Ok(self.above as f64 / self.below as f64)
    }
}
