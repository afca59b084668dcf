//! Shares and their averages, as Python computes them.

/// The ratio, 1 for 0/0.
pub fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        1.0
    } else {
        part as f64 / whole as f64
    }
}

/// How many elements two sorted sets have in common.
pub fn common<T: Ord>(one: &[T], other: &[T]) -> usize {
    one.iter().filter(|each| other.binary_search(each).is_ok()).count()
}

/// The average as Python's `statistics.fmean` has it: the sum is exact, and rounded once (Shewchuk 1997).
pub fn fmean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len();
    let mut partials: Vec<f64> = Vec::new();
    for mut value in values {
        let mut kept = 0;
        for place in 0..partials.len() {
            let mut partial = partials[place];
            if value.abs() < partial.abs() {
                std::mem::swap(&mut value, &mut partial);
            }
            let high = value + partial;
            let low = partial - (high - value);
            if low != 0.0 {
                partials[kept] = low;
                kept += 1;
            }
            value = high;
        }
        partials.truncate(kept);
        partials.push(value);
    }
    let Some(mut high) = partials.pop() else { return 0.0 };
    while let Some(partial) = partials.pop() {
        let before = high;
        high = before + partial;
        let low = partial - (high - before);
        if low != 0.0 {
            // Half-way cases are rounded to even only if what is left is nothing.
            if partials.last().is_some_and(|next| (low < 0.0) == (*next < 0.0) && *next != 0.0) {
                let twice = low * 2.0;
                let rounded = high + twice;
                if twice == rounded - high {
                    high = rounded;
                }
            }
            break;
        }
    }
    high / count as f64
}
