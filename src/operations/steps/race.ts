// Races: of several entries that a run waits for, the first that is over wins, and the others are withdrawn in the same transaction. So a
// question that is no longer needed is closed, and no loser takes a signal.
import type { StoredError } from '../../core/errors.ts'
import type { CallRecord } from '../../entities/call.ts'
import type { TaskRecord } from '../../entities/task.ts'
import { type NewCall, type Op, type Reads, type Step, step, type Tx } from '../../ledger/ledger.ts'
import { loadLive } from './journal.ts'
import { failEntry, isOver } from './journal-closing.ts'
import type { StepContext } from './step-context.ts'
import { takeOutcomes } from './wait-outcomes.ts'

/** What a wait has become by being recorded. */
export type WaitBegun = { open: true } | { open: false; outcomes: unknown } | { open: false; failed: StoredError }

/** One of the entries of a race: one that begins with it, or the id of one that has begun before. */
export type RaceEntry = { record: NewCall; begin: Step<WaitBegun> } | { id: string }

/** The ids of the entries of a race. */
const idsOf = ({ details }: Pick<CallRecord, 'details'>): string[] => (details as { entries: string[] }).entries

export const withdrawn: StoredError = {
  code: 'WITHDRAWN',
  message: 'Another request of the same race was over first, so this one was withdrawn.',
}

export function isWithdrawn(error: unknown): boolean {
  return (error as { code?: unknown } | null | undefined)?.code === withdrawn.code
}

export interface RaceBegun {
  /** What has become of each entry; undefined for one that had begun before. */
  states: Array<WaitBegun | undefined>
  /** The position of the entry that is over; -1 while none is. */
  winner: number
}

/** Records a race and begins its entries, in order. After one that is over at once, no other begins. Run it with `matchingOutside`. */
export function beginRace(race: NewCall, entries: readonly RaceEntry[], ctx: StepContext): Step<RaceBegun> {
  return step('begin race', function* (tx) {
    const task = yield* loadLive(tx, race)
    let winner = yield* firstOver(tx, entries)
    const states: Array<WaitBegun | undefined> = []
    for (const entry of entries) {
      if ('id' in entry) states.push(undefined)
      else if (winner !== undefined) {
        yield* tx.call.insert({ ...entry.record, status: 'failed', error: withdrawn, dueAt: null })
        states.push({ open: false, failed: withdrawn })
      } else {
        const state = yield* entry.begin.decide(tx)
        if (!state.open) winner = entry.record.id
        states.push(state)
      }
    }
    const ids = entries.map((entry) => ('id' in entry ? entry.id : entry.record.id))
    yield* tx.call.insert({ ...race, details: { entries: ids } })
    if (winner !== undefined) yield* endRace(tx, task, winner, ctx)
    return { states, winner: winner === undefined ? -1 : ids.indexOf(winner) }
  })
}

/** Of the entries that had begun before, the first that is over. */
function* firstOver(tx: Reads, entries: readonly RaceEntry[]): Op<string | undefined> {
  for (const entry of entries) {
    if (!('id' in entry)) continue
    const call = yield* tx.call.get(entry.id)
    if (call !== undefined && (call.status !== 'pending' || isOver(call)) && !isWithdrawn(call.error)) return call.id
  }
  return undefined
}

/** An entry of the journal is over: it has won the races that are open for it. Returns the ids of the questions that are withdrawn. */
export function* endRace(tx: Tx, task: TaskRecord, callId: string, ctx: StepContext): Op<string[]> {
  const questions: string[] = []
  for (const race of yield* tx.call.open(task.id)) {
    if (race.kind !== 'race' || !idsOf(race).includes(callId)) continue
    yield* tx.call.save({ ...race, status: 'completed', result: callId, updatedAt: ctx.at })
    for (const entry of yield* letWin(tx, task, idsOf(race), callId, ctx)) {
      if (entry.kind === 'ask') questions.push(entry.id)
    }
  }
  return questions
}

/** Withdraws the others. A wait for tasks keeps its outcomes, even if a task of it is retried: nothing else is waited for any more. */
function* letWin(tx: Tx, task: TaskRecord, ids: readonly string[], winner: string, ctx: StepContext): Op<CallRecord[]> {
  const over = yield* tx.call.get(winner)
  if (over?.status === 'pending') yield* takeOutcomes(tx, over, ctx.at)
  const others = (yield* tx.call.open(task.id)).filter(({ id }) => id !== winner && ids.includes(id))
  for (const entry of others) yield* failEntry(tx, task, entry, withdrawn, ctx)
  return others
}
