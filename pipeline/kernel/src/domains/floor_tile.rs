//! Floor Tile: closures and plans (definition/domains/floor_tile.py, which has the argument).

use crate::domains::{exclude_each_other, never_true, BrokenAssumption, Unsolvable};
use crate::model::{atom, has, parts, Atom, Known, Word, Words};
use crate::validation::{Action, Operator, MOST_STEPS};
use std::collections::BTreeMap;

pub const PDDL: &str = include_str!(concat!(env!("OUT_DIR"), "/floor_tile.pddl"));

/// Directions in the order of their names, and the actions that move and paint in each.
const MOVES: [Operator; 4] = [Operator::Down, Operator::Left, Operator::Right, Operator::Up];
const PAINTS: [Operator; 4] = [Operator::PaintDown, Operator::PaintLeft, Operator::PaintRight, Operator::PaintUp];
const DOWN: u8 = 0;
const LEFT: u8 = 1;
const RIGHT: u8 = 2;
const UP: u8 = 3;

/// An initial state: the tiles with their neighbours, and what each robot is on and holds; 0 where there is none.
pub struct Floor {
    /// For each tile the moves from it: the direction and the tile it leads to.
    steps: Vec<Vec<(u8, Word)>>,
    /// For each tile with a neighbour, a tile that stands for its connected component.
    component: Vec<Word>,
    place: Vec<Word>,
    color: Vec<Word>,
    available: Vec<Word>,
    /// The words that the operators take for colours.
    is_color: Vec<bool>,
    fixed: Vec<Atom>,
}

/// The robots that have a value, each with it.
fn robots(of: &[Word]) -> impl Iterator<Item = (Word, Word)> + '_ {
    (0..).zip(of).filter(|(_, value)| **value != 0).map(|(robot, value)| (robot, *value))
}

/// The floor and its robots, or two atoms that have a robot on two tiles or with two colours.
pub fn read(words: &Words, init: &[Atom], types: Option<&[Word]>) -> Result<Floor, BrokenAssumption> {
    let kind = |type_: Known| match types {
        None => words.each(true),
        Some(types) => types.iter().map(|own| *own == words.place(type_)).collect::<Vec<bool>>(),
    };
    let (is_robot, is_tile, is_color) = (kind(Known::Robot), kind(Known::Tile), kind(Known::Color));
    let fits = |kind: &[bool], word: Word| word != 0 && kind[word as usize];
    let mut floor = Floor {
        steps: words.each(Vec::new()),
        component: words.each(0),
        place: words.each(0),
        color: words.each(0),
        available: Vec::new(),
        is_color: Vec::new(),
        fixed: Vec::new(),
    };
    for atom in init {
        let (predicate, first, second) = words.read(*atom);
        let tiles = fits(&is_tile, first) && fits(&is_tile, second);
        let own = match predicate {
            Known::RobotAt if fits(&is_robot, first) && fits(&is_tile, second) => &mut floor.place[first as usize],
            Known::RobotHas if fits(&is_robot, first) && fits(&is_color, second) => &mut floor.color[first as usize],
            _ => {
                floor.fixed.push(*atom);
                match predicate {
                    Known::Up if tiles => floor.join(second, UP, first, DOWN),
                    Known::Right if tiles => floor.join(second, RIGHT, first, LEFT),
                    Known::AvailableColor if second == 0 && fits(&is_color, first) => floor.available.push(first),
                    _ => {}
                }
                continue;
            }
        };
        *own = if *own == 0 { second } else { *own };
        if *own != second {
            return Err(BrokenAssumption(vec![words.atom(predicate, first, *own), *atom]));
        }
    }
    for moves in &mut floor.steps {
        moves.sort_unstable();
    }
    for start in 1..=words.count() as Word {
        if floor.component[start as usize] != 0 || floor.steps[start as usize].is_empty() {
            continue;
        }
        floor.component[start as usize] = start;
        let mut frontier = vec![start];
        while let Some(tile) = frontier.pop() {
            for (_, neighbour) in &floor.steps[tile as usize] {
                if floor.component[*neighbour as usize] == 0 {
                    floor.component[*neighbour as usize] = start;
                    frontier.push(*neighbour);
                }
            }
        }
    }
    floor.is_color = is_color;
    Ok(floor)
}

/// A goal that can be reached: the places and colours it asks for and who paints what.
pub struct Aims {
    place: Vec<Word>,
    color: Vec<Word>,
    /// Painters in order, each with the colours it paints on each tile.
    work: Vec<(Word, BTreeMap<Word, Vec<Word>>)>,
    /// Robots of open colour that must have changed theirs in every reachable goal state.
    must_change: Vec<Word>,
}

impl Floor {
    fn join(&mut self, tile: Word, forward: u8, neighbour: Word, backward: u8) {
        self.steps[tile as usize].push((forward, neighbour));
        self.steps[neighbour as usize].push((backward, tile));
    }

    /// What cl(goal) has beside the goal.
    pub fn closure(&self, words: &Words, aims: &Aims) -> Vec<Atom> {
        let mut closure = self.fixed.clone();
        for (robot, tile) in robots(&self.place) {
            let stays = self.steps[tile as usize].iter().all(|(_, neighbour)| *neighbour == tile);
            if aims.place[robot as usize] == 0 && stays {
                closure.push(words.atom(Known::RobotAt, robot, tile));
            }
        }
        for (robot, color) in robots(&self.color) {
            if aims.color[robot as usize] != 0 {
                continue;
            }
            let keeps = !aims.must_change.contains(&robot) && !self.available.contains(&color);
            match (&self.available[..], keeps) {
                ([], true) => closure.push(words.atom(Known::RobotHas, robot, color)),
                ([only], false) => closure.push(words.atom(Known::RobotHas, robot, *only)),
                _ => {}
            }
        }
        closure
    }

    /// Linear in the floor: each painter walks its component once, then all take the colours and tiles asked for.
    pub fn plan(&self, words: &Words, aims: &Aims) -> Vec<Action> {
        let mut course = Course { floor: self, color: self.color.clone(), actions: Vec::new() };
        let mut place = self.place.clone();
        for (robot, wanted) in &aims.work {
            if course.actions.len() > MOST_STEPS {
                break;
            }
            place[*robot as usize] = course.paint(words, *robot, place[*robot as usize], wanted.clone());
        }
        for (robot, new) in robots(&aims.color) {
            course.take(robot, new);
        }
        for (robot, tile) in robots(&aims.place) {
            if course.actions.len() > MOST_STEPS {
                break; // it is too long to be executed
            }
            for (direction, from, to) in self.route(words, place[robot as usize], tile) {
                course.actions.push(Action::new(MOVES[usize::from(direction)], &[robot, from, to]));
            }
        }
        course.actions
    }

    /// The direction from a tile to its neighbour.
    fn direction(&self, tile: Word, neighbour: Word) -> u8 {
        let found = self.steps[tile as usize].iter().find(|(_, following)| *following == neighbour);
        found.map_or(0, |(direction, _)| *direction)
    }

    /// A shortest way, as (direction, from, to) steps; the tiles are in one component.
    fn route(&self, words: &Words, start: Word, end: Word) -> Vec<(u8, Word, Word)> {
        if start == end {
            return Vec::new();
        }
        let mut towards = words.each(0);
        towards[end as usize] = end;
        let mut queue = vec![end];
        let mut next = 0;
        while next < queue.len() && towards[start as usize] == 0 {
            let tile = queue[next];
            next += 1;
            for (_, neighbour) in &self.steps[tile as usize] {
                if towards[*neighbour as usize] == 0 {
                    towards[*neighbour as usize] = tile;
                    queue.push(*neighbour);
                }
            }
        }
        let mut route = Vec::new();
        let mut tile = start;
        while tile != end {
            let following = towards[tile as usize];
            route.push((self.direction(tile, following), tile, following));
            tile = following;
        }
        route
    }

    /// The goal as the rules read it.
    pub fn goal(&self, words: &Words, goal: &[Atom]) -> Result<Aims, Unsolvable> {
        let mut place = words.each(0);
        let mut color = words.each(0);
        // For each component the colours that are wanted on each tile.
        let mut wanted: BTreeMap<Word, BTreeMap<Word, Vec<Word>>> = BTreeMap::new();
        for atom in goal {
            if has(&self.fixed, *atom) {
                continue;
            }
            let (predicate, first, second) = words.read(*atom);
            if second == 0 {
                return Err(never_true(*atom));
            }
            let aim = match predicate {
                Known::RobotAt if self.place[first as usize] != 0 => {
                    let start = self.place[first as usize];
                    let component = self.component[second as usize];
                    if second != start && (component == 0 || self.component[start as usize] != component) {
                        return Err(never_true(*atom));
                    }
                    &mut place[first as usize]
                }
                Known::RobotHas if self.color[first as usize] != 0 => {
                    if second != self.color[first as usize] && !self.available.contains(&second) {
                        return Err(never_true(*atom));
                    }
                    &mut color[first as usize]
                }
                Known::Painted if self.component[first as usize] != 0 && self.is_color[second as usize] => {
                    let tiles = wanted.entry(self.component[first as usize]).or_default();
                    tiles.entry(first).or_default().push(second);
                    continue;
                }
                _ => return Err(never_true(*atom)),
            };
            *aim = if *aim == 0 { second } else { *aim };
            if *aim != second {
                return Err(exclude_each_other(vec![words.atom(predicate, first, *aim), *atom]));
            }
        }
        let mut aims = Aims { place, color, work: Vec::new(), must_change: Vec::new() };
        let first_tile = |tiles: &BTreeMap<Word, Vec<Word>>| tiles.keys().next().copied().unwrap_or(0);
        let mut components: Vec<Atom> =
            wanted.iter().map(|(component, tiles)| atom(0, first_tile(tiles), *component)).collect();
        components.sort_unstable();
        for (_, _, component) in components.into_iter().map(parts) {
            self.share(words, component, &wanted[&component], &mut aims)?;
        }
        Ok(aims)
    }

    /// Who of a component's robots paints what on its tiles.
    fn share(
        &self,
        words: &Words,
        component: Word,
        tiles: &BTreeMap<Word, Vec<Word>>,
        aims: &mut Aims,
    ) -> Result<(), Unsolvable> {
        let is_there =
            |robot: Word, tile: Word| self.color[robot as usize] != 0 && self.component[tile as usize] == component;
        let team: Vec<Word> =
            robots(&self.place).filter(|(robot, tile)| is_there(*robot, *tile)).map(|(robot, _)| robot).collect();
        let own = |robot: Word| self.color[robot as usize];
        let mut begun: Vec<(Word, Word)> = Vec::new(); // a colour, and the last robot that began with it
        for robot in &team {
            match begun.iter_mut().find(|(color, _)| *color == own(*robot)) {
                Some((_, painter)) => *painter = *robot,
                None => begun.push((own(*robot), *robot)),
            }
        }
        let has_begun = |color: &Word| begun.iter().any(|(each, _)| each == color);
        for (tile, colors) in tiles {
            let possible = |color: &&Word| !team.is_empty() && (has_begun(color) || self.available.contains(color));
            if let Some(color) = colors.iter().find(|color| !possible(color)) {
                return Err(never_true(words.atom(Known::Painted, *tile, *color)));
            }
        }
        for (color, robot) in &begun {
            let with = tiles.iter().filter(|(_, colors)| colors.contains(color));
            let share: BTreeMap<Word, Vec<Word>> = with.map(|(tile, _)| (*tile, vec![*color])).collect();
            if !share.is_empty() {
                aims.work.push((*robot, share));
            }
        }
        let mut later: BTreeMap<Word, Vec<Word>> = BTreeMap::new();
        for (tile, colors) in tiles {
            let left: Vec<Word> = colors.iter().copied().filter(|color| !has_begun(color)).collect();
            if !left.is_empty() {
                later.insert(*tile, left);
            }
        }
        let Some((tile, left)) = later.first_key_value() else {
            return Ok(());
        };
        let asked = |robot: Word| aims.color[robot as usize];
        let changes =
            |robot: &Word| self.available.contains(&own(*robot)) || asked(*robot) != 0 && asked(*robot) != own(*robot);
        let changed = team.iter().copied().find(|robot| changes(robot));
        let undecided: Vec<Word> = team.iter().copied().filter(|robot| asked(*robot) == 0).collect();
        let Some(painter) = changed.or(undecided.first().copied()) else {
            let kept = team.iter().map(|robot| words.atom(Known::RobotHas, *robot, asked(*robot)));
            let painted = words.atom(Known::Painted, *tile, left[0]);
            return Err(exclude_each_other(std::iter::once(painted).chain(kept).collect()));
        };
        if changed.is_none() && undecided.len() == 1 {
            aims.must_change.extend(undecided);
        }
        aims.work.push((painter, later));
        Ok(())
    }
}

/// A plan so far, and the colours that it has left the robots with.
struct Course<'a> {
    floor: &'a Floor,
    color: Vec<Word>,
    actions: Vec<Action>,
}

impl Course<'_> {
    fn take(&mut self, robot: Word, new: Word) {
        let own = self.color[robot as usize];
        if own != new {
            self.actions.push(Action::new(Operator::ChangeColor, &[robot, own, new]));
            self.color[robot as usize] = new;
        }
    }

    /// One walk of a painter through its component, from its tile on; where it ends.
    fn paint(&mut self, words: &Words, robot: Word, start: Word, mut wanted: BTreeMap<Word, Vec<Word>>) -> Word {
        let floor = self.floor;
        self.paint_from(robot, start, &mut wanted);
        let mut seen = words.each(false);
        seen[start as usize] = true;
        let mut path = vec![(start, floor.steps[start as usize].iter())];
        while !wanted.is_empty() {
            let Some((tile, steps)) = path.last_mut() else {
                break;
            };
            let tile = *tile;
            match steps.find(|(_, following)| !seen[*following as usize]) {
                Some((direction, following)) => {
                    seen[*following as usize] = true;
                    path.push((*following, floor.steps[*following as usize].iter()));
                    self.go(*direction, robot, tile, *following);
                    self.paint_from(robot, *following, &mut wanted);
                }
                None => {
                    path.pop();
                    let Some((back, _)) = path.last() else { break };
                    self.go(floor.direction(tile, *back), robot, tile, *back);
                }
            }
        }
        path.last().map_or(start, |(tile, _)| *tile)
    }

    fn go(&mut self, direction: u8, robot: Word, from: Word, to: Word) {
        self.actions.push(Action::new(MOVES[usize::from(direction)], &[robot, from, to]));
    }

    fn paint_from(&mut self, robot: Word, tile: Word, wanted: &mut BTreeMap<Word, Vec<Word>>) {
        for (direction, neighbour) in &self.floor.steps[tile as usize] {
            let Some(mut colors) = wanted.remove(neighbour) else {
                continue;
            };
            let own = self.color[robot as usize];
            colors.sort_unstable();
            if let Some(place) = colors.iter().position(|new| *new == own) {
                colors[..=place].rotate_right(1);
            }
            for new in colors {
                self.take(robot, new);
                let paint = PAINTS[usize::from(*direction)];
                self.actions.push(Action::new(paint, &[robot, *neighbour, tile, new]));
            }
        }
    }
}
