// The output of a run, as lines or as events, and the output of `logs`, `graph` and `tree`.
import { expect, it } from 'vitest'
import type { StreamItem } from '../../../src/engine/engine-api.ts'
import type { EventType, TaskEvent } from '../../../src/entities/event.ts'
import type { KnownRound } from '../../../src/plans/round.ts'
import { LogLines } from '../../../src/surfaces/terminal/log-lines.ts'
import { toFlowchart } from '../../../src/surfaces/terminal/mermaid.ts'
import { createJsonLines, createPlainLines } from '../../../src/surfaces/terminal/round-log.ts'
import { RoundRows } from '../../../src/surfaces/terminal/round-rows.ts'
import { shellCommand } from '../../../src/surfaces/terminal/shell-quote.ts'
import { treeLines } from '../../../src/surfaces/terminal/task-tree.ts'
import { fakeIo } from './fake-io.ts'
import { planOf } from './plan-text.ts'
import { taskOf } from './task-of.ts'

const plan = planOf('tasks: { lines: { run: x }, g: { tasks: { in: { run: y } } } }')

function setup() {
  const mark = { generation: 0, edges: 0, definition: '', folder: '', invocation: '', held: false }
  const newest = ['lines', 'g', 'g/in'].map(
    (path) => [path, { task: taskOf({ id: `task-${path}`, seq: 7, name: path }), mark: { ...mark, path } }] as const,
  )
  const known: KnownRound = { newest: new Map(newest), nextGeneration: 1 }
  const view = new RoundRows(plan, known)
  const io = fakeIo()
  const reporter = createPlainLines(io, view)
  let seq = 0
  const emit = (type: EventType, path: string, at: number, data: Record<string, unknown>) => {
    const event: TaskEvent = { seq: ++seq, type, taskId: `task-${path}`, at, instanceId: 'i', data }
    const row = view.apply(event)
    if (row !== undefined) reporter.event(event, row)
  }
  return { io, view, emit }
}

it('errand run prints claims and releases as lines without a terminal', () => {
  const { io, emit } = setup()
  emit('task.claimed', 'lines', 0, { status: 'working', owner: 'ann' })
  emit('task.released', 'lines', 0, { status: 'waiting', owner: 'ann', reason: 'the lease is over', lapsed: true })
  emit('task.waiting', 'lines', 0, { status: 'waiting', run: 0, reason: 'interrupted' })
  emit('task.waiting', 'g/in', 0, { status: 'waiting', run: 1, reason: 'interrupted' })
  expect(io.out().split('\n')).toEqual([
    '#7 lines claimed by ann',
    '#7 lines released by ann: the lease is over',
    '#7 g/in  interrupted: the process that ran it died',
    '',
  ])
})

it('errand run prints each start, line of output and end as one line without a terminal, without groups and foreign tasks', () => {
  const { io, emit } = setup()
  emit('task.created', 'lines', 0, { status: 'submitted', ready: true })
  emit('task.started', 'g', 0, { status: 'working', from: 'submitted' })
  emit('task.started', 'lines', 100, { status: 'working', from: 'submitted', attempt: 1 })
  emit('output.written', 'lines', 150, { status: 'working', text: 'one\n\u001b[31mtwo\u001b[0m\n' })
  emit('task.failed', 'lines', 300, {
    status: 'failed',
    error: { code: 'EXIT_CODE', message: 'exited with 1\nmore' },
    willRetry: true,
  })
  emit('task.retried', 'lines', 300, { status: 'submitted', attempt: 2 })
  emit('task.started', 'lines', 400, { status: 'working', from: 'submitted', attempt: 2 })
  emit('task.completed', 'lines', 650, { status: 'completed' })
  emit('task.started', 'elsewhere', 0, { status: 'working' })
  emit('task.input_required', 'g/in', 0, { status: 'input_required', from: 'working' })
  emit('question.asked', 'g/in', 0, { status: 'input_required', questionId: 'q', question: 'Which?' })
  emit('task.canceled', 'g/in', 0, { status: 'canceled', reason: 'enough' })
  expect(io.out().split('\n')).toEqual([
    '#7 lines started',
    '#7 lines | one',
    '#7 lines | two',
    '#7 lines failed in 0.2s: exited with 1 (another attempt follows)',
    '#7 lines started, attempt 2',
    '#7 lines completed in 0.3s',
    '#7 g/in  asks: Which?',
    '#7 g/in  canceled: enough',
    '',
  ])
})

it('RoundRows reports when no task is active, and the last output of each task', () => {
  const { view, emit } = setup()
  expect(view.looksIdle).toBe(true)
  emit('task.started', 'g', 0, { status: 'working', from: 'submitted' })
  expect(view.looksIdle).toBe(true)
  emit('task.started', 'lines', 0, { status: 'working', from: 'submitted' })
  emit('output.written', 'lines', 1, { status: 'working', text: 'one\ntwo\n' })
  emit('output.written', 'lines', 1, { status: 'working', text: '\n' })
  expect(view.looksIdle).toBe(false)
  expect(view.row('task-lines')).toMatchObject({ lastLine: 'two', startedAt: 0 })
})

it('errand run shows of a progress bar what a terminal shows at the end of its line', () => {
  const { io, view, emit } = setup()
  emit('task.started', 'lines', 0, { status: 'working', from: 'submitted' })
  emit('output.written', 'lines', 1, {
    status: 'working',
    text: '\r1 of 3\r2 of 3\r3 of 3\r\nend\n\r1 of 2\r2 of 2\r\n',
  })
  expect(io.out().split('\n').slice(1, -1)).toEqual(['#7 lines | 3 of 3', '#7 lines | end', '#7 lines | 2 of 2'])
  expect(view.row('task-lines')).toMatchObject({ lastLine: '2 of 2' })
})

it('LogLines keeps of a progress bar what a terminal shows at the end of its line, however its pieces arrive', () => {
  const lines: string[] = []
  const log = new LogLines((line) => lines.push(line))
  for (const content of ['\r1 of', ' 3\r2 of 3', '\r3 of 3\r', '\nend\r\n', '50%', '\r100%', '\r']) {
    log.take({ taskId: 't', seq: 1, type: 'content', content } as unknown as StreamItem)
  }
  log.end()
  expect(lines).toEqual(['3 of 3', 'end', '100%'])
})

it('errand run --json prints the feed, one event per line', () => {
  const io = fakeIo()
  const event: TaskEvent = {
    seq: 1,
    type: 'task.started',
    taskId: 'task-a',
    at: 5,
    instanceId: 'i',
    data: { name: 'a\u001b[2J' },
  }
  createJsonLines(io).event(event, {} as never)
  expect(JSON.parse(io.out())).toEqual(event)
  expect(io.out()).not.toContain('\u001b')
})

it('LogLines passes on whole lines, so that an escape sequence cannot be split between two pieces', () => {
  const lines: string[] = []
  const log = new LogLines((line) => lines.push(line))
  const take = (item: Record<string, unknown>) => log.take({ taskId: 't', seq: 1, ...item } as unknown as StreamItem)
  take({ type: 'start', name: 't', goal: null })
  take({ type: 'content', content: 'one\ntw' })
  take({ type: 'content', content: 'o\n\u001b[3' })
  take({ type: 'content', content: 'token', messageId: 'm' })
  take({ type: 'message', messageId: 'm', role: 'assistant', content: 'token by token' })
  take({ type: 'error', error: { code: 'X', message: 'broken' }, willRetry: false })
  take({ type: 'content', content: 'end' })
  log.end()
  expect(lines).toEqual(['one', 'two', '\u001b[3', 'assistant: token by token', 'failed: broken', 'end'])
})

it('toFlowchart frames groups, draws arrows to waiting tasks, and escapes labels', () => {
  const chart = toFlowchart([
    { id: 'a', label: 'say "hi" <b>', group: false, parent: null, after: [], status: 'completed' },
    { id: 'g', label: 'group', group: true, parent: null, after: ['a'] },
    { id: 'b', label: 'b', group: false, parent: 'g', after: ['elsewhere'] },
  ])
  expect(chart.split('\n')).toEqual([
    'flowchart LR',
    '  t0["say #34;hi#34; #60;b#62;"]:::completed',
    '  subgraph t1["group"]',
    '    t2["b"]',
    '  end',
    '  t0 --> t1',
    '  classDef completed fill:#d3f2d6,stroke:#2c7a34,color:#10331a',
  ])
})

it('treeLines draws tasks in the order of creation, with reasons', () => {
  const root = taskOf({ id: 'task-root00', seq: 1, name: 'root', status: 'working' })
  const below = [
    taskOf({
      id: 'task-b00000',
      seq: 3,
      name: 'b',
      parentId: root.id,
      status: 'failed',
      error: { code: 'X', message: 'no\nluck' },
    }),
    taskOf({ id: 'task-a00000', seq: 2, name: 'a', parentId: root.id, ready: true }),
    taskOf({ id: 'task-c00000', seq: 4, name: 'c', parentId: 'task-a00000', blockedBy: ['x'] }),
  ]
  expect(treeLines([{ root, below }])).toEqual([
    '#1 root working (root00)',
    '├─ #2 a queued (a00000)',
    '│  └─ #4 c blocked (c00000)',
    '└─ #3 b failed: no (b00000)',
  ])
})

it('treeLines cuts a long name for a terminal, so that its state is seen, and cuts nothing without one', () => {
  const name = 'read every file of the archive '.repeat(4).trim()
  const trees = [{ root: taskOf({ id: 'task-root00', seq: 1, name, status: 'working' }), below: [] }]
  expect(treeLines(trees)).toEqual([`#1 ${name} working (root00)`])
  expect(treeLines(trees, 100)).toEqual([`#1 ${name.slice(0, 59)}… working (root00)`])
})

it('shellCommand quotes suggested commands for the shell', () => {
  expect(shellCommand('errand', 'answer', 'abc', 'a b', "it's", '#4', '')).toBe(
    "errand answer abc 'a b' 'it'\\''s' '#4' ''",
  )
})
