// How machines act as live actors, beyond what XState's public functions do: an actor with a parent stops at XState's own stop event,
// answers for transitions without effects of their own are remembered, and the end of a child leaves nothing behind in its parent.
import { type ActorLogic, type AnyActorRef, type AnyStateMachine, type Snapshot, transition } from 'xstate'
import type { RunStatus } from '../entities/run.ts'
import { chooser, type StateValue, stateKey } from '../machines/decide.ts'
import { decideRun, runMachine } from '../machines/run-machine.ts'

/** What XState sends to a child that its parent stops. `stop()` throws for an actor with a parent. */
export const stopEvent = 'xstate.stop'

/** Stops an actor in the state that it has; one that has ended by itself is not changed. */
export function stopActor(actor: AnyActorRef): void {
  if ((actor.getSnapshot() as { status: string }).status === 'active') actor.send({ type: stopEvent })
}

interface Plan {
  next: object
  actions: Array<{ type: string; params: unknown; exec: unknown }>
}

interface Scope {
  self: AnyActorRef
  system: unknown
  actionExecutor(action: object): void
}

type LiveSnapshot = { value: StateValue; status: string; context: object }
type LiveEvent = { type: string; shown?: object }

/**
 * A machine as the logic of live actors. XState is asked once for each transition (state, event, and the alternative that the guards
 * choose); its answer is the next snapshot and the actions. An event's `shown` becomes a part of the context, which is only for inspectors.
 */
export function liveLogic<M extends AnyStateMachine>(machine: M): M {
  const choose = chooser(machine)
  const plans = new Map<string, Plan | undefined>()
  const planOf = (key: string, snapshot: LiveSnapshot, event: LiveEvent): Plan | undefined => {
    if (plans.has(key)) return plans.get(key)
    const [next, actions] = transition(machine as AnyStateMachine, snapshot as never, event as never)
    // What XState itself must do (a raised event, a changed context) is not remembered.
    const isPlain = next.context === snapshot.context && actions.every(({ type }) => !type.startsWith('xstate.'))
    const plan = isPlain ? { next, actions: actions.filter(({ exec }) => exec !== undefined) } : undefined
    plans.set(key, plan)
    return plan
  }
  const live = {
    // It comes from `resolveState`, with the context of this actor.
    restoreSnapshot: (snapshot: object) => snapshot,
    transition(snapshot: LiveSnapshot, event: LiveEvent, scope: Scope): object {
      if (event.type === stopEvent) return { ...snapshot, status: 'stopped' }
      // The end of a child: XState remembers the transitions of a state by the event's type, and this one contains the child's id.
      if (event.type.startsWith('xstate.done.actor.') || event.type.startsWith('xstate.error.actor.')) return snapshot
      const state = stateKey(snapshot.value)
      const index = choose(state, event)
      if (index < 0) return snapshot
      const plan = planOf(`${state} ${event.type} ${index}`, snapshot, event)
      if (plan === undefined) return machine.transition(snapshot as never, event as never, scope as never)
      const { self, system } = scope
      const info = { context: snapshot.context, event, self, system }
      for (const action of plan.actions) scope.actionExecutor({ ...action, info })
      return {
        ...plan.next,
        context: event.shown === undefined ? snapshot.context : { ...snapshot.context, ...event.shown },
      }
    },
  }
  return Object.assign(Object.create(Object.getPrototypeOf(machine) as object) as object, machine, live) as unknown as M
}

/** What a run does while it is alive: the live half of the actions of its machine. Absent: another process runs it. */
export interface RunLife {
  begin(): void
  abort(why: string | undefined): void
  leaveFunction(): void
  freeSlot(): void
  lendSlot(): void
  goOn(): void
}

type RunSnapshot = Snapshot<undefined> & { value: RunStatus; context: { taskId: string; run: number } }
export type RunEnding = { type: 'end'; why?: string | undefined } | { type: 'suspend' }
export type RunMove = { type: 'park' | 'wake' | 'admit' }
type RunEvent = RunEnding | RunMove | { type: 'close' }

export interface RunInput {
  taskId: string
  run: number
  life: RunLife | undefined
}

/** Not in the snapshot, which inspectors show. */
const lives = new WeakMap<object, RunLife>()

const liveEffects: Readonly<Record<string, (life: RunLife, event: RunEvent) => void>> = {
  abort: (life, event) => life.abort('why' in event ? event.why : undefined),
  leaveFunction: (life) => life.leaveFunction(),
  freeSlot: (life) => life.freeSlot(),
  lendSlot: (life) => life.lendSlot(),
  goOn: (life) => life.goOn(),
}

/** The actor of a run is the run: it begins the executor when it starts, and aborts it when it ends. */
export const runLogic: ActorLogic<RunSnapshot, RunEvent, RunInput> & { config: object } = {
  // Inspectors read the chart to draw from here.
  config: runMachine.config,
  transition(snapshot, event, { self }) {
    if ((event.type as string) === stopEvent) return { ...snapshot, status: 'stopped' } as RunSnapshot
    const [step] = decideRun(snapshot.value, event) ?? []
    if (step === undefined) return snapshot
    const life = lives.get(self)
    if (life !== undefined) for (const { type } of step.actions) liveEffects[type]?.(life, event)
    return { ...snapshot, value: step.to as RunStatus }
  },
  getInitialSnapshot({ self }, { taskId, run, life }) {
    if (life !== undefined) lives.set(self, life)
    return { status: 'active', output: undefined, error: undefined, value: 'live', context: { taskId, run } }
  },
  start(_snapshot, { self }) {
    lives.get(self)?.begin()
  },
  getPersistedSnapshot: (snapshot) => snapshot,
}
