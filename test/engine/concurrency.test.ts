// Concurrent commands: the first wins, the other is refused, and the task is in one legal state.
import { describe, expect, it } from 'vitest'
import { ErrandError } from '../../src/core/errors.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { TaskStatus } from '../../src/entities/task.ts'
import { eventBetween } from '../../src/machines/task-edges.ts'
import { history, openEngine, puppet, turns } from './world.ts'

type Act = (
  engine: Pick<Engine, 'pause' | 'resume' | 'cancel' | 'complete' | 'fail' | 'retry' | 'delete'>,
  id: string,
  end: { resolve(value: unknown): void; reject(error: unknown): void },
) => Promise<unknown>

const acts = {
  pause: (engine, id) => engine.pause(id),
  resume: (engine, id) => engine.resume(id),
  cancel: (engine, id) => engine.cancel(id, 'enough'),
  complete: (engine, id) => engine.complete(id, 'from outside'),
  fail: (engine, id) => engine.fail(id, 'enough'),
  retry: (engine, id) => engine.retry(id),
  delete: (engine, id) => engine.delete(id),
  returns: async (_engine, _id, end) => end.resolve('from inside'),
  throws: async (_engine, _id, end) => end.reject(new Error('broke')),
} satisfies Record<string, Act>
type ActName = keyof typeof acts

async function meet(from: 'working' | 'paused' | 'failed', ...names: ActName[]) {
  const hands = puppet()
  const engine = await openEngine({ executors: { work: hands.executor } })
  const task = await engine.create({ executor: 'work' })
  const { end } = await hands.started(0)
  if (from === 'paused') await engine.pause(task)
  if (from === 'failed') await engine.fail(task, 'broke')
  const answers = await Promise.allSettled(names.map((name) => (acts[name] as Act)(engine, task.id, end)))
  for (const answer of answers) {
    if (answer.status === 'rejected')
      expect(ErrandError.isInstance(answer.reason) && answer.reason.code).toBe('INVALID_TRANSITION')
  }
  await turns(20)
  let at: TaskStatus = 'submitted'
  for (const { data } of await history(engine, task.id)) {
    if (data.status !== at) expect(eventBetween(at, data.status as TaskStatus)).toBeDefined()
    at = data.status as TaskStatus
  }
  const won = names.filter((_name, index) => answers[index]?.status === 'fulfilled')
  return {
    won,
    status: (await engine.get(task))?.status ?? at,
    runs: hands.runs.length,
    live: engine.status.get().context.slots.used,
  }
}

describe('two concurrent commands', () => {
  it.each([
    ['working', ['pause', 'complete'], ['pause'], 'paused'],
    ['working', ['complete', 'pause'], ['complete'], 'completed'],
    ['working', ['cancel', 'complete'], ['cancel'], 'canceled'],
    ['working', ['complete', 'cancel'], ['complete'], 'completed'],
    ['working', ['pause', 'cancel'], ['pause', 'cancel'], 'canceled'],
    ['working', ['cancel', 'pause'], ['cancel'], 'canceled'],
    ['working', ['cancel', 'cancel'], ['cancel'], 'canceled'],
    ['working', ['complete', 'complete'], ['complete'], 'completed'],
    ['working', ['fail', 'retry'], ['fail', 'retry'], 'working'],
    ['paused', ['cancel', 'resume'], ['cancel'], 'canceled'],
    ['failed', ['retry', 'retry'], ['retry'], 'working'],
    ['failed', ['retry', 'cancel'], ['retry', 'cancel'], 'canceled'],
  ] as const)(
    'X-038 two commands on a task that is %s: of %j win %j, and it is %s',
    async (from, names, won, status) => {
      const outcome = await meet(from, ...names)
      expect(outcome.won).toEqual(won)
      expect(outcome.status).toBe(status)
      expect(outcome.live).toBe(status === 'working' ? 1 : 0)
    },
  )

  it.each([
    ['working', ['returns', 'pause']],
    ['working', ['pause', 'returns']],
    ['working', ['returns', 'cancel']],
    ['working', ['cancel', 'returns']],
    ['working', ['throws', 'complete']],
    ['working', ['throws', 'cancel']],
    ['working', ['delete', 'returns']],
    ['working', ['delete', 'pause']],
    ['paused', ['resume', 'cancel']],
    ['paused', ['resume', 'resume']],
  ] as const)(
    'X-038 S3-053 a command and an executor, on a task that is %s: %j end in one legal state',
    async (from, names) => {
      const { status, live } = await meet(from, ...names).catch((error: unknown) => {
        // Only a deleted task is not found.
        if (names[0] === 'delete') return { status: 'canceled' as const, live: 0 }
        throw error
      })
      expect(live).toBe(status === 'working' ? 1 : 0)
      expect(['paused', 'completed', 'canceled', 'failed', 'working']).toContain(status)
    },
  )
})
