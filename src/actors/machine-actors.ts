// The machines of users as live actors, for observers only: below the run of a machine, an actor that shows the situations that have been
// written. It computes nothing: the macrosteps are steps of the ledger.
import type { ActorLogic, AnyActorRef, Snapshot } from 'xstate'
import type { TaskEvent } from '../entities/event.ts'
import type { MachineState } from '../entities/machine.ts'
import { stopActor, stopEvent } from './actor-logic.ts'

/** What observers see of a situation. */
type Shown = Snapshot<unknown> & Pick<MachineState, 'value' | 'context'>
type ShowingLogic = ActorLogic<Shown, { type: string }, Shown> & { config: object }

type RunOf = (taskId: string, run: number) => AnyActorRef | undefined
type Create = (
  logic: ShowingLogic,
  run: AnyActorRef,
  options: { id: string; systemId: string; input: Shown },
) => AnyActorRef

interface RunningMachine {
  begin(shown: Shown): AnyActorRef
  /** Undefined before its first situation is written. */
  ref: AnyActorRef | undefined
  /** By the numbers of macrosteps: what may have been written, until the feed reports it. */
  offered: Map<number, Shown>
}

/** What the actor is to show after the event that it gets. */
const nextOf = new WeakMap<object, Shown>()
const logics = new WeakMap<object, ShowingLogic>()

export class MachineActors {
  readonly #byRun = new Map<AnyActorRef, RunningMachine>()
  readonly #runOf: RunOf
  readonly #create: Create

  constructor(runOf: RunOf, create: Create) {
    this.#runOf = runOf
    this.#create = create
  }

  /**
   * A run performs a machine.
   * @param config the configuration of the definition, which inspectors draw
   * @param stored the situation that it goes on from; undefined: it begins
   */
  open(taskId: string, number: number, config: object, stored: MachineState | undefined): void {
    const run = this.#runOf(taskId, number)
    if (run === undefined) return
    const id = `machine:${taskId}#${number}`
    const begin = (input: Shown): AnyActorRef => {
      const ref = this.#create(logicOf(config), run, { id, systemId: id, input })
      ref.start()
      return ref
    }
    const ref = stored === undefined ? undefined : begin(shownOf(stored))
    this.#byRun.set(run, { begin, ref, offered: new Map() })
  }

  /** This is about to be written, and is shown when the feed reports that it is. */
  offer(taskId: string, number: number, state: MachineState): void {
    const run = this.#runOf(taskId, number)
    if (run !== undefined) this.#byRun.get(run)?.offered.set(state.step, shownOf(state))
  }

  /** Follows the events `machine.moved`. */
  follow({ taskId, data }: TaskEvent): void {
    const run = this.#runOf(taskId, data['run'] as number)
    const machine = run === undefined ? undefined : this.#byRun.get(run)
    const shown = machine?.offered.get(data['step'] as number)
    if (machine === undefined || shown === undefined) return
    machine.offered.clear()
    if (machine.ref === undefined) machine.ref = machine.begin(shown)
    else {
      nextOf.set(machine.ref, shown)
      machine.ref.send({ type: data['event'] as string })
    }
  }

  close(run: AnyActorRef): void {
    const ref = this.#byRun.get(run)?.ref
    this.#byRun.delete(run)
    if (ref !== undefined) stopActor(ref)
  }

  *refs(): Iterable<AnyActorRef> {
    for (const { ref } of this.#byRun.values()) if (ref !== undefined) yield ref
  }
}

function shownOf({ status, value, context, output }: MachineState): Shown {
  return { status, value, context, output, error: undefined } as Shown
}

function logicOf(config: object): ShowingLogic {
  const known = logics.get(config)
  if (known !== undefined) return known
  const logic: ShowingLogic = {
    // Inspectors read the chart to draw from here.
    config,
    transition(snapshot, { type }, { self }) {
      if (type === stopEvent) return { ...snapshot, status: 'stopped' } as Shown
      return nextOf.get(self) ?? snapshot
    },
    getInitialSnapshot: (_scope, shown) => shown,
    getPersistedSnapshot: (snapshot) => snapshot,
  }
  logics.set(config, logic)
  return logic
}
