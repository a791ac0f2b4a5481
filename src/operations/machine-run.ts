// What a run offers to the executor of a machine in addition to `Run`: the stored situation, what arrives for it, and the step that writes
// the next one. Internal, used by `machine` only.
import type { MachineEvent, MachinePlace, MachineState } from '../entities/machine.ts'
import type { AnswerSchema } from '../entities/wait-options.ts'
import type { Arrivals } from './steps/machine.ts'

/** An actor of the machine that becomes a task. */
export interface StartedMachine {
  /** Its id within the machine. */
  id: string
  input: unknown
  place: MachinePlace
}

/** A question of the state that the machine is in. */
export interface MachineQuestion {
  state: string
  event: string
  question: string
  schema: AnswerSchema | null
  for: 'person' | 'anyone'
}

/** One step of the ledger. */
export interface MachineChange {
  /** The situation that the new one was computed from. */
  before: MachineState | undefined
  state: MachineState
  accepts: string[]
  /** The signal that is consumed. */
  takes?: number | undefined
  /** The type of the event that is consumed; absent: the machine has not moved. */
  event?: string | undefined
  starts: readonly StartedMachine[]
  /** To a task, or to an actor of the machine that is a task, which may begin with this step. */
  sends: ReadonlyArray<{ event: MachineEvent } & ({ taskId: string } | { actor: string })>
  emitted: readonly MachineEvent[]
  logged: readonly string[]
  /** Asked from now on; null: what is asked stays. */
  question: MachineQuestion | null
}

export interface MachineRun {
  readonly taskId: string
  /** The task of the machine above; undefined for the machine of the executor itself. */
  readonly place: (MachinePlace & { parentId: string }) | undefined
  now(): number
  /** What is stored; undefined before the first step. @throws Failure INVALID_RESULT for what cannot be read */
  stored(): MachineState | undefined
  /** The entry that takes the signals has ended, with an attempt or before a pause: it begins anew with the next step. */
  readonly isClosed: boolean
  /** Observers see the machine from now on. @param config of the definition; @param state absent: it begins with the first step */
  show(config: object, state: MachineState | undefined): void
  arrivals(state: MachineState): Promise<Arrivals>
  /**
   * Writes a step, and resolves to the situation as it is stored, with the ids of tasks and questions in it.
   */
  write(change: MachineChange): Promise<MachineState>
  /** The machine only waits from now on: when the executor has returned, the step is written, and the run is closed with it. */
  rest(change: MachineChange): void
  /** `arrived` resolves when something may have arrived. */
  arrival(): { arrived: Promise<void>; cancel(): void }
}

/** The property under which a run holds its MachineRun. */
export const machineFacilities = Symbol.for('errand.machine-run')

export function machineRunOf(run: object): MachineRun {
  return (run as { [machineFacilities]: MachineRun })[machineFacilities]
}
