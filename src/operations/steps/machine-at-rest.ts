// A signal for a machine that rests in an engine that has its definition: what the event makes of it is stored with the signal, in one
// transaction and without a run, when nothing else has to be done.

import type { Redaction } from '../../core/redact.ts'
import type { CallRecord } from '../../entities/call.ts'
import {
  eventOfSignal,
  type MachineDetails,
  type MachineTraits,
  nextTimer,
  type RestingMove,
} from '../../entities/machine.ts'
import type { TaskRecord } from '../../entities/task.ts'
import type { Op, Tx } from '../../ledger/ledger.ts'
import { machineToStore } from '../../ledger/redacted-content.ts'
import { obstacleOf } from '../../machines/readiness.ts'
import { WorkNeeded } from './answer-schema.ts'
import { publishMove, saveMachine } from './save-machine.ts'
import type { StepContext } from './step-context.ts'

/** What this engine knows of machines. */
export interface MachinesHere {
  traitsOf(executor: string): MachineTraits | undefined
  redaction: Redaction
}

/** A signal, with what it makes of the machine that it was computed for, outside of the step. */
export class SignalAtRest {
  readonly #machines: MachinesHere
  readonly #signal: { name: string; payload: unknown }
  #made: { entryId: string; from: number; move: RestingMove | undefined } | undefined

  constructor(machines: MachinesHere, signal: { name: string; payload: unknown }) {
    this.#machines = machines
    this.#signal = signal
  }

  /** Returns what is to be stored; undefined for a machine that needs a run. Called in a step, before it has written. @throws WorkNeeded */
  moveOf(task: TaskRecord, entry: CallRecord, ctx: StepContext): RestingMove | undefined {
    const traits = task.executor === null ? undefined : this.#machines.traitsOf(task.executor)
    const { state, next } = entry.details as MachineDetails
    const isDue = next !== null && (entry.dueAt === null || next.dueAt <= ctx.at)
    // It waits for nothing but events.
    if (traits === undefined || isDue || task.status !== 'waiting' || obstacleOf(task) !== 'children' || task.runOpen)
      return undefined
    const made = this.#made
    if (made === undefined) throw new WorkNeeded(() => this.#make(traits, task, entry, ctx))
    // Computed from what another event has changed since: a run takes both.
    if (made.entryId !== entry.id || made.from !== state.step || made.move === undefined) return undefined
    return made.move
  }

  #make(
    traits: MachineTraits,
    { id: taskId, policy, parentId }: TaskRecord,
    entry: CallRecord,
    ctx: StepContext,
  ): boolean {
    const { state } = entry.details as MachineDetails
    const place = policy.machine === undefined || parentId === null ? undefined : { ...policy.machine, parentId }
    const { redaction } = this.#machines
    const move = traits.moveAtRest({ taskId, place, state, event: eventOfSignal(this.#signal), now: ctx.at })
    const redacted = move && { ...move, state: machineToStore(redaction, move.state) }
    this.#made = { entryId: entry.id, from: state.step, move: redacted }
    return move === undefined
  }
}

export function* storeMove(
  tx: Tx,
  task: TaskRecord,
  entry: CallRecord,
  { state, accepts, emitted, logged }: RestingMove,
  event: string,
  ctx: StepContext,
): Op<void> {
  const { since } = entry.details as MachineDetails
  yield* saveMachine(tx, entry, false, { state, accepts, next: nextTimer(state), since }, ctx)
  yield* publishMove(tx, task, state, { event, emitted, logged }, ctx)
}
