// The actors of a machine that are in memory: promises, each a journaled call, and callbacks, observables and transition functions, which
// live while the task is awake and begin anew after a restart.
import { type AnyActorLogic, type AnyActorRef, createActor, type Snapshot } from 'xstate'
import { ErrandError, Failure } from '../core/errors.ts'
import type { CallContext, CallOptions } from '../entities/call-options.ts'
import type { Run } from '../entities/executor.ts'
import type { MachineActor, MachineEvent } from '../entities/machine.ts'
import { madeIn } from './call-of.ts'
import { errorImage, imageOf } from './machine-json.ts'

/** What an actor sends to its machine. `gen`: which start of the actor; `ends`: nothing more comes from it. */
export interface ActorMessage {
  id: string
  gen: number
  /** @throws Failure INVALID_RESULT for what JSON cannot carry: not while the actor sends, whose XState would end the process with it */
  image(): MachineEvent
  ends: boolean
}

interface Running {
  gen: number
  /** It has ended, and its machine has not got that yet. */
  isOver?: true
  isPromise: boolean
  stop(): void
  send(event: MachineEvent): void
  getSnapshot(): unknown
}

export class LiveActors {
  readonly #run: Run
  readonly #optionsOf: (src: string) => CallOptions | undefined
  readonly #deliver: (message: ActorMessage) => void
  readonly #running = new Map<string, Running>()
  /** Calls whose functions have not settled, those of stopped actors included. */
  readonly #calls = new Set<Promise<unknown>>()

  constructor(run: Run, optionsOf: (src: string) => CallOptions | undefined, deliver: (message: ActorMessage) => void) {
    this.#run = run
    this.#optionsOf = optionsOf
    this.#deliver = deliver
  }

  /** Whether a call is in flight. */
  get isCalling(): boolean {
    return this.#calls.size > 0
  }

  /** Whether an actor lives that no journal knows. */
  get isLive(): boolean {
    return [...this.#running.values()].some(({ isPromise, isOver }) => !isPromise && !isOver)
  }

  has(id: string, gen: number): boolean {
    return this.#running.get(id)?.gen === gen
  }

  get ids(): string[] {
    return [...this.#running.keys()]
  }

  send(id: string, event: MachineEvent): void {
    this.#running.get(id)?.send(event)
  }

  snapshotOf(id: string): unknown {
    return this.#running.get(id)?.getSnapshot()
  }

  stop(id: string): void {
    const running = this.#running.get(id)
    this.#running.delete(id)
    if (running?.isOver !== true) running?.stop()
  }

  stopAll(): void {
    for (const id of this.ids) this.stop(id)
  }

  /** Resolves when no call is in flight. */
  async settled(): Promise<void> {
    while (this.#calls.size > 0) await Promise.allSettled(this.#calls)
  }

  startPromise(id: string, { src, gen, input }: MachineActor, logic: AnyActorLogic): void {
    const left = new AbortController()
    this.#running.set(id, {
      gen,
      isPromise: true,
      stop: () => left.abort(leftState(id)),
      send() {},
      getSnapshot: () => ({ status: 'active', input }),
    })
    const fn = (given: unknown, call: CallContext): Promise<unknown> =>
      outcomeOf(logic, id, given, { ...call, signal: AbortSignal.any([call.signal, left.signal]) })
    const options = { ...this.#optionsOf(src), key: `${id}#${gen}` }
    const calling =
      input === undefined
        ? this.#run.call(src, (_none, context) => fn(undefined, context), options)
        : this.#run.call(src, input, fn, options)
    this.#calls.add(calling)
    const settled = () => void this.#calls.delete(calling)
    calling.then(settled, settled)
    const done = (event: MachineEvent): void => this.#ended({ id, gen, image: () => event, ends: true })
    calling.then(
      (output) => done({ type: `xstate.done.actor.${id}`, output, actorId: id }),
      // The end of the run is not an end of the actor.
      (error: unknown) =>
        !isRunOver(error) && done({ type: `xstate.error.actor.${id}`, error: errorImage(error), actorId: id }),
    )
  }

  startLive(id: string, { gen, input, sync }: MachineActor, logic: AnyActorLogic): void {
    const parent = createActor(collector((event) => this.#received(id, gen, event)))
    parent.start()
    const actor = createActor(logic, { parent, id, input, syncSnapshot: sync } as never) as AnyActorRef
    this.#running.set(id, {
      gen,
      isPromise: false,
      stop: () => (actor as unknown as { _send(event: object): void })._send({ type: 'xstate.stop' }),
      send: (event) => actor.send(event),
      getSnapshot: () => actor.getSnapshot() as unknown,
    })
    // Without an observer of errors, XState throws them in a timer.
    actor.subscribe({ error() {} })
    actor.start()
  }

  #received(id: string, gen: number, given: MachineEvent): void {
    const ends = given.type === `xstate.done.actor.${id}` || given.type === `xstate.error.actor.${id}`
    this.#ended({ id, gen, image: () => imageOfReceived(given), ends })
  }

  /** An actor that was stopped, or was started again, says nothing more. */
  #ended(message: ActorMessage): void {
    const { id, gen, ends } = message
    const running = this.#running.get(id)
    // It stays here until its machine has got its end: else it would be taken for one that has not begun.
    if (running?.gen === gen && ends) running.isOver = true
    this.#deliver(running?.gen === gen ? message : { ...message, gen: -1 })
  }
}

function imageOfReceived(event: MachineEvent): MachineEvent {
  const { snapshot, error } = event as {
    snapshot?: Snapshot<unknown> & { context?: unknown; value?: unknown }
    error?: unknown
  }
  if (event.type.startsWith('xstate.snapshot.') && snapshot !== undefined) {
    const { status, output, context, value } = snapshot
    return imageOf(
      { type: event.type, snapshot: { status, output, context, value } },
      'a snapshot',
      'snapshot',
    ) as MachineEvent
  }
  if (event.type.startsWith('xstate.error.actor.')) return { ...event, error: errorImage(error) }
  return imageOf(event, 'an event', 'event') as MachineEvent
}

/** Runs promise logic as XState does, so that it gets what it expects. Rejects when the signal aborts; what it does from then on is ignored. */
function outcomeOf(logic: AnyActorLogic, id: string, input: unknown, call: CallContext): Promise<unknown> {
  const { signal } = call
  return new Promise((resolve, reject) => {
    const actor = createActor(logic, { id, input } as never)
    madeIn(actor, call)
    actor.subscribe({
      complete: () => resolve((actor.getSnapshot() as { output?: unknown }).output),
      error: reject,
    })
    signal.addEventListener('abort', () => {
      // First: an actor that is stopped completes.
      reject(signal.reason as Error)
      actor.stop()
    })
    if (signal.aborted) reject(signal.reason as Error)
    else actor.start()
  })
}

function isRunOver(error: unknown): boolean {
  return ErrandError.isInstance(error) && (error.code === 'RUN_ENDED' || error.code === 'ENGINE_CLOSED')
}

function leftState(id: string): Failure {
  return new Failure(`The machine left the state of the actor "${id}" before it had ended.`, {
    code: 'WITHDRAWN',
    retry: false,
  })
}

/** The logic of a parent that only passes on what its child sends. */
function collector(receive: (event: MachineEvent) => void): AnyActorLogic {
  const active = { status: 'active', output: undefined, error: undefined }
  return {
    getInitialSnapshot: () => active,
    getPersistedSnapshot: (snapshot: object) => snapshot,
    transition: (snapshot: object, event: MachineEvent) => {
      if (!event.type.startsWith('xstate.stop')) receive(event)
      return snapshot
    },
  } as unknown as AnyActorLogic
}
