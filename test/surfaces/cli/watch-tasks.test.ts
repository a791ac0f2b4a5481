// `errand ps --watch`: a table on a terminal that follows the ledger, else one line per change; Ctrl-C restores the screen.
import { expect, it } from 'vitest'
import type { Engine } from '../../../src/engine/engine-api.ts'
import { createEngine } from '../../../src/index.ts'
import { drawPage, watchTasks } from '../../../src/surfaces/cli/watch-tasks.ts'
import { displayWidth } from '../../../src/surfaces/terminal/terminal-text.ts'
import { SimulatedClock } from '../../../src/testing/index.ts'
import { listening } from './listening-io.ts'
import { taskOf } from './task-of.ts'
import { Workplace } from './workplace.ts'

const open = { status: ['submitted', 'working', 'waiting'] } as const
const choice = { status: [...open.status] }

async function commander(): Promise<Engine & AsyncDisposable> {
  return (await createEngine({ work: false })) as Engine
}

it('errand ps --watch redraws the table after changes, and exits with 130', async () => {
  await using engine = await commander()
  const { io, wrote } = listening({ tty: true })
  const task = await engine.create({ name: 'review' })
  const watching = watchTasks(io, engine, { choice, json: false })
  await wrote(/claimable +age 0\.\ds +1 +review\n1 task\n/)
  expect(io.out().startsWith('\u001b[?25l')).toBe(true)
  const claimed = await engine.claim(task, { owner: 'ann' })
  await wrote(/working +ann/)
  await engine.create({ name: 'another' })
  await wrote(/another\n.*2 tasks\n/)
  await engine.complete(claimed)
  await wrote(/2 tasks\n[\s\S]*1 task\n/)
  io.interrupt()
  expect(await watching).toBe(130)
  expect(io.out().endsWith('\u001b[?25h')).toBe(true)
  const length = io.out().length
  await engine.create({ name: 'unseen' })
  expect(io.out()).toHaveLength(length)
})

it('errand ps --watch updates ages without reading the ledger', async () => {
  const clock = new SimulatedClock()
  await using engine = (await createEngine({ work: false, clock })) as Engine
  const { io, wrote } = listening({ tty: true })
  await engine.create({ name: 'review' })
  let looks = 0
  const counting = new Proxy(engine, {
    get(target, key) {
      if (key === 'list') looks++
      const value = Reflect.get(target, key) as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const watching = watchTasks(io, counting, { choice, json: false, clock })
  await wrote(/review/)
  clock.increment(5_000)
  await wrote(/claimable +age 5\.0s/)
  expect(looks).toBe(1)
  io.interrupt()
  expect(await watching).toBe(130)
})

it('a frame of errand ps --watch fits the terminal, and counts the tasks that are not shown', () => {
  const tasks = Array.from({ length: 30 }, (_, n) => taskOf({ name: `${'名'.repeat(60)}${n}`, owner: 'ann' }))
  const page = { tasks, total: 1_000, next: null }
  for (const size of [
    { columns: 20, rows: 6 },
    { columns: 80, rows: 24 },
    { columns: 0, rows: 0 },
  ]) {
    const lines = drawPage(page, 5, size)
    expect(lines.length).toBeLessThan(size.rows || 24)
    for (const line of lines) expect(displayWidth(line)).toBeLessThan(size.columns || 80)
  }
  expect(drawPage(page, 5, { columns: 80, rows: 6 }).at(-1)).toBe('1000 tasks, 997 not shown')
  expect(drawPage({ tasks: [], total: 0, next: null }, 5, {}).at(-1)).toBe('No tasks')
})

it('errand ps --watch prints one line per change, until the task leaves the choice', async () => {
  await using engine = await commander()
  const { io, wrote } = listening({ tty: false })
  const task = await engine.create({ name: 'review', tags: ['x'] })
  await engine.create({ name: 'unseen' })
  const watching = watchTasks(io, engine, { choice: { ...choice, tags: ['x'] }, json: false })
  await wrote(/claimable\n/)
  const claimed = await engine.claim(task, { owner: 'ann', leaseMs: 60_000 })
  await wrote(/working/)
  await engine.heartbeat(claimed)
  await engine.complete(claimed, 'done')
  await wrote(/completed/)
  const removed = await engine.create({ name: 'removed', tags: ['x'] })
  await wrote(/removed .*claimable/)
  await engine.delete(removed)
  await wrote(/deleted/)
  io.interrupt()
  expect(await watching).toBe(130)
  expect(io.out().replaceAll(/\(\w{8}\)/g, '(id)')).toBe(
    [
      '#1 review (id) claimable',
      '#1 review (id) working, claimed by ann (claim 1)',
      '#1 review (id) completed, claimed by ann (claim 1)',
      '#3 removed (id) claimable',
      '#3 removed (id) deleted',
      '',
    ].join('\n'),
  )
})

it('errand ps --watch --json prints the changed task, on a terminal too', async () => {
  await using engine = await commander()
  const { io, wrote } = listening({ tty: true })
  const task = await engine.create({ name: 'review' })
  const watching = watchTasks(io, engine, { choice, json: true })
  await wrote(/\n/)
  await engine.cancel(task)
  await wrote(/canceled/)
  const other = await engine.create({ name: 'other' })
  await wrote(/other/)
  await engine.delete(other)
  await wrote(/deleted/)
  io.interrupt()
  expect(await watching).toBe(130)
  const lines = io
    .out()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toMatchObject([
    { id: task.id, status: 'submitted' },
    { id: task.id, status: 'canceled' },
    { name: 'other' },
    { id: other.id, deleted: true },
  ])
})

it('errand ps --watch shows changes by another process, and exits with 130 on Ctrl-C', async () => {
  await using place = new Workplace()
  await place.errand('add', 'one')
  const watching = place.start('ps', '--watch')
  await watching.printed(/^#1 one \(\w{8}\) claimable$/m)
  await place.errand('claim', '--as', 'ann')
  await watching.printed(/working, claimed by ann \(claim 1\)$/m)
  watching.kill('SIGINT')
  expect(await watching.ended).toMatchObject({ code: 130, err: '' })
})
