// A machine of XState from a description in JSON, so that a machine which was drawn at random can be printed, shrunk and built again.
//
// Only events from outside can move it without end: every other transition burns fuel, which they fill up again.

import {
  type ActorRefFrom,
  type AnyStateMachine,
  assign,
  cancel,
  emit,
  enqueueActions,
  fromPromise,
  raise,
  sendParent,
  sendTo,
  setup,
  stopChild,
} from 'xstate'

/** `A` to `C` come from outside; the others from the machine itself: a delayed event, a raised one, and the answer of a helper. */
export type DescribedEvent = 'A' | 'B' | 'C' | 'ALARM' | 'INNER' | 'PONG'

export type DescribedAction =
  /** Adds `by`, or the `by` of the event, to the count. */
  | { do: 'count'; by: number }
  /** A named custom action, with the count in its params. */
  | { do: 'note' }
  | { do: 'emit' }
  /** Raises ALARM later, in place of one that waits. */
  | { do: 'arm'; delay: DescribedDelay }
  | { do: 'disarm' }
  /** Raises INNER. */
  | { do: 'raise' }
  /** Spawns a helper into the context unless there is one. */
  | { do: 'spawn' }
  /** Stops that helper. */
  | { do: 'stop' }

/** In milliseconds, or computed from the count: 100 to 500. */
export type DescribedDelay = number | 'byCount'

export interface DescribedEdge {
  /** The place of the target among the states beside it, modulo their number; null for no target. */
  to: number | 'self' | null
  reenter: boolean
  /** What the count must be at least; null for no guard on it. */
  atLeast: number | null
  actions: DescribedAction[]
}

export interface DescribedState {
  entry: DescribedAction[]
  exit: DescribedAction[]
  on: { event: DescribedEvent; edge: DescribedEdge }[]
  after: { delay: DescribedDelay; edge: DescribedEdge }[]
  always: DescribedEdge | null
  invoke: DescribedInvoke | null
  /** A final state has only entry actions. */
  isFinal: boolean
}

export type DescribedInvoke =
  /** A promise that rejects as long as the attempts in the context are fewer than `failures`. Without `error`, that ends the machine. */
  | { src: 'job'; failures: number; done: DescribedEdge; error: DescribedEdge | null }
  /** A helper, which ends after some pings and a pause. */
  | { src: 'helper'; done: DescribedEdge }

export interface DescribedRegion {
  states: DescribedState[]
  /** The states within one of the states, and what follows when the last of them is final and reached. */
  nested: { at: number; states: DescribedState[]; done: DescribedEdge } | null
}

export interface MachineDescription {
  /** One is a plain machine; several are the regions of a parallel one. */
  regions: DescribedRegion[]
  helper: { pings: number; pauseMs: number }
}

/** Why a transition was taken that no event from outside caused. */
export type Cause = 'after' | 'always' | 'nested' | 'resolved' | 'rejected' | 'ended' | 'ALARM' | 'INNER' | 'PONG'

export interface DescribedContext {
  count: number
  fuel: number
  attempts: number
  taken: Partial<Record<Cause, number>>
  outputs: number[]
  helper: ActorRefFrom<typeof helper> | null
}

/** How many transitions may follow an event from outside. An eventless one also uses up the count that its guard asks for. */
const fuel = 12

const helper = setup({
  types: {
    context: {} as { got: number; pings: number; pauseMs: number },
    input: {} as MachineDescription['helper'],
    events: {} as { type: 'PING' },
    output: {} as number,
  },
  actions: { answer: () => {} },
  delays: { pause: ({ context }) => context.pauseMs },
}).createMachine({
  id: 'helper',
  context: ({ input }) => ({ got: 0, ...input }),
  initial: 'listening',
  states: {
    listening: {
      on: {
        PING: {
          actions: [
            assign({ got: ({ context }) => context.got + 1 }),
            'answer',
            sendParent(({ context }) => ({ type: 'PONG', by: context.got })),
          ],
        },
      },
      always: { guard: ({ context }) => context.got >= context.pings, target: 'pausing' },
    },
    pausing: { after: { pause: 'finished' } },
    finished: { type: 'final' },
  },
  output: ({ context }) => context.got,
})

const job = fromPromise(async ({ input }: { input: { attempts: number; failures: number } }) => {
  if (input.attempts < input.failures) throw new Error(`attempt ${input.attempts} failed`)
  return input.attempts
})

interface AnyEvent {
  type: string
  by?: number
  output?: number
}

const parts = setup({
  types: { context: {} as DescribedContext, events: {} as AnyEvent },
  actors: { helper, job },
  guards: {
    may: ({ context }, params: { atLeast: number; burns: boolean }) =>
      context.count >= params.atLeast && (!params.burns || context.fuel > 0),
  },
  actions: { note: (_scope, _params: { count: number }) => {} },
  delays: { byCount: ({ context }) => 100 * (1 + (Math.abs(context.count) % 5)) },
})

type Config = Record<string, unknown>

/** Where a state is: its place among the states beside it, and what the children below it are made with. */
interface Place {
  /** Of the whole machine no other state has it. */
  id: string
  own: number
  beside: number
  helper: MachineDescription['helper']
}

/** The machine that a description describes. */
export function machineOf({ regions, helper: input }: MachineDescription): AnyStateMachine {
  const built = regions.map((region, at) => configOfRegion(region, `r${at}`, input))
  const body =
    built.length === 1
      ? built[0]
      : { type: 'parallel', states: Object.fromEntries(built.map((region, at) => [`r${at}`, region])) }
  return parts.createMachine({
    id: 'drawn',
    context: { count: 0, fuel, attempts: 0, taken: {}, outputs: [], helper: null },
    on: {
      PING: {
        actions: enqueueActions(({ context, enqueue }) => {
          if (context.helper !== null) enqueue.sendTo(context.helper, { type: 'PING' })
        }),
      },
      'xstate.done.actor.spawned': { actions: keepOutput },
    },
    output: ({ context }: Scope) => context.count,
    ...body,
  } as never) as unknown as AnyStateMachine
}

function configOfRegion({ states, nested }: DescribedRegion, id: string, input: Place['helper']): Config {
  const place = (own: number, beside: number, kind: string): Place => ({
    id: `${id}${kind}${own}`,
    own,
    beside,
    helper: input,
  })
  const configs = states.map((state, at) => configOf(state, place(at, states.length, 's')))
  if (nested === null) return statesOf(configs)
  const at = nested.at % states.length
  const within = nested.states.map((state, own) => configOf(state, place(own, nested.states.length, 'n')))
  const onDone = transitionOf(nested.done, place(at, states.length, 's'), 'nested')
  if (states[at]?.isFinal !== true) configs[at] = { ...configs[at], ...statesOf(within), onDone }
  return statesOf(configs)
}

const statesOf = (configs: Config[]): Config => ({
  initial: 's0',
  states: Object.fromEntries(configs.map((config, at) => [`s${at}`, config])),
})

function configOf(state: DescribedState, place: Place): Config {
  const entry = actionsOf(state.entry, place)
  if (state.isFinal) return { type: 'final', entry }
  const on: Record<string, unknown[]> = {}
  for (const { event, edge } of state.on) {
    const cause = event === 'ALARM' || event === 'INNER' || event === 'PONG' ? event : undefined
    on[event] = [...(on[event] ?? []), transitionOf(edge, place, cause)]
  }
  if (state.invoke?.src === 'helper') on['PING'] = [{ actions: sendTo(`${place.id}-helper`, { type: 'PING' }) }]
  return {
    entry,
    exit: actionsOf(state.exit, place),
    after: Object.fromEntries(state.after.map(({ delay, edge }) => [delay, transitionOf(edge, place, 'after')])),
    ...(state.always === null ? {} : { always: transitionOf(state.always, place, 'always') }),
    ...(state.invoke === null ? {} : { invoke: invokeOf(state.invoke, place) }),
    on,
  }
}

function invokeOf(invoke: DescribedInvoke, place: Place): Config {
  const id = `${place.id}-${invoke.src}`
  if (invoke.src === 'helper')
    return { src: 'helper', id, input: place.helper, onDone: transitionOf(invoke.done, place, 'ended', keepOutput) }
  const tryAgain = assign({ attempts: ({ context }: Scope) => context.attempts + 1 })
  return {
    src: 'job',
    id,
    input: ({ context }: Scope) => ({ attempts: context.attempts, failures: invoke.failures }),
    onDone: transitionOf(invoke.done, place, 'resolved', assign({ attempts: 0 })),
    ...(invoke.error === null ? {} : { onError: transitionOf(invoke.error, place, 'rejected', tryAgain) }),
  }
}

/** `first` is done before the actions of the description. */
function transitionOf(edge: DescribedEdge, place: Place, cause: Cause | undefined, first: unknown = []): Config {
  const target = edge.to === 'self' ? place.own : edge.to === null ? null : edge.to % place.beside
  return {
    ...(target === null ? {} : { target: `s${target}`, reenter: edge.reenter }),
    guard: { type: 'may', params: { atLeast: edge.atLeast ?? Number.NEGATIVE_INFINITY, burns: cause !== undefined } },
    actions: [cause === undefined ? assign({ fuel }) : burn(cause), first, actionsOf(edge.actions, place)].flat(),
  }
}

const burn = (cause: Cause) =>
  assign({
    fuel: ({ context }: Scope) => context.fuel - 1,
    taken: ({ context }: Scope) => ({ ...context.taken, [cause]: (context.taken[cause] ?? 0) + 1 }),
    count: ({ context }: Scope) => (cause === 'always' ? 0 : context.count),
  })

const keepOutput = assign({
  outputs: ({ context, event }: Scope) => [...context.outputs, event.output ?? -1],
} as never)

const actionsOf = (actions: DescribedAction[], place: Place): unknown[] =>
  actions.flatMap((action) => actionOf(action, place))

/** What the functions in a machine get, as far as they are used here. */
interface Scope {
  context: DescribedContext
  event: AnyEvent
  spawn: (src: string, options: object) => unknown
}

function actionOf(action: DescribedAction, place: Place): unknown {
  switch (action.do) {
    case 'count':
      return assign({ count: ({ context, event }: Scope) => context.count + (event.by ?? action.by) } as never)
    case 'note':
      return { type: 'note', params: ({ context }: Scope) => ({ count: context.count }) }
    case 'emit':
      return emit((({ context }: Scope) => ({ type: 'count', count: context.count })) as never)
    case 'arm':
      return [cancel('alarm'), parts.raise({ type: 'ALARM' }, { id: 'alarm', delay: action.delay })]
    case 'disarm':
      return cancel('alarm')
    case 'raise':
      return raise({ type: 'INNER' })
    case 'spawn':
      return assign({
        helper: ({ context, spawn }: Scope) =>
          context.helper ?? spawn('helper', { id: 'spawned', input: place.helper }),
      } as never)
    case 'stop':
      return [stopChild('spawned'), assign({ helper: null } as never)]
  }
}
