// `errand board --watch`: a frame on a terminal that follows the ledger, else one line per change; Ctrl-C restores the screen.
import { expect, it } from 'vitest'
import type { Engine } from '../../../src/engine/engine-api.ts'
import type { BoardTask } from '../../../src/entities/board.ts'
import { createEngine } from '../../../src/index.ts'
import { watchBoard } from '../../../src/surfaces/cli/watch-board.ts'
import { type BoardPicture, drawBoard } from '../../../src/surfaces/terminal/board-frame.ts'
import { createPaint } from '../../../src/surfaces/terminal/paint.ts'
import { displayWidth } from '../../../src/surfaces/terminal/terminal-text.ts'
import { SimulatedClock } from '../../../src/testing/index.ts'
import { listening } from './listening-io.ts'
import { Workplace } from './workplace.ts'

const all = { ready: false, statuses: undefined, owner: undefined }

async function commander(options: object = {}): Promise<Engine & AsyncDisposable> {
  return (await createEngine({ work: false, ...options })) as Engine
}

function taskOf(fields: Partial<BoardTask>): BoardTask {
  return {
    id: 1,
    subject: 'a task',
    description: '',
    status: 'pending',
    blockedBy: [],
    blocks: [],
    owner: '',
    priority: 0,
    metadata: {},
    tags: [],
    dependencies: [],
    ready: false,
    queued: false,
    taskId: `task-${fields.id ?? 1}`,
    canonicalStatus: 'submitted',
    statusReason: null,
    fence: 0,
    leaseUntil: null,
    createdAt: 0,
    updatedAt: 0,
    completedAt: null,
    ...fields,
  }
}

it('errand board --watch redraws the board after changes, and exits with 130', async () => {
  await using engine = await commander()
  const { io, wrote } = listening({ tty: true })
  const { task: first } = await engine.bus.call('board:create', { subject: 'Parse' })
  await engine.bus.call('board:create', { subject: 'Emit', blockedBy: [1] })
  const watching = watchBoard(io, { engine, board: 'main' }, { choice: all, json: false })
  await wrote(/main: 1 claimable, 1 blocked\n.*\n#1 +claimable +0\.\ds +Parse\n#2 +blocked by 1 +0\.\ds +Emit\n/)
  expect(io.out().startsWith('\u001b[?25l')).toBe(true)
  await engine.bus.call('board:claim', { id: 1, as: 'ann', leaseMs: 60_000 })
  await wrote(/in_progress +ann \(\d+\.\ds left\)[\s\S]*\d\d:\d\d:\d\d #1 Parse claimed by ann \(claim 1\)\n/)
  await engine.bus.call('board:complete', { id: 1, as: 'ann', fence: 1 })
  await wrote(/1 claimable, 1 completed[\s\S]*#1 Parse completed by ann\n[\s\S]*#2 Emit unblocked\n/)
  io.interrupt()
  expect(await watching).toBe(130)
  expect(io.out().endsWith('\u001b[?25h')).toBe(true)
  const length = io.out().length
  await engine.bus.call('board:update', { id: first.taskId, subject: 'unseen' })
  expect(io.out()).toHaveLength(length)
})

it('errand board --watch updates ages and leases without reading the board', async () => {
  const clock = new SimulatedClock()
  await using engine = await commander({ clock })
  const { io, wrote } = listening({ tty: true })
  await engine.bus.call('board:create', { subject: 'Parse' })
  const watching = watchBoard(io, { engine, board: 'main' }, { choice: all, json: false, clock })
  await wrote(/Parse/)
  const looks = engine.bus.log().length
  clock.increment(5_000)
  await wrote(/claimable +5\.0s/)
  expect(engine.bus.log()).toHaveLength(looks)
  io.interrupt()
  expect(await watching).toBe(130)
})

it('a frame of the board shows the most relevant tasks first and fits the terminal', () => {
  const tasks = [
    taskOf({ id: 1, status: 'completed', completedAt: 10, subject: 'old' }),
    taskOf({ id: 2, status: 'completed', completedAt: 20, subject: 'new' }),
    taskOf({ id: 3, status: 'failed' }),
    taskOf({ id: 4, blockedBy: [5] }),
    taskOf({ id: 5, ready: true }),
    taskOf({ id: 6, ready: true, priority: 9 }),
    taskOf({ id: 7, status: 'in_progress', canonicalStatus: 'working', owner: 'ann', leaseUntil: 65_000 }),
    taskOf({ id: 8, status: 'in_progress', canonicalStatus: 'input_required' }),
    taskOf({ id: 9, status: 'deleted' }),
  ]
  const picture: BoardPicture = { board: 'main', tasks, unread: 0, changes: [{ at: 0, text: 'something' }] }
  const options = { now: 60_000, columns: 70, height: 40, paint: createPaint(false) }
  const [count, , ...rows] = drawBoard(picture, options)
  expect(count).toBe('main: 2 in_progress, 2 claimable, 1 blocked, 1 failed, 2 completed, 1…')
  expect(rows.slice(0, 9).map((row) => row.split(/ {2,}/).slice(0, 3))).toEqual([
    ['#7', 'in_progress', 'ann (5.0s left)'],
    ['#8', 'input_required', '1m00s'],
    ['#6', 'claimable', '1m00s'],
    ['#5', 'claimable', '1m00s'],
    ['#4', 'blocked by 5', '1m00s'],
    ['#3', 'failed', '1m00s'],
    ['#2', 'completed', '1m00s'],
    ['#1', 'completed', '1m00s'],
    ['#9', 'deleted', '1m00s'],
  ])
  expect(rows.at(-1)).toMatch(/^\d\d:\d\d:\d\d something$/)

  const many = Array.from({ length: 50 }, (_, n) => taskOf({ id: n + 1, subject: '名'.repeat(60), ready: true }))
  for (const [columns, height] of [
    [20, 5],
    [79, 23],
  ] as const) {
    const changes = Array.from({ length: 20 }, (_, n) => ({ at: n, text: 'w'.repeat(100) }))
    const lines = drawBoard({ board: 'main', tasks: many, unread: 5, changes }, { ...options, columns, height })
    expect(lines.length).toBeLessThanOrEqual(height)
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(columns)
  }
  const hidden = drawBoard({ board: 'main', tasks: many, unread: 5, changes: [] }, { ...options, height: 12 })
  expect(hidden[0]).toBe('main: 50 claimable, 45 not shown')
})

it('errand board --watch prints one line per change, after the current tasks', async () => {
  await using engine = await commander()
  const { io, wrote } = listening({ tty: false })
  await engine.bus.call('board:create', { subject: 'Parse' })
  await engine.bus.call('board:create', { subject: 'Emit', blockedBy: [1] })
  const watching = watchBoard(io, { engine, board: 'main' }, { choice: all, json: false })
  await wrote(/#2/)
  await engine.bus.call('board:claim', { id: 1, as: 'ann' })
  await wrote(/claimed/)
  await engine.bus.call('board:release', { id: 1, as: 'ann', reason: 'lunch' })
  await wrote(/released/)
  await engine.bus.call('board:update', { id: 1, status: 'completed' })
  await wrote(/unblocked/)
  await engine.bus.call('board:delete', { id: 2 })
  await wrote(/deleted from/)
  io.interrupt()
  expect(await watching).toBe(130)
  expect(io.out()).toBe(
    [
      '[ ] #1: Parse',
      '[ ] #2: Emit (blocked by: [1])',
      '#1 Parse claimed by ann (claim 1)',
      '#1 Parse released by ann: lunch',
      '#1 Parse started',
      '#1 Parse completed',
      '#2 Emit unblocked',
      '#2 Emit deleted from the board',
      '',
    ].join('\n'),
  )
})

it('errand board --watch prints a task that leaves the choice once more, and no other task', async () => {
  await using engine = await commander()
  const { io, wrote } = listening({ tty: false })
  await engine.bus.call('board:create', { subject: 'Parse' })
  await engine.bus.call('board:create', { subject: 'Emit' })
  const choice = { ...all, owner: 'ann' }
  const watching = watchBoard(io, { engine, board: 'main' }, { choice, json: false })
  // The first listing ends when the watch has read the board; later events are then always shown.
  await engine.bus.call('board:claim', { id: 1, as: 'ann' })
  await wrote(/claimed by ann/)
  await engine.bus.call('board:claim', { id: 2, as: 'bob' })
  await engine.bus.call('board:release', { id: 1, as: 'ann' })
  await wrote(/released/)
  io.interrupt()
  expect(await watching).toBe(130)
  expect(io.out()).not.toMatch(/Emit/)
})

it('errand board --watch --json prints the event and the changed task, on a terminal too', async () => {
  await using engine = await commander()
  const { io, wrote } = listening({ tty: true })
  await engine.bus.call('board:create', { subject: 'Parse' })
  const watching = watchBoard(io, { engine, board: 'main' }, { choice: all, json: true })
  await wrote(/Parse/)
  await engine.bus.call('board:claim', { id: 1, as: 'ann' })
  await wrote(/task\.claimed/)
  await engine.bus.call('board:delete', { id: 1 })
  await wrote(/task\.deleted/)
  io.interrupt()
  expect(await watching).toBe(130)
  const lines = io
    .out()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toMatchObject([
    { task: { id: 1, status: 'pending' } },
    { event: 'task.claimed', at: expect.any(Number), task: { owner: 'ann', fence: 1 } },
    { event: 'task.deleted', task: { id: 1 } },
  ])
})

it('errand board --watch shows changes by another process, and exits with 130 on Ctrl-C', async () => {
  await using place = new Workplace()
  await place.errand('board', 'add', 'Parse')
  const watching = place.start('board', '--watch')
  await watching.printed(/^\[ \] #1: Parse$/m)
  await place.errand('board', 'claim', 'next', '--as', 'ann')
  await watching.printed(/^#1 Parse claimed by ann \(claim 1\)$/m)
  watching.kill('SIGINT')
  expect(await watching.ended).toMatchObject({ code: 130, err: '' })
})
