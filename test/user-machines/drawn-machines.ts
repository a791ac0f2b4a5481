// Machines and scripts drawn at random, for comparisons of whole runs. What is drawn is JSON: a failing case prints as it is, and shrinks.

import fc from 'fast-check'
import type {
  DescribedAction,
  DescribedDelay,
  DescribedEdge,
  DescribedInvoke,
  DescribedRegion,
  DescribedState,
  MachineDescription,
} from './described-machine.ts'
import type { Script, ScriptEntry } from './machine-runner.ts'

const delay: fc.Arbitrary<DescribedDelay> = fc.constantFrom<DescribedDelay>(100, 'byCount', 250, 1000, 60_000)

const action: fc.Arbitrary<DescribedAction> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('count' as const), by: fc.constantFrom(1, 2, 3, -1) }) },
  { weight: 3, arbitrary: fc.constant({ do: 'note' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'emit' as const }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('arm' as const), delay }) },
  { weight: 1, arbitrary: fc.constant({ do: 'disarm' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'raise' as const }) },
  { weight: 2, arbitrary: fc.constant({ do: 'spawn' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'stop' as const }) },
)

const actions = fc.array(action, { maxLength: 3, size: 'small' })

const edge: fc.Arbitrary<DescribedEdge> = fc.record<DescribedEdge>({
  to: fc.option(fc.constantFrom(1, 2, 3, 0), { freq: 6 }),
  reenter: fc.boolean(),
  atLeast: fc.option(fc.integer({ min: 0, max: 4 }), { freq: 2 }),
  actions,
})

/** Without a condition it would be taken until the fuel is burnt. */
const eventless = edge.map((drawn): DescribedEdge => ({ ...drawn, atLeast: Math.max(1, drawn.atLeast ?? 2) }))

/** A failure that no transition takes ends the machine, which is not to happen often. Half of the promises are tried again. */
const afterFailure = fc
  .tuple(edge, fc.boolean())
  .map(
    ([drawn, isTriedAgain]): DescribedEdge =>
      isTriedAgain ? { ...drawn, to: 'self', reenter: true, atLeast: null } : { ...drawn, atLeast: null },
  )

const fromInside = ['ALARM', 'INNER', 'PONG'] as const
const fromOutside = ['A', 'B', 'C'] as const

/** The transitions of a state: one or two for each event from outside but the last, and some for the others. */
const transitions = fc
  .tuple(
    ...[...fromOutside, ...fromInside].map((event, at) =>
      fc
        .array(edge, { minLength: at < 2 ? 1 : 0, maxLength: at < fromOutside.length ? 2 : 1 })
        .map((edges) => edges.map((drawn) => ({ event, edge: drawn }))),
    ),
  )
  .map((lists) => lists.flat())

const helperInvoke: fc.Arbitrary<DescribedInvoke> = fc.record({ src: fc.constant('helper' as const), done: edge })
const jobInvoke: fc.Arbitrary<DescribedInvoke> = fc.record<DescribedInvoke & { src: 'job' }>({
  src: fc.constant('job' as const),
  failures: fc.nat({ max: 3 }),
  done: edge,
  error: fc.option(afterFailure, { freq: 6 }),
})

const state = (invoke: fc.Arbitrary<DescribedInvoke>): fc.Arbitrary<DescribedState> =>
  fc.record({
    entry: actions,
    exit: fc.array(action, { maxLength: 1 }),
    on: transitions,
    after: fc.array(fc.record({ delay, edge }), { maxLength: 2 }),
    always: fc.option(eventless, { freq: 2 }),
    invoke: fc.option(invoke, { freq: 2 }),
    isFinal: fc.constant(false),
  })

/** States of which the last may be final. */
const states = (
  invoke: fc.Arbitrary<DescribedInvoke>,
  length: { minLength: number; maxLength: number },
  isLastFinal: fc.Arbitrary<boolean> = fc.boolean(),
) =>
  fc
    .tuple(fc.array(state(invoke), { ...length, size: 'max' }), isLastFinal)
    .map(([drawn, isFinal]) => drawn.map((each, at) => ({ ...each, isFinal: isFinal && at === drawn.length - 1 })))

/** Of the states that may be active together, only those of one place invoke promises: in which order two of them settle is not up to a machine. */
const withJobs = fc.oneof(jobInvoke, helperInvoke)

const plain: fc.Arbitrary<DescribedRegion[]> = fc
  .record({
    states: states(withJobs, { minLength: 2, maxLength: 4 }),
    nested: fc.option(
      fc.record({
        at: fc.nat({ max: 3 }),
        states: states(helperInvoke, { minLength: 2, maxLength: 2 }, fc.constant(true)),
        done: edge,
      }),
      { freq: 2 },
    ),
  })
  .map((region) => [region])

const parallel: fc.Arbitrary<DescribedRegion[]> = fc
  .tuple(states(withJobs, { minLength: 2, maxLength: 3 }), states(helperInvoke, { minLength: 2, maxLength: 3 }))
  .map((regions) => regions.map((drawn) => ({ states: drawn, nested: null })))

/** Machines of two to six states: plain, with a state that has others within, or parallel. */
export const drawnMachines: fc.Arbitrary<MachineDescription> = fc.record({
  regions: fc.oneof({ weight: 2, arbitrary: plain }, { weight: 1, arbitrary: parallel }),
  helper: fc.record({ pings: fc.constantFrom(1, 2, 1, 3), pauseMs: fc.constantFrom(1, 250, 5000) }),
})

const entry: fc.Arbitrary<ScriptEntry> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...fromOutside) },
  { weight: 4, arbitrary: fc.constant('PING') },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom(...fromOutside), by: fc.integer({ min: -2, max: 5 }) }) },
  { weight: 1, arbitrary: fc.constant('UNKNOWN') },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 500 }) },
  { weight: 2, arbitrary: fc.constantFrom(1000, 60_000, 86_400_000) },
)

/** Events and advances of the clock, up to a day at once. */
export const drawnScripts: fc.Arbitrary<Script> = fc.array(entry, { minLength: 3, maxLength: 20, size: 'max' })
