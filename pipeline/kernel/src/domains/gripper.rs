//! Gripper: closures and plans (definition/domains/gripper.py, which has the argument).

use crate::domains::{exclude_each_other, never_true, BrokenAssumption, Unsolvable};
use crate::model::{atom, has, parts, Atom, Known, Word, Words};
use crate::validation::{Action, Operator};

pub const PDDL: &str = include_str!(concat!(env!("OUT_DIR"), "/gripper.pddl"));

/// The atom that says where the robot and each thing is, and the one that says what is in each gripper; 0: none.
pub struct Arrangement {
    robby: Atom,
    place: Vec<Atom>,
    content: Vec<Atom>,
}

/// True when operators can change the atom: robot and balls are in these rooms or in these grippers.
fn is_live(words: &Words, atom: Atom, rooms: &[bool], balls: &[bool], grippers: &[bool]) -> bool {
    let is = |kind: &[bool], word: Word| word != 0 && kind[word as usize];
    match words.read(atom) {
        (Known::At, ball, room) => is(balls, ball) && is(rooms, room),
        (Known::Carry, ball, gripper) => is(balls, ball) && is(grippers, gripper),
        (Known::Free, gripper, 0) => is(grippers, gripper),
        (Known::AtRobby, room, 0) => is(rooms, room),
        _ => false,
    }
}

/// The arrangement that the atoms describe, else two atoms that clash.
fn arrange(words: &Words, atoms: &[Atom]) -> Result<Arrangement, Vec<Atom>> {
    let mut found = Arrangement { robby: 0, place: words.each(0), content: words.each(0) };
    for atom in atoms {
        let (predicate, first, second) = words.read(*atom);
        let place = match predicate {
            Known::Free => None,
            Known::AtRobby => Some(&mut found.robby),
            _ => Some(&mut found.place[first as usize]),
        };
        if let Some(own) = place {
            *own = if *own == 0 { *atom } else { *own };
            if own != atom {
                return Err(vec![*own, *atom]);
            }
        }
        let content = match predicate {
            Known::Free => &mut found.content[first as usize],
            Known::Carry => &mut found.content[second as usize],
            _ => continue,
        };
        *content = if *content == 0 { *atom } else { *content };
        if content != atom {
            return Err(vec![*content, *atom]);
        }
    }
    Ok(found)
}

/// An initial state: where each live thing is, and what is in each live gripper.
pub struct Scene {
    /// The rooms that the robot can be in; none where there is no robot.
    is_room: Vec<bool>,
    rooms: Vec<Word>,
    robby: Word,
    is_ball: Vec<bool>,
    /// The room or the gripper of each live ball, 0 for other words.
    balls: Vec<Word>,
    is_gripper: Vec<bool>,
    grippers: Vec<Word>,
    fixed: Vec<Atom>,
}

/// The scene that the atoms describe, or the assumption they break.
pub fn read(words: &Words, init: &[Atom]) -> Result<Scene, BrokenAssumption> {
    let named = |kind: Known| {
        let mut named = words.each(false);
        for atom in init {
            match words.read(*atom) {
                (predicate, name, 0) if predicate == kind && name != 0 => named[name as usize] = true,
                _ => {}
            }
        }
        named
    };
    let (mut is_room, ball, gripper) = (named(Known::Room), named(Known::Ball), named(Known::Gripper));
    let all = 1..words.count() as Word + 1;
    if let Some(both) = all.clone().find(|name| is_room[*name as usize] && gripper[*name as usize]) {
        let atoms = [Known::Room, Known::Gripper].map(|kind| words.atom(kind, both, 0));
        return Err(BrokenAssumption(atoms.to_vec()));
    }
    let mut live: Vec<Atom> =
        init.iter().copied().filter(|atom| is_live(words, *atom, &is_room, &ball, &gripper)).collect();
    if !live.iter().any(|atom| words.read(*atom).0 == Known::AtRobby) {
        is_room.fill(false);
        live.clear();
    }
    let Arrangement { robby, mut place, content } = arrange(words, &live).map_err(BrokenAssumption)?;
    if content.iter().all(|atom| *atom == 0) {
        place.fill(0);
    }
    let is_fixed = |atom: &&Atom| {
        let (_, first, second) = parts(**atom);
        let is_content = |name: Word| content[name as usize] == **atom;
        robby != **atom && place[first as usize] != **atom && !is_content(first) && !is_content(second)
    };
    let fixed = init.iter().filter(is_fixed).copied().collect();
    let balls: Vec<Word> = place.iter().map(|atom| parts(*atom).2).collect();
    let is_gripper: Vec<bool> = content.iter().map(|atom| *atom != 0).collect();
    Ok(Scene {
        rooms: all.clone().filter(|name| is_room[*name as usize]).collect(),
        is_room,
        robby: parts(robby).1,
        is_ball: balls.iter().map(|place| *place != 0).collect(),
        balls,
        grippers: all.filter(|name| is_gripper[*name as usize]).collect(),
        is_gripper,
        fixed,
    })
}

impl Scene {
    /// What cl(goal) has beside the goal.
    pub fn closure(&self, words: &Words, aims: &Arrangement) -> Vec<Atom> {
        let mut closure = self.fixed.clone();
        let balls = 1..words.count() as Word + 1;
        let mut open_balls = balls.filter(|ball| self.is_ball[*ball as usize] && aims.place[*ball as usize] == 0);
        let mut open_grippers = self.grippers.iter().filter(|gripper| aims.content[**gripper as usize] == 0);
        if let [room] = self.rooms[..] {
            closure.push(words.atom(Known::AtRobby, room, 0));
            if open_grippers.clone().next().is_none() {
                closure.extend(open_balls.clone().map(|ball| words.atom(Known::At, ball, room)));
            }
        }
        if open_balls.next().is_none() {
            closure.extend(open_grippers.by_ref().map(|gripper| words.atom(Known::Free, *gripper, 0)));
        }
        closure
    }

    /// A few actions a ball: put down, carry to the rooms asked for, pick up, go where asked.
    pub fn plan(&self, words: &Words, aims: &Arrangement) -> Vec<Action> {
        let aim: Vec<Word> = aims.place.iter().map(|atom| parts(*atom).2).collect();
        let final_room = parts(aims.robby).1;
        let names = || 1..words.count() as Word + 1;
        let mut course = Course { robby: self.robby, place: self.balls.clone(), actions: Vec::new() };
        let is_gripper = |place: Word| self.is_gripper[place as usize];
        let is_room = |place: Word| self.is_room[place as usize];
        for ball in names().filter(|ball| self.is_ball[*ball as usize]) {
            let gripper = self.balls[ball as usize];
            let wanted = aim[ball as usize];
            if is_gripper(gripper) && wanted != gripper {
                let room = if is_room(wanted) { wanted } else { course.robby };
                course.act(Operator::Drop, ball, room, gripper);
            }
        }
        let place = course.place.clone();
        let is_elsewhere = |ball: &Word| is_room(aim[*ball as usize]) && place[*ball as usize] != aim[*ball as usize];
        let to_carry: Vec<Word> = names().filter(is_elsewhere).collect();
        if !to_carry.is_empty() {
            let mut busy = words.each(0);
            for ball in names().filter(|ball| is_gripper(place[*ball as usize])) {
                busy[place[ball as usize] as usize] = ball;
            }
            let hand = match self.grippers.iter().find(|gripper| busy[**gripper as usize] == 0) {
                Some(free) => *free,
                None => {
                    let hand = self.grippers[0];
                    course.act(Operator::Drop, busy[hand as usize], course.robby, hand);
                    hand
                }
            };
            let order = |ball: &Word| atom(aim[*ball as usize], course.place[*ball as usize], *ball);
            let mut to_carry: Vec<Atom> = to_carry.iter().map(order).collect();
            to_carry.sort_unstable();
            for (_, _, ball) in to_carry.into_iter().map(parts) {
                course.act(Operator::Pick, ball, course.place[ball as usize], hand);
                course.act(Operator::Drop, ball, aim[ball as usize], hand);
            }
        }
        for ball in names() {
            let gripper = aim[ball as usize];
            if is_gripper(gripper) && course.place[ball as usize] != gripper {
                course.act(Operator::Pick, ball, course.place[ball as usize], gripper);
            }
        }
        if final_room != 0 && final_room != course.robby {
            course.actions.push(Action::new(Operator::Move, &[course.robby, final_room]));
        }
        course.actions
    }

    /// The goal's atom for each thing and for each gripper.
    pub fn goal(&self, words: &Words, goal: &[Atom]) -> Result<Arrangement, Unsolvable> {
        let wanted: Vec<Atom> = goal.iter().copied().filter(|atom| !has(&self.fixed, *atom)).collect();
        for atom in &wanted {
            if !is_live(words, *atom, &self.is_room, &self.is_ball, &self.is_gripper) {
                return Err(never_true(*atom));
            }
        }
        arrange(words, &wanted).map_err(exclude_each_other)
    }
}

/// A plan so far, and where it has left robot and balls.
struct Course {
    robby: Word,
    place: Vec<Word>,
    actions: Vec<Action>,
}

impl Course {
    /// Pick up or drop a ball, after going to the room.
    fn act(&mut self, operator: Operator, ball: Word, room: Word, gripper: Word) {
        if room != self.robby {
            self.actions.push(Action::new(Operator::Move, &[self.robby, room]));
            self.robby = room;
        }
        self.actions.push(Action::new(operator, &[ball, room, gripper]));
        self.place[ball as usize] = if operator == Operator::Drop { room } else { gripper };
    }
}
