// One macrostep, from JSON to JSON: XState's own transition function computes it on a scope that only collects what it asks for. The rest of
// the engine stores the result and carries it out.
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate'
import { Failure } from '../core/errors.ts'
import { recordedImage } from '../core/json.ts'
import type {
  MachineActor,
  MachineEffect,
  MachineEvent,
  MachineState,
  MachineTimer,
  QueuedMachineEvent,
} from '../entities/machine.ts'
import { isMachine } from './logic-kind.ts'
import { errorImage, imageOf, revived } from './machine-json.ts'
import { isActor, isStandIn, logicNamed, type StandIn, standIn, systemOf } from './stand-ins.ts'
import { isTaskRef } from './task-ref.ts'

/** Where and when a macrostep happens. */
export interface MachineScope {
  machine: AnyStateMachine
  /** Of the task, or of the actor within its parent. */
  id: string
  isChild: boolean
  now: number
  /** What an actor shows now. */
  snapshotOf(id: string, actor: MachineActor): unknown
  /** The names of inline actions. */
  inlineNames: ReadonlyMap<unknown, string>
}

export interface Macrostep {
  state: MachineState
  /** Sent at once to machines that are tasks: to `#parent`, to an actor of this machine, or to a task by its id. */
  sends: Array<{ to: string; event: MachineEvent; isTask: boolean }>
  emitted: MachineEvent[]
  logged: string[]
}

/** An action as XState gives it to a scope. The params are those of its own builtins, or of the user's action. */
interface Action {
  type: string
  params: unknown
  info: { context: unknown; event: MachineEvent }
  exec: ((...given: unknown[]) => unknown) | undefined
}

/** An actor that XState has made in this macrostep, and not started. */
interface MadeActor {
  id: string
  src: unknown
  systemId: string | undefined
  options: { input?: unknown }
  _syncSnapshot?: boolean
}

interface SendParams {
  id?: string
  event: unknown
  delay?: number
  to?: { id: string }
}

/** The first macrostep. @throws what the definition throws, and Failure for what JSON cannot carry */
export function begin(scope: MachineScope, input: unknown, definition: string | null): Macrostep {
  const empty: MachineState = {
    format: 1,
    step: 0,
    definition,
    status: 'active',
    value: {},
    context: {},
    history: {},
    actors: {},
    timers: [],
    queue: [],
    effects: [],
    counter: 0,
  }
  const play = new Play(scope, empty)
  const next = scope.machine.getInitialSnapshot(play.scope as never, input as never) as AnyMachineSnapshot
  return play.result(next)
}

/** The macrostep of an event. The state is not changed. @throws as `begin` */
export function advance(scope: MachineScope, state: MachineState, event: MachineEvent): Macrostep {
  const play = new Play(scope, state)
  const before = play.restored()
  play.self.getSnapshot = () => before
  return play.result(scope.machine.transition(before, event as never, play.scope as never) as AnyMachineSnapshot)
}

/**
 * Enters a state of the definition in place of a situation that it does not know: with its entry actions, its actors and delays. What was
 * before is left without a transition; the context stays.
 */
export function enter(scope: MachineScope, state: MachineState, target: string): Macrostep {
  const { machine } = scope
  const Machine = machine.constructor as new (config: object, implementations: object) => AnyStateMachine
  const context = revived(state.context, new Map())
  // The machine itself is entered too, for the actors and delays that it has in every state, but not its entry actions: they make a context.
  const config = { ...machine.config, initial: target, entry: undefined, context }
  const leading = new Machine(config, machine.implementations)
  const before = { ...state, value: {}, history: {}, actors: {}, timers: [], effects: [] }
  const play = new Play({ ...scope, machine: leading }, before)
  return play.result(leading.getInitialSnapshot(play.scope as never, undefined as never) as AnyMachineSnapshot)
}

/** The snapshot that a state stands for. @throws Error for states that the definition does not have */
export function snapshotOf(scope: MachineScope, state: MachineState): AnyMachineSnapshot {
  return new Play(scope, state).restored()
}

class Play {
  readonly self: StandIn
  readonly scope: object
  readonly #given: MachineScope
  readonly #before: MachineState
  readonly #actions: Action[] = []
  readonly #actors = new Map<string, StandIn>()
  #counter: number

  constructor(given: MachineScope, before: MachineState) {
    this.#given = given
    this.#before = before
    this.#counter = before.counter
    const named = new Map<string, unknown>()
    const system = systemOf(() => `x:${this.#counter++}`, named)
    const parent = given.isChild ? standIn('#parent', system) : undefined
    this.self = standIn(given.id, system, { parent })
    for (const [id, actor] of Object.entries(before.actors)) {
      const stand = standIn(id, system, {
        parent: this.self,
        src: actor.src,
        getSnapshot: () => given.snapshotOf(id, actor),
      })
      this.#actors.set(id, stand)
      if (actor.systemId !== undefined) named.set(actor.systemId, stand)
    }
    this.scope = {
      self: this.self,
      id: given.id,
      sessionId: given.id,
      system,
      logger() {},
      defer() {},
      stopChild() {},
      emit() {},
      actionExecutor: (action: Action) => void this.#actions.push(action),
    }
  }

  restored(): AnyMachineSnapshot {
    const { machine } = this.#given
    const { value, context, history, status } = this.#before
    const nodes = Object.entries(history).map(([id, ids]) => [id, ids.map((each) => machine.getStateNodeById(each))])
    const snapshot = machine.resolveState({
      value: value as never,
      context: revived(
        context,
        new Map([[this.self.id, this.self], ['#parent', this.self._parent], ...this.#actors]),
      ) as object,
      status: status as never,
      historyValue: Object.fromEntries(nodes),
    } as never)
    return Object.assign(snapshot, { children: Object.fromEntries(this.#actors) }) as unknown as AnyMachineSnapshot
  }

  result(next: AnyMachineSnapshot): Macrostep {
    if (next.status === 'error') throw thrownOf(next.error)
    const { now } = this.#given
    const before = this.#before
    const isDone = next.status === 'done'
    const actors = isDone ? {} : this.#actorsOf(next)
    const out: Macrostep = { state: before, sends: [], emitted: [], logged: [] }
    // An actor that begins anew under the id of one that was stopped does not get what was delayed for that one.
    const timers = before.timers.filter(
      ({ to, isTask }) => to === undefined || isTask || actors[to]?.gen === before.actors[to]?.gen,
    )
    const queue: QueuedMachineEvent[] = [...before.queue]
    const effects: MachineEffect[] = []
    const context = imageOf(next.context, 'the context of the machine', 'context')
    for (const { type, params, info, exec } of this.#actions) {
      switch (type) {
        case 'xstate.raise':
          if (isDelayed(params)) timers.push(this.#timer(params, now))
          break
        case 'xstate.cancel': {
          const index = timers.findLastIndex(({ id }) => id === (params as { sendId: string }).sendId)
          if (index >= 0) timers.splice(index, 1)
          break
        }
        case 'xstate.sendTo':
          if (isDelayed(params)) timers.push(this.#timer(params, now))
          else this.#send(params as SendParams, { queue, effects, actors, out })
          break
        case 'xstate.emit':
          out.emitted.push(imageOf((params as SendParams).event, 'an emitted event', 'event') as MachineEvent)
          break
        case 'xstate.log':
          out.logged.push(logText(params as { label?: string; value: unknown }))
          break
        case 'xstate.spawnChild':
        case 'xstate.stopChild':
          break
        default:
          if (exec !== undefined) effects.push(this.#effect(type, params, info, next, exec))
      }
    }
    out.state = {
      format: 1,
      step: before.step + 1,
      definition: before.definition,
      status: isDone ? 'done' : 'active',
      value: next.value,
      context,
      history: Object.fromEntries(
        Object.entries((next.historyValue ?? {}) as Record<string, Array<{ id: string }>>).map(([id, nodes]) => [
          id,
          nodes.map((node) => node.id),
        ]),
      ),
      actors,
      timers: isDone ? [] : timers,
      queue: isDone ? [] : queue,
      effects,
      counter: this.#counter,
      // It stands until its state is left, or its answer is taken.
      ...(before.ask === undefined ? {} : { ask: before.ask }),
      ...(next.output === undefined ? {} : { output: imageOf(next.output, 'the output of the machine', 'output') }),
    }
    return out
  }

  /** Those that go on, and those that begin. A reference that is not a stand-in is one that XState has made in this macrostep. */
  #actorsOf(next: AnyMachineSnapshot): Record<string, MachineActor> {
    const actors: Record<string, MachineActor> = {}
    for (const actor of Object.values(next.children as Record<string, MadeActor | StandIn | undefined>)) {
      if (actor === undefined) continue
      const known = isStandIn(actor) ? this.#before.actors[actor.id] : undefined
      actors[actor.id] = known ?? this.#started(actor as MadeActor)
    }
    return actors
  }

  #started({ src, options, id, systemId, _syncSnapshot }: MadeActor): MachineActor {
    if (typeof src !== 'string') {
      throw new Failure(
        `The machine "${this.#given.machine.id}" has spawned the actor "${id}" from logic that has no name, so it could not be found again after a restart. Name the logic in setup({ actors }), and spawn it by that name.`,
        { code: 'INVALID_RESULT', retry: false },
      )
    }
    const input = imageOf(options.input, `the input of the actor "${id}"`, 'input')
    return {
      src,
      gen: this.#counter++,
      ...(input === undefined ? {} : { input }),
      ...(_syncSnapshot === true ? { sync: true as const } : {}),
      ...(systemId === undefined ? {} : { systemId }),
    }
  }

  #timer({ id, event, delay, to }: SendParams & { delay: number }, now: number): MachineTimer {
    const isOwn = to === undefined || (to as unknown) === this.self
    const image = imageOf(event, 'a delayed event', 'event') as MachineEvent
    const dueAt = Math.ceil(now + delay)
    if (!(Math.abs(dueAt) <= maxTime)) {
      throw new Failure(
        `The machine "${this.#given.machine.id}" has delayed the event "${image.type}" by ${delay} milliseconds, which is no time that can be stored. Use a finite number that ends before the year 275760, and no delay for what is never to come.`,
        { code: 'INVALID_RESULT', retry: false },
      )
    }
    return {
      id: id ?? `x:${this.#counter++}`,
      event: image,
      dueAt,
      ...(isOwn ? {} : { to: to.id, ...(isTaskRef(to) ? { isTask: true as const } : {}) }),
    }
  }

  #send(
    { to, event: given }: SendParams,
    { queue, effects, actors, out }: Pick<MachineState, 'queue' | 'effects' | 'actors'> & { out: Macrostep },
  ): void {
    const event = imageOf(given, 'an event', 'event') as MachineEvent
    if (to !== undefined && !isActor(to as unknown)) {
      throw new Failure(
        `The machine "${this.#given.machine.id}" sends the event "${event.type}" to what is no actor. An actor in an event or in an input is JSON where it arrives: send to the parent with sendParent, and to another task with taskRef(id).`,
        { code: 'INVALID_RESULT', retry: false },
      )
    }
    if ((to as unknown) === this.self || to === undefined) queue.push({ event })
    else if (isTaskRef(to)) out.sends.push({ to: to.id, event, isTask: true })
    else if (to.id === '#parent') out.sends.push({ to: '#parent', event, isTask: false })
    else {
      const actor = actors[to.id]
      if (actor === undefined) return
      if (isMachine(logicNamed(this.#given.machine, actor.src))) out.sends.push({ to: to.id, event, isTask: false })
      else effects.push({ to: to.id, event })
    }
  }

  #effect(
    type: string,
    params: unknown,
    { context, event }: Action['info'],
    next: AnyMachineSnapshot,
    exec: unknown,
  ): MachineEffect {
    const known = (this.#given.machine.implementations.actions as Record<string, unknown>)[type] === exec
    const name = known ? type : this.#given.inlineNames.get(exec)
    if (name === undefined) {
      throw new Failure(
        `The machine "${this.#given.machine.id}" has enqueued an action that has no name, so it could not be found again after a restart. Name it in setup({ actions }), and enqueue it by that name.`,
        { code: 'INVALID_RESULT', retry: false },
      )
    }
    const image = imageOf(params, `the params of the action "${name}"`, 'params')
    return {
      action: name,
      ...(image === undefined ? {} : { params: image }),
      event: imageOf(event, 'the event of an action', 'event') as MachineEvent,
      ...(context === next.context
        ? {}
        : { context: imageOf(context, `the context of the action "${name}"`, 'context') }),
    }
  }
}

/** The latest time that a date can be, in epoch milliseconds. */
const maxTime = 8_640_000_000_000_000

function isDelayed(params: unknown): params is SendParams & { delay: number } {
  return typeof (params as SendParams).delay === 'number'
}

/** A log fails no task, whatever is logged. */
function imageText(value: unknown): string {
  if (value === undefined) return 'undefined'
  const made = recordedImage(value, 'what was logged', () => {})
  return 'lost' in made ? `(${made.lost})` : typeof made.image === 'string' ? made.image : JSON.stringify(made.image)
}

function logText({ label, value }: { label?: string; value: unknown }): string {
  const text = typeof value === 'string' ? value : imageText(value)
  return `${label === undefined ? text : `${label}: ${text}`}\n`
}

/** What the task fails with. The error of an actor is JSON by then. */
function thrownOf(error: unknown): unknown {
  if (error instanceof Error) return error
  const { message, code, name, details } = (error ?? {}) as Record<string, unknown>
  if (typeof message !== 'string')
    return new Failure(`The machine ended in an error: ${JSON.stringify(errorImage(error))}`)
  const failure = new Failure(message, { ...(typeof code === 'string' ? { code } : {}), details })
  if (typeof name === 'string')
    Object.defineProperty(failure, 'name', { value: name, configurable: true, writable: true })
  return failure
}
