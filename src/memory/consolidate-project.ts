// Consolidation across tasks: a fact found by several tasks counts as observed several times, and facts that become durable by that
// reach the common branch. The others stay where they are, unchanged.

import { counted } from '../core/counted.ts'
import { ErrandError } from '../core/errors.ts'
import { boostBy, categoryNamed, fullConfidence } from '../entities/confidence.ts'
import { type FactRecord, mainBranch } from '../entities/memory.ts'
import { joinedSources, lasts } from '../entities/source.ts'
import type { TeamRecord } from '../entities/team.ts'
import { everyRow } from '../ledger/all-rows.ts'
import type { Op, Reads, Tx } from '../ledger/ledger.ts'
import { requireOpenBranch } from './branches.ts'
import { alikeTo, compare } from './compare.ts'
import { type Consolidated, ConsolidationRun } from './consolidation-run.ts'
import { type AlikePair, groupAlike, type Pair, pairKey, possiblePairs, splitBySurvivor } from './group-facts.ts'
import { type DurableSettings, durableRuleOf } from './memory-settings.ts'
import type { Ground, MemoryStep } from './memory-step.ts'
import { Carrier, type Conflict, type Offer } from './merge.ts'
import { together } from './outside-answers.ts'

export interface ProjectRequest {
  /** Null: all tasks whose branch is directly below. */
  taskIds: readonly string[] | null
  branch: string
  trigger: string
}

export interface ProjectConsolidated extends Consolidated {
  /** Ids of the facts on the branch that this run created or confirmed. */
  durable: string[]
  /** Number of facts that stay on the branches of their tasks. */
  ephemeral: number
  conflicts: Conflict[]
  summary: string
}

/** @throws ErrandError NOT_FOUND for an unknown branch, and for a task without a branch directly below it; BRANCH_CLOSED */
export function* consolidateProject(
  tx: Tx,
  memory: MemoryStep,
  { taskIds, branch, trigger }: ProjectRequest,
): Op<ProjectConsolidated> {
  yield* requireOpenBranch(tx, branch)
  const teams = taskIds === null ? yield* teamsBelow(tx, branch) : yield* teamsNamed(tx, branch, taskIds)
  const run = new ConsolidationRun(memory, {
    type: 'project_checkpoint',
    sourceBranch: teams.length === 1 ? (teams[0] as Source).branch : branch,
    targetBranch: branch,
    trigger,
  })
  const carrier = new Carrier(memory, run, branch)
  const facts: FactRecord[] = []
  for (const team of teams) {
    yield* memory.prepare(tx, team.branch)
    for (const fact of yield* everyRow((after, limit) => tx.fact.unmerged(team.branch, after, limit))) {
      if (fact.mergedTo === null) facts.push(fact)
      else yield* carrier.passOn(tx, fact)
    }
  }
  const durable: string[] = []
  let open: FactRecord[] = facts
  // Carrying facts can split groups and create new matches on the target, so repeat until nothing changes.
  for (let before = -1; before !== open.length; ) {
    before = open.length
    open = yield* carryWhatLasts(tx, memory, carrier, { branch, teams, open, durable })
  }
  const ephemeral = open.length
  const summary = `${counted(teams.length, 'task')}: ${counted(durable.length, 'fact')} reached ${branch}, ${counted(ephemeral, 'other')} did not.`
  const { merged, rejected, conflicts } = carrier
  const counts = { durable: durable.length, ephemeral, merged, rejected, summary }
  return { ...(yield* run.close(tx, counts)), durable, ephemeral, conflicts, summary }
}

interface Round {
  branch: string
  teams: readonly Source[]
  /** Facts without an outcome so far. */
  open: readonly FactRecord[]
  /** Ids of the facts on the target that hold what was carried; each round adds to it. */
  durable: string[]
}

/** Carries the groups that last or are known on the target; returns the facts that are left. */
function* carryWhatLasts(
  tx: Tx,
  memory: MemoryStep,
  carrier: Carrier,
  { branch, teams, open, durable }: Round,
): Op<FactRecord[]> {
  const offers: Array<Offer & { durable: boolean }> = []
  for (const group of yield* groupsAmong(memory, open)) {
    for (const offer of yield* offersOf(memory, group, teams)) offers.push(offer)
  }
  const left: FactRecord[] = []
  // Durable offers first, so that the others are compared with the same state of the target in any order.
  for (const offer of offers.toSorted((a, b) => Number(b.durable) - Number(a.durable))) {
    const reaches = offer.durable || (yield* compare(tx, memory, branch, offer.fact)).alike.length > 0
    if (!reaches) {
      for (const member of offer.members) left.push(member)
      continue
    }
    const { holder, leftOut } = yield* carrier.carry(tx, offer)
    // A fact that lost against a contradiction is not durable.
    if (holder.status === 'active') durable.push(holder.id)
    for (const member of leftOut) left.push(member)
  }
  return left
}

/** A task's branch and its rule of what is durable. */
interface Source extends DurableSettings {
  branch: string
}

/** Includes tasks that were purged: their facts remain, and the engine's rule of what is durable applies. */
function* teamsBelow(tx: Reads, parent: string): Op<Source[]> {
  const teams: Source[] = []
  for (const { name, taskId } of yield* everyRow((after, limit) => tx.branch.list({ parent }, limit, after))) {
    if (taskId === null) continue
    teams.push((yield* tx.team.ofBranch(name)) ?? { branch: name, durableThreshold: null, durableCategories: null })
  }
  return teams
}

function* teamsNamed(tx: Reads, parent: string, taskIds: readonly string[]): Op<Source[]> {
  const teams: Source[] = []
  for (const taskId of new Set(taskIds)) {
    const team = yield* tx.team.get(taskId)
    if (team?.parentBranch !== parent) throw noTeam(taskId, parent, team)
    teams.push(team)
  }
  return teams
}

function noTeam(taskId: string, parent: string, team: TeamRecord | undefined): ErrandError {
  const why =
    team === undefined ? 'it has no branch of memory' : `its branch "${team.branch}" is below "${team.parentBranch}"`
  return new ErrandError(
    'NOT_FOUND',
    `There is no task ${taskId} whose branch is directly below "${parent}": ${why}. Leave it out, or name \`branch\`${parent === mainBranch ? '' : ` (default "${mainBranch}")`}.`,
    { taskId, branch: parent },
  )
}

interface Group {
  members: FactRecord[]
  pairs: AlikePair[]
}

/** Groups of alike facts of different tasks, and each of the others by itself; oldest first. */
function* groupsAmong(memory: MemoryStep, facts: readonly FactRecord[]): Op<Group[]> {
  const byAge = facts.toSorted((a, b) => a.seq - b.seq)
  const areLikeThemselves = yield* together(byAge, ({ text }) => memory.isAlike(text, text))
  // Identical texts are compared once.
  const alike = Map.groupBy(byAge, ({ id, text }, at) => (areLikeThemselves[at] ? text : `${id} ${text}`))
  const byRepresentative = new Map([...alike.values()].map((same) => [(same[0] as FactRecord).id, same]))
  const representatives = [...byRepresentative.values()].map(([first]) => first as FactRecord)
  const pairs: AlikePair[] = []
  const contrary = new Set<string>()
  const possible = possiblePairs(memory.settings, representatives)
  for (const { a, b, likeness, ground } of yield* together(possible, (pair) => comparePair(memory, pair))) {
    if (ground !== null) contrary.add(pairKey(a, b))
    else if (likeness > memory.settings.threshold) pairs.push({ a, b, likeness })
  }
  const groups = yield* groupAlike([...byRepresentative.keys()], pairs, function* (a, b) {
    return contrary.has(pairKey(a, b))
  })
  const grouped = new Set(groups.flat())
  const alone = [...byRepresentative.keys()].filter((id) => !grouped.has(id)).map((id) => [id])
  const pairsOf = Map.groupBy(pairs, ({ a }) => a)
  return [...groups, ...alone]
    .map((ids): Group => {
      const lists = ids.map((id) => byRepresentative.get(id) as FactRecord[])
      return {
        members: lists.flat().toSorted((a, b) => a.seq - b.seq),
        pairs: [...ids.flatMap((id) => pairsOf.get(id) ?? []), ...lists.flatMap(identicalPairs)],
      }
    })
    .toSorted(({ members: [a] }, { members: [b] }) => (a as FactRecord).seq - (b as FactRecord).seq)
}

function* comparePair(memory: MemoryStep, [a, b]: Pair): Op<AlikePair & { ground: Ground | null }> {
  const likeness = yield* memory.likeness(a.text, b.text)
  return { a: a.id, b: b.id, likeness, ground: yield* memory.contradicts(a, b) }
}

function identicalPairs([first, ...others]: readonly FactRecord[]): AlikePair[] {
  return others.map(({ id }) => ({ a: (first as FactRecord).id, b: id, likeness: 1 }))
}

/**
 * The survivors of a group with what they cover. Each further task counts as one more observation, also if what it found is alike to the
 * survivor and says more.
 */
function* offersOf(
  memory: MemoryStep,
  { members: group, pairs }: Group,
  teams: readonly Source[],
): Op<Array<Offer & { durable: boolean }>> {
  const found = splitBySurvivor(group, pairs, {
    saysLess: (a, b) => memory.saysLess(a.text, b.text),
    covers: (a, b) => !memory.lacksNumbers(a.text, b.text),
  })
  const offers: Array<Offer & { durable: boolean }> = []
  for (const { survivor, covered } of found) {
    const members = [survivor, ...covered]
    const known = new Set(members)
    const saying = group.filter((fact) => !known.has(fact) && memory.lacksNumbers(survivor.text, fact.text))
    const more = yield* alikeTo(memory, survivor, saying)
    offers.push(offerOf(memory, { survivor, members, supporters: [...members, ...more] }, teams))
  }
  return offers
}

function offerOf(
  memory: MemoryStep,
  { survivor: fact, members, supporters }: Record<'members' | 'supporters', FactRecord[]> & { survivor: FactRecord },
  teams: readonly Source[],
): Offer & { durable: boolean } {
  const statedBy = joinedSources(supporters.map((each) => each.statedBy))
  const branches = new Set(supporters.map(({ branch }) => branch))
  const confidence = Math.min(fullConfidence, fact.confidence + boostBy * (branches.size - 1))
  const rules = teams.filter(({ branch }) => branches.has(branch)).map((team) => durableRuleOf(memory.settings, team))
  const lasting = supporters.find(({ category }) =>
    rules.some((rule) => lasts({ confidence, category, statedBy }, rule)),
  )
  return {
    fact,
    members,
    category: categoryNamed((lasting ?? fact).category),
    confidence,
    statedBy,
    durable: lasting !== undefined,
  }
}
