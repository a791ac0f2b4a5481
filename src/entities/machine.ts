// A machine of users as the ledger keeps it: its situation as JSON of our own, beside the journal entry that takes its events. XState's
// persisted snapshots know neither the delays nor the events that wait, so they are no base (docs/decisions/0054).
import { z } from 'zod'
import { once } from '../core/once.ts'
import type { MachineChartView } from './machine-view.ts'
import { signalNameSchema } from './signal.ts'

/** An event of a machine. Everything but the type is its payload. */
export interface MachineEvent {
  type: string
  [field: string]: unknown
}

/** A delayed event. `to` names an actor of the machine, `#parent`, or with `isTask` a task; absent: the machine itself. */
export interface MachineTimer {
  id: string
  event: MachineEvent
  /** Epoch milliseconds: when it was to be sent, whenever that is noticed. */
  dueAt: number
  to?: string
  isTask?: true
}

/** An actor that the machine has invoked or spawned and not stopped. */
export interface MachineActor {
  /** The name of its logic; `xstate.invoke.N.STATE` for one that stands in the definition itself. */
  src: string
  /** Which start this is, of all actors of the machine: an answer of an earlier one with the same id is dropped. */
  gen: number
  input?: unknown
  /** The machine gets its snapshots. */
  sync?: true
  systemId?: string
  /** Of a machine, which is a task: its id, and the wait of its parent for it. */
  taskId?: string
  waitId?: string
  /** It has ended, and the machine has got its end. `last` is what it ended with. */
  ended?: true
  last?: unknown
}

/** What is done once the macrostep is in the ledger, in this order: an action, or an event for an actor that lives in memory. */
export type MachineEffect =
  | {
      action: string
      params?: unknown
      event: MachineEvent
      /** Absent: that of the state. */
      context?: unknown
    }
  | { to: string; event: MachineEvent }

/** An event that the machine has sent to itself, or an action of it to another actor (`to`), and that is next. */
export interface QueuedMachineEvent {
  event: MachineEvent
  to?: string
}

/** The situation of a machine between two macrosteps. */
export interface MachineState {
  format: 1
  /** The number of macrosteps so far: what was computed from an earlier one is not written. */
  step: number
  /** The `version` of the definition that wrote it. */
  definition: string | null
  status: 'active' | 'done'
  value: unknown
  context: unknown
  /** The states that a history state returns to, by its id. */
  history: Record<string, string[]>
  actors: Record<string, MachineActor>
  timers: MachineTimer[]
  queue: QueuedMachineEvent[]
  effects: MachineEffect[]
  /** The question of the present state, and its event; absent: none is asked. */
  ask?: { state: string; event: string; callId: string }
  /** Of the next actor or timer without an id. */
  counter: number
  output?: unknown
}

/** A machine that rests, and an event for it. */
export interface RestingMachine {
  taskId: string
  /** Of an actor of another task's machine. */
  place: (MachinePlace & { parentId: string }) | undefined
  state: MachineState
  event: MachineEvent
  /** Epoch milliseconds. */
  now: number
}

/** What an event makes of a resting machine. */
export interface RestingMove {
  state: MachineState
  accepts: string[]
  emitted: readonly MachineEvent[]
  logged: readonly string[]
}

/** What the engine asks of a machine outside of runs. */
export interface MachineTraits {
  /** Undefined for an event that needs a run: something is to be done, or the definition does not go on from the stored situation. */
  moveAtRest(resting: RestingMachine): RestingMove | undefined
  /** The structure of its definition, for drawings. */
  chart(): MachineChartView
}

/** An event that is sent to a machine as a signal. */
export const machineEventSchema = once(() => z.looseObject({ type: signalNameSchema() }))

const event = z.looseObject({ type: z.string() })
const timer = z.object({
  id: z.string(),
  event,
  dueAt: z.number(),
  to: z.string().optional(),
  isTask: z.literal(true).optional(),
})
const actor = z.object({
  src: z.string(),
  gen: z.int(),
  input: z.unknown().optional(),
  sync: z.literal(true).optional(),
  systemId: z.string().optional(),
  taskId: z.string().optional(),
  waitId: z.string().optional(),
  ended: z.literal(true).optional(),
  last: z.unknown().optional(),
})
const effect = z.union([
  z.object({ action: z.string(), params: z.unknown().optional(), event, context: z.unknown().optional() }),
  z.object({ to: z.string(), event }),
])

/** Of what is read: an older format, or a row that was changed by hand, is refused before it acts. */
export const machineStateSchema = once(() =>
  z.object({
    format: z.literal(1),
    step: z.int().min(1),
    definition: z.string().nullable(),
    status: z.enum(['active', 'done']),
    value: z.unknown(),
    context: z.unknown(),
    history: z.record(z.string(), z.array(z.string())),
    actors: z.record(z.string(), actor),
    timers: z.array(timer),
    queue: z.array(z.object({ event, to: z.string().optional() })),
    effects: z.array(effect),
    ask: z.object({ state: z.string(), event: z.string(), callId: z.string() }).optional(),
    counter: z.int(),
    output: z.unknown().optional(),
  }),
)

/** The details of the journal entry of a machine. */
export interface MachineDetails {
  state: MachineState
  /** Only entries of the journal with this `seq` or a later one may be asked for again, however many there were before. */
  since: number
  /** Descriptors of the events that the present states handle, without those of XState itself. */
  accepts: string[]
  /** What is sent next by itself. */
  next: { event: string; dueAt: number } | null
}

/** The event that a signal is for a machine: `engine.signal(task, 'PAY', { amount })` is PAY too, and a payload that is no object is its `payload`. */
export function eventOfSignal({ name, payload }: { name: string; payload: unknown }): MachineEvent {
  if (payload === true) return { type: name }
  if (typeof payload === 'object' && payload !== null && !Array.isArray(payload)) return { ...payload, type: name }
  return { type: name, payload }
}

/** What is sent next by itself; null: nothing. */
export function nextTimer({ timers }: MachineState): MachineDetails['next'] {
  const first = timers.reduce<MachineTimer | undefined>(
    (earliest, timer) => (earliest === undefined || timer.dueAt < earliest.dueAt ? timer : earliest),
    undefined,
  )
  return first === undefined ? null : { event: first.event.type, dueAt: first.dueAt }
}

/** Of a task that is an actor of another task's machine. */
export interface MachinePlace {
  /** The names of the logics from the machine of the executor to this one. */
  path: string[]
  /** Its id within its parent. */
  id: string
  /** Its parent gets its snapshots. */
  sync?: true
}
