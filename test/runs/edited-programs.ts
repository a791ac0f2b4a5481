// Goal: whatever is edited in an executor while its task is on its way, no completed effect is repeated in silence.
//
// Method: programs of three shapes run up to each point of their journal (each step that begins or ends a call). There the task is
// paused, its process dies, or it fails by hand; then it goes on with an edited program: in the same attempt, or in a new one. What
// the ledger held as completed at that point must not be executed again, unless an event reports it.
import { defineExecutor, type Run } from '../../src/entities/executor.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { divergenceWaitMs, HoldingClock } from './holding-clock.ts'
import { watchPoints } from './points.ts'
import { call, editsOf, type Program, perform } from './programs.ts'
import { createWorld } from './world.ts'

interface Shape {
  program: Program
  /** Effects whose calls are edited: every kind of position in the program. */
  edited: string[]
}

export const shapes: Record<string, Shape> = {
  sequential: { program: [call('a'), call('b'), call('c'), call('d')], edited: ['b', 'd'] },
  parallel: {
    program: [call('a'), { all: [[call('b'), call('c')], [call('d'), call('e')], [call('f')]] }, call('g')],
    edited: ['b', 'c', 'f', 'g'],
  },
  nested: {
    program: [call('a'), call('b', [call('c'), call('d')]), { all: [[call('e', [call('f')])], [call('g')]] }],
    edited: ['b', 'c', 'f'],
  },
}

export const edits = Object.entries(shapes).flatMap(([shape, { program, edited }]) =>
  editsOf(shape, program, edited).map((edit) => ({ ...edit, shape, original: program })),
)

type Tried = (typeof edits)[number]

/** How the first program ends at a point of its journal. `die`: with its process. `fail`: a new attempt follows. */
export const ends = ['pause', 'die', 'fail'] as const
type End = (typeof ends)[number]

interface Story {
  /** Effects that the ledger held as completed when the first program ended, and that were executed after it. */
  repeated: string[]
  /** How many calls were made with an event, because others had not been requested again. */
  reported: number
  refused: boolean
}

/** Undefined when the program has no such point. */
async function play(
  inner: Ledger,
  { original, program: edited }: Tried,
  at: number,
  end: End,
  divergence?: 'allow',
): Promise<Story | undefined> {
  const clock = new HoldingClock()
  const effects: string[] = []
  let program = original
  const work = (_task: unknown, run: Run) => perform(program, run, (effect) => effects.push(effect))
  const executor = defineExecutor({ divergenceWaitMs, divergence, run: work as never })
  const created = Promise.withResolvers<string>()
  const ended = Promise.withResolvers<boolean>()
  const endThere = async () => {
    const id = await created.promise
    if (end === 'pause') await first.engine.pause(id)
    else if (end === 'fail') await first.engine.fail(id, 'by hand')
    else {
      first.die()
      hasDied = true
    }
    ended.resolve(true)
    if (end === 'die') await new Promise(() => {})
  }
  const first = await createWorld(executor, { clock }, watchPoints(inner, at, endThere))
  let world = first
  let hasDied = false
  try {
    const { id } = await first.engine.create({ executor: 'work' })
    created.resolve(id)
    void first.engine.result(id).then(
      () => ended.resolve(false),
      () => {},
    )
    if (!(await ended.promise)) return undefined
    if (end !== 'die') await first.eventOf(id, 'run.closed')
    const calls = await inner.read((tx) => tx.call.list(id, ['call']))
    const completed = calls.filter(({ status }) => status === 'completed').map(({ result }) => result as string)
    effects.length = 0
    program = edited
    if (end === 'die') world = await createWorld(executor, { clock }, inner)
    else await (end === 'pause' ? first.engine.resume(id) : first.engine.retry(id))
    let outcome = await clock.until(world.engine.settled(id))
    const isRefused = () => outcome.status === 'failed' && outcome.error.code === 'CALL_DIVERGED'
    if (outcome.status === 'failed' && !isRefused()) {
      // A call was interrupted: the next attempt makes it again, also with the edited program.
      await world.engine.retry(id)
      outcome = await clock.until(world.engine.settled(id))
    }
    let reported = 0
    for await (const { type, data } of world.engine.events({ taskId: id, follow: false })) {
      if (type === 'task.diverged' && 'call' in data) reported++
    }
    return { repeated: effects.filter((effect) => completed.includes(effect)), reported, refused: isRefused() }
  } finally {
    if (world !== first || !hasDied) await world.engine.close()
  }
}

interface Findings {
  points: number
  refused: number
  reported: number
  /** Cases in which a completed effect was repeated without an event. */
  silent: string[]
}

export async function findingsOf(chosen: readonly Tried[], end: End, divergence?: 'allow'): Promise<Findings> {
  const found: Findings = { points: 0, refused: 0, reported: 0, silent: [] }
  // One for all tasks, each of which is over before the next one is created: to open one takes longer than to play.
  const inner = await openLedger(':memory:')
  for (const edit of chosen) {
    for (let at = 1; ; at++) {
      const played = await play(inner, edit, at, end, divergence)
      if (played === undefined) break
      found.points++
      if (played.refused) found.refused++
      if (played.reported > 0) found.reported++
      if (played.repeated.length > played.reported)
        found.silent.push(`${edit.title}, ${end} at ${at}: ${played.repeated.join()}`)
    }
  }
  await inner.close()
  return found
}
