// `errand ps`: how long tasks have worked or took, and why they failed or do not run, on terminals of any width.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Engine } from '../../../src/engine/engine-api.ts'
import { createEngine } from '../../../src/index.ts'
import { main } from '../../../src/surfaces/cli/main.ts'
import { readReasons } from '../../../src/surfaces/terminal/task-reasons.ts'
import { taskTable } from '../../../src/surfaces/terminal/task-table.ts'
import { displayWidth } from '../../../src/surfaces/terminal/terminal-text.ts'
import { SimulatedClock } from '../../../src/testing/index.ts'
import { fakeIo } from './fake-io.ts'
import { taskOf } from './task-of.ts'
import { Workplace } from './workplace.ts'

const minuteMs = 60_000

it('the table shows how long a task works, how long one took and how old one is, and which of these it shows', () => {
  const tasks = [
    taskOf({ name: 'busy', status: 'working', startedAt: 2 * minuteMs }),
    taskOf({ name: 'done', status: 'completed', startedAt: minuteMs, completedAt: 3 * minuteMs }),
    taskOf({ name: 'never', status: 'canceled', completedAt: minuteMs }),
    taskOf({ name: 'resting', status: 'waiting', startedAt: minuteMs }),
  ]
  expect(
    taskTable(tasks, 5 * minuteMs).map((line) => /(time|for|took|age \S+|\d+m\d\ds)(?: \d+m\d\ds)?/.exec(line)?.[0]),
  ).toEqual(['time', 'for 3m00s', 'took 2m00s', 'age 5m00s', 'age 5m00s'])
})

it('a task keeps the time at which its attempt began through waits, and the next attempt has its own', async () => {
  const clock = new SimulatedClock()
  await using engine = (await createEngine({ work: false, clock })) as Engine
  const task = await engine.create({ name: 'by hand' })
  expect((await engine.get(task))?.startedAt).toBeNull()
  clock.increment(1_000)
  const began = clock.now()
  await engine.claim(task, { owner: 'ann' })
  clock.increment(1_000)
  await engine.pause(task)
  await engine.resume(task)
  expect((await engine.get(task))?.startedAt).toBe(began)
  clock.increment(1_000)
  await engine.fail(task, 'no paper', { owner: 'ann' })
  expect(await engine.get(task)).toMatchObject({ startedAt: began, completedAt: began + 2_000 })
  await engine.retry(task)
  expect((await engine.get(task))?.startedAt).toBeNull()
})

it('errand ps says in short why a task failed, and what each open one waits for', async () => {
  await using place = new Workplace()
  {
    await using engine = (await createEngine({ ledger: join(place.folder, 'ledger.db'), work: false })) as Engine
    const failed = await engine.create({ name: 'print' })
    await engine.start(failed)
    await engine.fail(failed, 'no paper\nand no ink')
    const canceled = await engine.create({ name: 'bind' })
    await engine.cancel(canceled, 'not needed')
    await engine.create({ name: 'mail', blockedBy: [failed.id] })
    await engine.create({ name: 'later', executor: 'shell', input: { run: 'true' }, notBefore: Date.UTC(2040, 0, 1) })
    await engine.create({ name: 'free' })
  }
  const { out } = await place.errand('ps', '--all')
  expect(out).toMatch(/^# .* name +reason$/m)
  expect(out).toMatch(/^1 .* print +TASK_FAILED: no paper$/m)
  expect(out).toMatch(/^2 .* bind +not needed$/m)
  expect(out).toMatch(/^3 .* mail +after #1$/m)
  expect(out).toMatch(/^4 .* later +until 2040-01-01T00:00:00Z$/m)
  expect(out).toMatch(/^5 .* free$/m)
  for (const columns of [40, 80]) {
    const io = fakeIo({ tty: true, cwd: place.folder, env: { ERRAND_LEDGER: join(place.folder, 'ledger.db') } })
    io.stdout.columns = columns
    expect(await main(['ps', '--all'], io)).toBe(0)
    for (const line of io.out().split('\n')) expect(displayWidth(line)).toBeLessThanOrEqual(columns)
  }
})

it('a reason names the signal or the answer that a task waits for, and a task that is deleted meanwhile has none', async () => {
  await using engine = await createEngine({
    executors: {
      patient: async (_task, run) => await run.waitForSignal('paid'),
      curious: async (_task, run) => await run.ask('Which pen?\nRed or blue'),
    },
  })
  const patient = await engine.create({ executor: 'patient' })
  const curious = await engine.create({ executor: 'curious' })
  await until(engine, patient.id, 'waiting')
  await until(engine, curious.id, 'input_required')
  const { tasks } = await engine.list()
  const reasons = await readReasons(engine, [...tasks, taskOf({ status: 'waiting' })])
  expect([...reasons]).toEqual([
    [patient.id, 'for the signal "paid"'],
    [curious.id, 'Which pen?'],
  ])
})

async function until(engine: Engine, taskId: string, status: string): Promise<void> {
  for await (const item of engine.stream(taskId)) if (item.type === 'state' && item.status === status) return
}
