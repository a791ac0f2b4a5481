// The run of a machine. It does what the stored situation asks for, takes what is next, computes a macrostep of it, and writes that in one
// step of the ledger; until nothing is left but to wait.
import type { AnyActorLogic } from 'xstate'
import type { Run } from '../entities/executor.ts'
import { eventOfSignal, type MachineActor, type MachineEvent, type MachineState } from '../entities/machine.ts'
import type { Outcome } from '../entities/task.ts'
import type { MachineChange, MachineRun, StartedMachine } from '../operations/machine-run.ts'
import type { Arrivals } from '../operations/steps/machine.ts'
import { performAction } from './actions.ts'
import type { GoingOn } from './changed-definition.ts'
import type { Definition } from './definition.ts'
import { type ActorMessage, LiveActors } from './live-actors.ts'
import { errorImage } from './machine-json.ts'
import { advance, begin, enter, type MachineScope, type Macrostep } from './macrostep.ts'
import { sendsOf } from './sends.ts'
import { logicNamed } from './stand-ins.ts'

/** What the machine takes next. */
interface Taken {
  event: MachineEvent
  /** The situation that the event meets: the queue, the timers and the actors without what is taken. */
  state: MachineState
  signal?: number
  /** An actor that is no machine gets it, and not this machine. */
  to?: string
  /** `to` is the id of a task. */
  isTask?: boolean | undefined
}

export class MachineTask {
  readonly #definition: Definition
  readonly #run: Run
  readonly #facility: MachineRun
  readonly #live: LiveActors
  readonly #inbox: ActorMessage[] = []
  #bell: (() => void) | undefined
  #shown = new Map<string, unknown>()
  /** More has arrived than what is taken: the machine does not rest before it. */
  #isMoreThere = false

  constructor(definition: Definition, run: Run, facility: MachineRun) {
    this.#definition = definition
    this.#run = run
    this.#facility = facility
    this.#live = new LiveActors(
      run,
      (src) => definition.callOptions(src),
      (message) => {
        this.#inbox.push(message)
        this.#bell?.()
      },
    )
  }

  /** @param stored what the machine goes on from; undefined: it begins. Resolves to its output, or to nothing when the machine only waits. */
  async toEnd(stored: GoingOn | undefined, input: unknown): Promise<unknown> {
    const leave = this.#run.onSuspend(() => this.#live.stopAll())
    try {
      return await this.#toEnd(stored, input)
    } finally {
      leave()
      this.#live.stopAll()
    }
  }

  async #toEnd(stored: GoingOn | undefined, input: unknown): Promise<unknown> {
    let state: MachineState | undefined = await this.#first(stored, input)
    while (state !== undefined) {
      state = await this.#perform(state)
      this.#reconcile(state)
      if (state.status === 'done') {
        await this.#live.settled()
        return state.output
      }
      const taken = await this.#next(state)
      state = taken === undefined ? await this.#rest(state) : await this.#take(state, taken)
    }
    return undefined
  }

  async #first(stored: GoingOn | undefined, input: unknown): Promise<MachineState | undefined> {
    if (stored !== undefined) {
      const { state, enter: target } = stored
      if (target !== undefined) return this.#write(state, enter(this.#scope(), state, target), { event: 'errand.goto' })
      if (!this.#facility.isClosed || state.status === 'done') return state
      // What has arrived in an earlier attempt is looked for before the machine rests.
      this.#isMoreThere = true
      // The number of the step stays: the calls of its actions are found by it.
      return this.#write(state, unmoved(state), {})
    }
    const first = begin(this.#scope(), input, this.#definition.version)
    return this.#write(undefined, first, { event: 'xstate.init' })
  }

  #scope(): MachineScope {
    const { place, taskId } = this.#facility
    const { machine, inlineNames } = this.#definition
    return {
      machine,
      inlineNames,
      id: place?.id ?? taskId,
      isChild: place !== undefined,
      now: this.#facility.now(),
      snapshotOf: (id, actor) => this.#snapshotOf(id, actor),
    }
  }

  #snapshotOf(id: string, { taskId, ended, last, input }: MachineActor): unknown {
    if (ended) return last
    if (taskId !== undefined) return this.#shown.get(taskId) ?? { status: 'active' }
    return this.#live.snapshotOf(id) ?? { status: 'active', input }
  }

  // ── what the situation asks for ──

  /** Carries out the effects of the last macrostep. What its actions send is next, and is in the situation from the next step on. */
  async #perform(state: MachineState): Promise<MachineState> {
    if (state.effects.length === 0) return state
    this.#reconcile(state)
    const queue = [...state.queue]
    for (const [index, effect] of state.effects.entries()) {
      if ('to' in effect) this.#live.send(effect.to, effect.event)
      else {
        const key = `action:${state.step}:${index}`
        const place = { key, scope: this.#scope() }
        for (const sent of await performAction(this.#definition, this.#run, state, effect, place)) queue.push(sent)
      }
    }
    return { ...state, queue, effects: [] }
  }

  /** Starts and stops the actors in memory. */
  #reconcile(state: MachineState): void {
    for (const id of this.#live.ids) {
      const actor = state.actors[id]
      if (actor === undefined || actor.ended || !this.#live.has(id, actor.gen)) this.#live.stop(id)
    }
    for (const [id, actor] of Object.entries(state.actors)) {
      if (actor.ended || actor.taskId !== undefined || this.#live.has(id, actor.gen)) continue
      const logic = logicNamed(this.#definition.machine, actor.src) as AnyActorLogic
      if (this.#definition.kindOf(actor.src) === 'promise') this.#live.startPromise(id, actor, logic)
      else this.#live.startLive(id, actor, logic)
    }
  }

  // ── what is next ──

  async #next(state: MachineState): Promise<Taken | undefined> {
    for (;;) {
      const [queued, ...queue] = state.queue
      if (queued !== undefined) return { ...queued, state: { ...state, queue } }
      const arrival = this.#facility.arrival()
      try {
        const message = this.#fromMemory(state)
        if (message !== undefined) return message
        const arrivals = await this.#facility.arrivals(state)
        this.#shown = arrivals.shown
        const arrived = this.#arrived(state, arrivals)
        if (arrived !== undefined) return arrived
        // Only a task that rests can be answered: actors in memory begin anew with the next run.
        const isAwake = this.#live.isCalling || (this.#live.isLive && state.ask === undefined)
        if (!isAwake && this.#inbox.length === 0) return undefined
        const rung = new Promise<void>((resolve) => {
          this.#bell = resolve
        })
        if (this.#inbox.length === 0) await Promise.race([arrival.arrived, rung])
      } finally {
        arrival.cancel()
        this.#bell = undefined
      }
    }
  }

  #fromMemory(state: MachineState): Taken | undefined {
    for (let message = this.#inbox.shift(); message !== undefined; message = this.#inbox.shift()) {
      const { id, gen, image, ends } = message
      const actor = state.actors[id]
      if (actor?.gen !== gen || actor.ended) continue
      const event = image()
      return { event, state: ends ? withEnd(state, id, actor, event) : state }
    }
    return undefined
  }

  /** The earliest of what has arrived. A machine that is a task sends all it has to send before it ends. */
  #arrived(state: MachineState, { signal, kept, ended }: Arrivals): Taken | undefined {
    const now = this.#facility.now()
    const allDue = state.timers.filter(({ dueAt }) => dueAt <= now).sort((one, other) => one.dueAt - other.dueAt)
    const [due] = allDue
    this.#isMoreThere = allDue.length + kept + ended.length > 1
    if (due !== undefined && (signal === undefined || due.dueAt <= signal.createdAt)) {
      const timers = state.timers.filter((timer) => timer !== due)
      return {
        event: due.event,
        state: { ...state, timers },
        ...(due.to === undefined ? {} : { to: due.to, isTask: due.isTask }),
      }
    }
    if (signal !== undefined) return { event: eventOfSignal(signal), state, signal: signal.seq }
    for (const { callId, outcome, answer } of ended) {
      if (callId === state.ask?.callId) {
        const { ask, ...rest } = state
        return { event: { type: ask?.event as string, answer }, state: rest }
      }
      const [id, actor] = Object.entries(state.actors).find(([, { waitId }]) => waitId === callId) ?? []
      if (id === undefined || actor === undefined || outcome === undefined) continue
      const event = endOf(id, outcome)
      return { event, state: withEnd(state, id, actor, event) }
    }
    return undefined
  }

  // ── writing ──

  async #take(
    before: MachineState,
    { event, state, signal, to, isTask = false }: Taken,
  ): Promise<MachineState | undefined> {
    if (to !== undefined) return this.#passOn(before, state, { to, event, isTask })
    const next = advance(this.#scope(), { ...state, effects: [] }, event)
    return this.#write(before, next, { event: event.type, takes: signal })
  }

  /** An event for another actor: nothing of this machine moves. */
  #passOn(
    before: MachineState,
    state: MachineState,
    send: Macrostep['sends'][number],
  ): Promise<MachineState | undefined> {
    const next = unmoved({ ...state, step: state.step + 1, effects: [] })
    const { to, event, isTask } = send
    if (isTask || to === '#parent' || state.actors[to]?.taskId !== undefined) next.sends.push(send)
    else next.state.effects.push({ to, event })
    return this.#write(before, next, {})
  }

  /** Nothing is left but to wait. */
  #rest(state: MachineState): Promise<MachineState | undefined> {
    return this.#write(state, unmoved({ ...state, step: state.step + 1 }), {})
  }

  async #write(
    before: MachineState | undefined,
    { state, sends, emitted, logged }: Macrostep,
    { event, takes }: Pick<MachineChange, 'event' | 'takes'>,
  ): Promise<MachineState | undefined> {
    const shown = this.#definition.shown(this.#scope(), state)
    const starts = this.#starts(state)
    const isQuiet =
      state.status === 'active' && state.effects.length === 0 && state.queue.length === 0 && !this.#isMoreThere
    const targets = sendsOf(this.#facility.place, state, sends, event)
    // A send or a child may be refused, which fails the run: it must be open then.
    const mayRest = isQuiet && targets.length === 0 && starts.length === 0
    const sleeps = this.#sleepsIn(state, shown.isAsked)
    const rests = mayRest && !this.#live.isCalling && this.#inbox.length === 0 && sleeps
    const change: MachineChange = {
      before,
      state: shown.isAsked ? state : withoutAsk(state),
      accepts: shown.accepts,
      event,
      takes,
      starts,
      sends: targets,
      emitted,
      logged,
      question: shown.question,
    }
    if (!rests) return this.#facility.write(change)
    this.#facility.rest(change)
    return undefined
  }

  /** Whether all its actors are tasks, or have ended; or begin anew after the answer. */
  #sleepsIn({ actors }: MachineState, isAsked: boolean): boolean {
    return Object.values(actors).every(
      ({ src, ended, taskId }) =>
        ended || taskId !== undefined || (isAsked && this.#definition.kindOf(src) !== 'promise'),
    )
  }

  #starts(state: MachineState): StartedMachine[] {
    const { path } = this.#definition
    return Object.entries(state.actors).flatMap(([id, actor]) => {
      if (actor.taskId !== undefined || actor.ended || this.#definition.kindOf(actor.src) !== 'machine') return []
      const place = { path: [...path, actor.src], id, ...(actor.sync ? { sync: true as const } : {}) }
      return [{ id, input: actor.input, place }]
    })
  }
}

const unmoved = (state: MachineState): Macrostep => ({ state, sends: [], emitted: [], logged: [] })

function withoutAsk({ ask: _ask, ...state }: MachineState): MachineState {
  return state
}

function withEnd(state: MachineState, id: string, actor: MachineActor, event: MachineEvent): MachineState {
  const { output, error } = event as { output?: unknown; error?: unknown }
  const last = 'error' in event ? { status: 'error', error } : { status: 'done', output }
  return { ...state, actors: { ...state.actors, [id]: { ...actor, ended: true, last } } }
}

function endOf(id: string, outcome: Outcome): MachineEvent {
  if (outcome.status === 'completed')
    return { type: `xstate.done.actor.${id}`, output: outcome.result ?? undefined, actorId: id }
  const error =
    outcome.status === 'failed'
      ? errorImage(
          Object.assign(new Error(outcome.error.message), {
            name: outcome.error.name ?? 'Error',
            code: outcome.error.code,
          }),
        )
      : { name: 'Error', code: 'TASK_CANCELED', message: `The task of the machine "${id}" was canceled` }
  return { type: `xstate.error.actor.${id}`, error, actorId: id }
}
