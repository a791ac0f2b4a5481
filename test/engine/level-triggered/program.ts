// What the executors of the search do: small random programs, every step of them under a key. The search decides when a
// held function of a call settles, and records when each function began, was aborted, and settled.
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import type { ExecutorTask, Run } from '../../../src/entities/executor.ts'
import type { OnInterrupt } from '../../../src/entities/task-fields.ts'
import type { Opening } from './host.ts'
import type { World } from './world.ts'

type Simple =
  | { do: 'call'; held: boolean; ignoresSignal: boolean; fails: boolean; awaited: boolean; onInterrupt: OnInterrupt }
  | { do: 'sleep'; ms: number }
  | { do: 'ask'; timeoutMs: number | null; hasDefault: boolean }
  | { do: 'child'; kind: 'quick' | 'sleeps' | 'by hand'; timeoutMs: number | null }
  | { do: 'message' }
  | { do: 'progress' }
  | { do: 'throw' }
type Doing = (Simple | { do: 'all'; of: Simple[] }) & { catches?: boolean }
export type Program = readonly Doing[]

/** One execution of the function of a call. */
export interface Execution {
  readonly callId: string
  readonly taskId: string
  readonly key: string
  readonly attempt: number
  readonly onInterrupt: OnInterrupt
  readonly opening: Opening
  /** When its run aborted it. */
  abortedAt: number | undefined
  settled: boolean
  /** Lets a held function return. */
  release(): void
}

/** One execution of an executor. */
export interface Body {
  readonly taskId: string
  readonly run: number
  readonly opening: Opening
  readonly signal: AbortSignal
  over: boolean
}

const durations = fc.constantFrom(60, 250, 1_000, 20_000)
const timeout = fc.option(durations, { nil: null })
const simple: fc.Arbitrary<Simple> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      held: fc.boolean(),
      ignoresSignal: fc.boolean(),
      fails: fc.nat({ max: 5 }).map((drawn) => drawn === 5),
      awaited: fc.nat({ max: 4 }).map((drawn) => drawn < 4),
      onInterrupt: fc.constantFrom<OnInterrupt[]>('fail', 'fail', 'rerun', 'ask'),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('sleep' as const), ms: durations }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('ask' as const), timeoutMs: timeout, hasDefault: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('child' as const),
      kind: fc.constantFrom('quick' as const, 'sleeps' as const, 'by hand' as const),
      timeoutMs: timeout,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('message' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('progress' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('throw' as const) }) },
)
const doing: fc.Arbitrary<Doing> = fc
  .tuple(
    fc.oneof(
      { weight: 4, arbitrary: simple },
      {
        weight: 1,
        arbitrary: fc.record({
          do: fc.constant('all' as const),
          of: fc.array(simple, { minLength: 2, maxLength: 3, size: 'max' }),
        }),
      },
    ),
    fc.boolean(),
  )
  .map(([each, catches]) => ({ ...each, catches }))
export const programArbitrary: fc.Arbitrary<Program> = fc.array(doing, { minLength: 1, maxLength: 4, size: 'max' })

/** Errors that a program must not treat as its own: the run has ended, or the ledger failed. */
const foreign = new Set(['RUN_ENDED', 'LEDGER_WRITE_FAILED', 'LEDGER_UNAVAILABLE', 'OUTCOME_UNKNOWN'])

/** Runs the program of a task. */
export async function perform(world: World, opening: Opening, task: ExecutorTask, run: Run): Promise<string> {
  const program = (task.input as { program?: Program } | null)?.program ?? []
  const body: Body = { taskId: task.id, run: run.number, opening, signal: run.signal, over: false }
  world.laws.begins(body)
  run.onSuspend(() => (body.over = true))
  const way = { world, opening, task, run }
  try {
    for (const [index, each] of program.entries()) {
      try {
        await (each.do === 'all'
          ? Promise.all(each.of.map((part, nth) => take(way, part, `${index}.${nth}`)))
          : take(way, each, `${index}`))
      } catch (error) {
        if (!each.catches || foreign.has((error as { code?: string }).code ?? '')) throw error
      }
    }
    return 'done'
  } finally {
    body.over = true
  }
}

interface Way {
  world: World
  opening: Opening
  task: ExecutorTask
  run: Run
}

async function take(way: Way, doing: Simple, key: string): Promise<unknown> {
  const { run } = way
  switch (doing.do) {
    case 'call': {
      const { onInterrupt, awaited } = doing
      const called = run.call('work', (_none, { callId }) => execute(way, doing, key, callId), { key, onInterrupt })
      return awaited ? await called : undefined
    }
    case 'sleep':
      return run.sleep(doing.ms, { key })
    case 'ask':
      return run.ask('Go on?', null, {
        key,
        ...(doing.timeoutMs === null ? {} : { timeoutMs: doing.timeoutMs }),
        ...(doing.hasDefault ? { default: 'yes' } : {}),
      })
    case 'child': {
      const child = await run.spawn(childOf(doing.kind), { key })
      return run.wait(child, { key, ...(doing.timeoutMs === null ? {} : { timeoutMs: doing.timeoutMs }) })
    }
    case 'message':
      return run.message('assistant', 'still here', { key })
    case 'progress':
      return run.progress(0.5)
    case 'throw':
      throw Object.assign(new Error('broke'), { code: 'BROKE' })
  }
}

function childOf(kind: 'quick' | 'sleeps' | 'by hand'): { name: string; executor?: string; input?: unknown } {
  if (kind === 'by hand') return { name: kind }
  const program: Program = kind === 'sleeps' ? [{ do: 'sleep', ms: 250 }] : []
  return { name: kind, executor: 'work', input: { program } }
}

async function execute(
  { world, opening, task, run }: Way,
  { held, ignoresSignal, fails, onInterrupt }: Simple & { do: 'call' },
  key: string,
  callId: string,
): Promise<string> {
  const released = Promise.withResolvers<void>()
  const { attempt } = run
  const identity = { callId, taskId: task.id, key, attempt, onInterrupt, opening }
  const execution: Execution = { ...identity, abortedAt: undefined, settled: false, release: released.resolve }
  const aborted = (): void => {
    execution.abortedAt ??= world.clock.now()
    if (!ignoresSignal) released.resolve()
  }
  if (run.signal.aborted) aborted()
  else run.signal.addEventListener('abort', aborted, { once: true })
  world.laws.executes(execution)
  if (held && !world.over) await released.promise
  else await setImmediate()
  execution.settled = true
  if (fails) throw Object.assign(new Error('the call broke'), { code: 'BROKE' })
  return 'worked'
}
