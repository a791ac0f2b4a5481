// How long one request keeps everything else from its turn, with 100,000 tasks in the ledger: each ability that reads more than a row
// is asked for the most that it gives, and the longest time between two turns of the event loop meanwhile is told.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Engine } from '../src/index.ts'
import { createEngine } from '../src/index.ts'
import { openLedger } from '../src/ledger/open-ledger.ts'
import { edgeRow, eventRow, taskRow } from '../src/testing/index.ts'

const tasks = Number(process.env.BENCH_BLOCKING ?? 100_000)
/** Goals of which one alone is a long text. */
const longGoals = 10
const writtenAtOnce = 1_000

/** One group below the first task holds half of them; a thousand come after it; a tenth is open. */
async function fill(path: string): Promise<void> {
  const ledger = await openLedger(path)
  for (let from = 0; from < tasks; from += writtenAtOnce) {
    await ledger.step({
      name: 'fill',
      *decide(tx) {
        for (let n = from; n < Math.min(tasks, from + writtenAtOnce); n++) {
          const id = `task-${n}`
          const isOpen = n % 10 === 0
          const isBelow = n > 0 && n % 2 === 0
          yield* tx.task.insert(
            taskRow({
              id,
              name: `Task ${n}`,
              goal:
                n < longGoals
                  ? 'a'.repeat(1024 * 1024)
                  : `Summarise chapter ${n} of the book and say what is new in it.`,
              description: 'Written for whoever reads the list of all tasks.',
              input: { chapter: n, path: `/books/chapter-${n}.md` },
              metadata: { source: 'bench', n },
              tags: ['book', `part-${n % 7}`],
              priority: n % 5,
              status: n === 0 ? 'working' : isOpen ? 'submitted' : 'completed',
              completedAt: isOpen ? null : 1,
              claimable: isOpen && n > 0,
              group: n === 0,
              childCount: n === 0 ? tasks / 2 - 1 : 0,
              ...(isBelow && { parentId: 'task-0', depth: 1 }),
            }),
          )
          yield* tx.event.append(eventRow({ taskId: id, data: { name: `Task ${n}`, status: 'submitted' } }))
          if (n > 0 && n <= 1_000) yield* tx.dependency.insert(edgeRow({ taskId: id, blockerId: 'task-0' }))
        }
      },
    })
  }
  await ledger.close()
}

/** The longest time in milliseconds without a turn of the event loop, and how long the work took in all. */
async function blockOf(work: () => Promise<unknown>): Promise<{ block: number; took: number; outcome: unknown }> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const since = performance.now()
  const outcome = await work()
  const took = performance.now() - since
  for (let turn = 0; turn < 2; turn++) await new Promise<void>((resume) => setImmediate(resume))
  delay.disable()
  // Nothing was measured of what was over before the first turn.
  return { block: delay.count === 0 ? took : delay.max / 1e6, took, outcome }
}

const model = { caller: { surface: 'model', taskId: 'task-0', run: 1 } as const }
const long = `${'a'.repeat(489)}b`

/** As a surface asks: text in, text out. */
function requests(engine: Engine): Array<[title: string, work: () => Promise<unknown>]> {
  const ask =
    (id: string, input: object, options = {}) =>
    async () => {
      try {
        await engine.bus.invoke(id)(JSON.stringify(input), options)
        return 'answered'
      } catch (error) {
        return String((error as { code?: string }).code)
      }
    }
  return [
    ['board:list, first look', ask('board:list', {})],
    ['task:list', ask('task:list', {})],
    ['task:list, 5,000', ask('task:list', { limit: 5_000 })],
    ['task:list, a state', ask('task:list', { status: 'submitted' })],
    ['task:list, a tag', ask('task:list', { tag: 'part-3', limit: 5_000 })],
    ['task:list, an executor that there is not', ask('task:list', { executor: 'nobody' })],
    ['task:list, children', ask('task:list', { parentId: 'task-0', limit: 5_000 })],
    ['task:list, of the past', ask('task:list', { at: 50, limit: 5_000 })],
    ['task:list, words', ask('task:list', { text: 'chapter 777' })],
    ['task:list, a long word (V-07)', ask('task:list', { text: long })],
    ['task:list, 240 words', ask('task:list', { text: Array.from({ length: 240 }, (_, n) => n % 10).join(' ') })],
    ['task:list of a model', ask('task:list', { limit: 1_000 }, model)],
    ['task:get', ask('task:get', { taskId: 'task-0' })],
    ['task:why of a group', ask('task:why', { taskId: 'task-0' })],
    ['task:graph', ask('task:graph', {})],
    ['task:graph below', ask('task:graph', { parentId: 'task-0' })],
    ['engine:status', ask('engine:status', {})],
    ['event:list, 5,000', ask('event:list', { limit: 5_000 })],
    ['event:list, the last 5,000', ask('event:list', { before: 10_000_000, limit: 5_000 })],
    ['task:teams', ask('task:teams', {})],
    ['board:list', ask('board:list', {})],
    ['board:list, 10,000', ask('board:list', { limit: 10_000 })],
    ['board:ready', ask('board:ready', { limit: 1_000 })],
    ['board:list of a model', ask('board:list', { limit: 500 }, model)],
    ['board:graph', ask('board:graph', {})],
    ['board:get', ask('board:get', { id: 1 })],
    ['board:why', ask('board:why', { id: 1 })],
    ['board:claim_next of a model', ask('board:claim_next', { as: 'ann' }, model)],
    ['board:update of a workspace', ask('board:update', { id: 11, workspace: '/tmp/somewhere', as: 'ann' })],
    ['engine.list, by priority', () => engine.list({ limit: 500 })],
    ['engine.subtree', () => engine.subtree('task-0')],
  ]
}

export async function blocking(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-bench-'))
  try {
    const file = join(folder, 'ledger.db')
    await fill(file)
    const engine = await createEngine({ ledger: file, work: false })
    for (const [title, work] of requests(engine)) {
      const { block, took, outcome } = await blockOf(work)
      console.log(
        `blocking: ${title}, with ${tasks.toLocaleString('en')} tasks: longest block ${block.toFixed(0)} ms of ${took.toFixed(0)} ms${typeof outcome === 'string' && outcome !== 'answered' ? ` (refused: ${outcome})` : ''}`,
      )
    }
    await engine.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (process.argv[1] === import.meta.filename) await blocking()
