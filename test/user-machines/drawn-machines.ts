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

/**
 * What the states of a region are drawn from. Three things are left out because they are not up to a machine. When timers are due at one time and
 * the first starts a promise, whether the promise or the next timer comes first: so beside promises, delays are such that few are due
 * together. The order of what two helpers answer to the same event: so only one region invokes them. And the order of eventless transitions in
 * several regions, which XState changes when it restores a snapshot.
 */
interface Kind {
  after: fc.Arbitrary<DescribedDelay>
  arm: fc.Arbitrary<DescribedDelay>
  invokes: readonly DescribedInvoke['src'][]
  isEventless: boolean
}

const roundDelay = fc.constantFrom<DescribedDelay>(100, 'byCount', 250, 1000, 60_000)
const oddDelay: fc.Arbitrary<DescribedDelay> = fc.integer({ min: 1, max: 150 }).map((tens) => tens * 10 + 3)
const oddDelayOrComputed = fc.oneof(oddDelay, fc.constant<DescribedDelay>('byCount'))

const actionOf = (arm: fc.Arbitrary<DescribedDelay>): fc.Arbitrary<DescribedAction> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ do: fc.constant('count' as const), by: fc.constantFrom(1, 2, 3, -1) }) },
    { weight: 3, arbitrary: fc.constant({ do: 'note' as const }) },
    { weight: 1, arbitrary: fc.constant({ do: 'emit' as const }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('arm' as const), delay: arm }) },
    { weight: 1, arbitrary: fc.constant({ do: 'disarm' as const }) },
    { weight: 1, arbitrary: fc.constant({ do: 'raise' as const }) },
    { weight: 2, arbitrary: fc.constant({ do: 'spawn' as const }) },
    { weight: 1, arbitrary: fc.constant({ do: 'stop' as const }) },
  )

const edgeOf = (arm: fc.Arbitrary<DescribedDelay>): fc.Arbitrary<DescribedEdge> =>
  fc.record<DescribedEdge>({
    to: fc.option(fc.constantFrom(1, 2, 3, 0), { freq: 6 }),
    reenter: fc.boolean(),
    atLeast: fc.option(fc.integer({ min: 0, max: 4 }), { freq: 2 }),
    actions: fc.array(actionOf(arm), { maxLength: 3 }),
  })

const fromInside = ['ALARM', 'INNER', 'PONG'] as const
const fromOutside = ['A', 'B', 'C'] as const

/** One or two transitions for each event from outside but the last, and some for the others. */
const transitionsOf = (edge: fc.Arbitrary<DescribedEdge>) =>
  fc
    .tuple(
      ...[...fromOutside, ...fromInside].map((event, at) =>
        fc
          .array(edge, { minLength: at < 2 ? 1 : 0, maxLength: at < fromOutside.length ? 2 : 1 })
          .map((edges) => edges.map((drawn) => ({ event, edge: drawn }))),
      ),
    )
    .map((lists) => lists.flat())

/** A failure that no transition takes ends the machine, which is not to happen often. Half of the promises are tried again. */
const afterFailure = (edge: fc.Arbitrary<DescribedEdge>) =>
  fc
    .tuple(edge, fc.boolean())
    .map(
      ([drawn, isTriedAgain]): DescribedEdge =>
        isTriedAgain ? { ...drawn, to: 'self', reenter: true, atLeast: null } : { ...drawn, atLeast: null },
    )

function invokeOf(
  edge: fc.Arbitrary<DescribedEdge>,
  invokes: readonly DescribedInvoke['src'][],
): fc.Arbitrary<DescribedInvoke | null> {
  const helper = fc.record({ src: fc.constant('helper' as const), done: edge })
  const job = fc.record({
    src: fc.constant('job' as const),
    failures: fc.nat({ max: 3 }),
    done: edge,
    error: fc.option(afterFailure(edge), { freq: 6 }),
  })
  const weighted = { job: { weight: 2, arbitrary: job }, helper: { weight: 1, arbitrary: helper } }
  if (invokes.length === 0) return fc.constant(null)
  return fc.option(fc.oneof(...invokes.map((src) => weighted[src])), { freq: 2 })
}

function stateOf({ after, arm, invokes, isEventless }: Kind): fc.Arbitrary<DescribedState> {
  const edge = edgeOf(arm)
  const actions = (maxLength: number) => fc.array(actionOf(arm), { maxLength })
  /** Without a condition it would be taken until the fuel is burnt. */
  const eventless = edge.map((drawn): DescribedEdge => ({ ...drawn, atLeast: Math.max(1, drawn.atLeast ?? 2) }))
  return fc.record({
    entry: actions(3),
    exit: actions(1),
    on: transitionsOf(edge),
    after: fc.array(fc.record({ delay: after, edge }), { maxLength: 2 }),
    always: isEventless ? fc.option(eventless, { freq: 2 }) : fc.constant(null),
    invoke: invokeOf(edge, invokes),
    isFinal: fc.constant(false),
  })
}

/** States of which the last may be final. */
const statesOf = (kind: Kind, minLength: number, maxLength: number, isLastFinal = fc.boolean()) =>
  fc
    .tuple(fc.array(stateOf(kind), { minLength, maxLength, size: 'max' }), isLastFinal)
    .map(([drawn, isFinal]) => drawn.map((each, at) => ({ ...each, isFinal: isFinal && at === drawn.length - 1 })))

const plainOf = (kind: Kind): fc.Arbitrary<DescribedRegion[]> =>
  fc
    .record({
      states: statesOf(kind, 2, 4),
      nested: fc.option(
        fc.record({
          at: fc.nat({ max: 3 }),
          // Their state may invoke a promise, and the order in which two promises settle is not up to a machine either.
          states: statesOf({ ...kind, invokes: ['helper'] }, 2, 2, fc.constant(true)),
          done: edgeOf(kind.arm),
        }),
        { freq: 2 },
      ),
    })
    .map((region) => [region])

const parallelOf = (first: Kind, second: Kind): fc.Arbitrary<DescribedRegion[]> =>
  fc
    .tuple(statesOf(first, 2, 3), statesOf(second, 2, 3))
    .map((regions) => regions.map((drawn) => ({ states: drawn, nested: null })))

const withoutJobs: Kind = { after: roundDelay, arm: roundDelay, invokes: ['helper'], isEventless: true }
const withJobs: Kind = { after: oddDelayOrComputed, arm: oddDelay, invokes: ['job', 'helper'], isEventless: true }
const besideJobs: Kind = { after: oddDelay, arm: oddDelay, invokes: ['helper'], isEventless: false }

/** Machines of two to six states: plain, with a state that has others within, or parallel. */
export const drawnMachines: fc.Arbitrary<MachineDescription> = fc.record({
  regions: fc.oneof(
    { weight: 3, arbitrary: plainOf(withJobs) },
    { weight: 1, arbitrary: plainOf(withoutJobs) },
    { weight: 1, arbitrary: parallelOf({ ...withJobs, invokes: ['job'] }, besideJobs) },
    { weight: 1, arbitrary: parallelOf(withoutJobs, { ...withoutJobs, invokes: [], isEventless: false }) },
  ),
  // A helper is a task of its own: nothing orders its timer and one of its parent that are due in the same millisecond.
  helper: fc.record({ pings: fc.constantFrom(1, 2, 1, 3), pauseMs: fc.constantFrom(7, 257, 5007) }),
})

const entry: fc.Arbitrary<ScriptEntry> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...fromOutside) },
  { weight: 4, arbitrary: fc.constant('PING') },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom(...fromOutside), by: fc.integer({ min: -2, max: 5 }) }) },
  { weight: 1, arbitrary: fc.constant('UNKNOWN') },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 50 }).map((tens) => tens * 10) },
  { weight: 2, arbitrary: fc.constantFrom(1000, 60_000, 86_400_000) },
)

/** Events and advances of the clock, up to a day at once. */
export const drawnScripts: fc.Arbitrary<Script> = fc.array(entry, { minLength: 3, maxLength: 20, size: 'max' })
