// The live tree: the content of a frame, the rewriting of the terminal, and its restoration.
import { describe, expect, it } from 'vitest'
import type { Clock } from '../../../src/core/clock.ts'
import type { TaskEvent } from '../../../src/entities/event.ts'
import type { KnownRound } from '../../../src/plans/round.ts'
import { LiveScreen } from '../../../src/surfaces/terminal/live-screen.ts'
import { createLiveView, drawFrame } from '../../../src/surfaces/terminal/live-view.ts'
import { createPaint } from '../../../src/surfaces/terminal/paint.ts'
import { RoundRows, type Row } from '../../../src/surfaces/terminal/round-rows.ts'
import { displayWidth, fitWidth } from '../../../src/surfaces/terminal/terminal-text.ts'
import { fakeIo } from '../cli/fake-io.ts'
import { planOf } from '../cli/plan-text.ts'
import { taskOf } from '../cli/task-of.ts'
import { TerminalScreen } from '../repl/terminal-screen.ts'

const questionOf = (question: string) => ({ id: 'q', taskId: 'task-a', question, schema: null, dueAt: null })

const rowOf = (fields: Partial<Row>): Row => ({
  seq: null,
  path: fields.name ?? 'a',
  name: 'a',
  depth: 0,
  group: false,
  taskId: 'task-a',
  status: 'submitted',
  ready: false,
  word: fields.ready ? 'queued' : (fields.status ?? 'submitted'),
  attempt: 1,
  startedAt: null,
  endedAt: null,
  lastLine: '',
  error: '',
  question: null,
  ...fields,
})

const frame = (rows: Row[], fields: { columns?: number; height?: number } = {}) =>
  drawFrame(rows, { now: 10_000, begunAt: 0, tick: 0, columns: 60, height: 24, paint: createPaint(false), ...fields })

describe('drawFrame', () => {
  it('drawFrame shows a resumed or answered task that waits for a slot as queued', () => {
    const question = questionOf('Sure?')
    const lines = frame([
      rowOf({ name: 'resumed', status: 'paused', ready: true }),
      rowOf({ name: 'answered', status: 'input_required', ready: true, question }),
      rowOf({ name: 'asking', status: 'input_required', question }),
    ])
    expect(lines.slice(0, 3)).toEqual([
      ' · resumed   queued',
      ' · answered  queued',
      expect.stringMatching(/input_required +Sure\?$/),
    ])
  })

  it('drawFrame shows state, elapsed time and the last output line of working tasks', () => {
    const lines = frame([
      rowOf({ name: 'done', status: 'completed', startedAt: 1_000, endedAt: 3_500 }),
      rowOf({ name: 'group', group: true, status: 'working' }),
      rowOf({ name: 'busy', depth: 1, status: 'working', startedAt: 4_000, lastLine: 'line 5', attempt: 2 }),
      rowOf({ name: 'asks', status: 'input_required', question: questionOf('Which?') }),
      rowOf({ name: 'bad', status: 'failed', error: 'exited with 1' }),
      rowOf({ name: 'next', ready: true }),
      rowOf({ name: 'later', word: 'blocked' }),
    ])
    expect(lines).toEqual([
      ' ✓ done    completed       2.5s',
      ' ▾ group   working               0 of 1',
      ' ⠋   busy  working         6.0s  attempt 2: line 5',
      ' ? asks    input_required        Which?',
      ' ✗ bad     failed                exited with 1',
      ' · next    queued',
      ' · later   blocked',
      ' 1 of 6 completed, 1 working, 1 failed, 10.0s',
    ])
  })

  it('drawFrame shows the numbers of tasks, the progress of groups, and which attempt a task has needed', () => {
    const lines = frame([
      rowOf({ seq: 1, name: 'build', group: true, status: 'working' }),
      rowOf({ seq: 2, name: 'fast', depth: 1, status: 'completed', attempt: 3 }),
      rowOf({ seq: 3, name: 'parts', depth: 1, group: true, status: 'working' }),
      rowOf({ seq: 12, name: 'slow', depth: 2, status: 'failed', attempt: 2, error: 'exited with 1' }),
      rowOf({ seq: 13, name: 'by an agent', depth: 3, subtask: true, status: 'completed' }),
      rowOf({ seq: 14, name: 'after', status: 'completed' }),
    ])
    expect(lines.slice(0, 4)).toEqual([
      ' ▾ #1 build             working    1 of 2',
      ' ✓   #2 fast            completed  attempt 3',
      ' ▾   #3 parts           working    0 of 1',
      ' ✗     #12 slow         failed     attempt 2: exited with 1',
    ])
  })

  it('drawFrame is never wider or higher than the terminal', () => {
    const rows = Array.from({ length: 50 }, (_, index) =>
      rowOf({ name: `タスク${index}`, status: 'working', startedAt: 0, lastLine: 'x'.repeat(500) }),
    )
    for (const columns of [10, 20, 40, 60, 80, 200]) {
      const lines = frame(rows, { columns, height: 12 })
      expect(lines.length).toBeLessThanOrEqual(12)
      for (const line of lines) expect(displayWidth(line)).toBeLessThan(columns)
    }
  })

  it('drawFrame shortens long names on a narrow terminal, so that notes can be read', () => {
    const rows = [
      rowOf({
        name: 'compile everything twice',
        status: 'working',
        startedAt: 4_000,
        lastLine: 'Running the linker now',
      }),
      rowOf({ name: 'überprüfe 📦 und 🇩🇪', status: 'completed', startedAt: 4_000, endedAt: 5_000 }),
    ]
    expect(frame(rows, { columns: 60 }).slice(0, 2)).toEqual([
      ' ⠋ compile everyt…  working    6.0s  Running the linker now',
      ' ✓ überprüfe 📦 u…  completed  1.0s',
    ])
    expect(frame(rows, { columns: 40 })[0]).toBe(' ⠋ compile eve…  working    6.0s')
    expect(frame(rows, { columns: 200 })[0]).toBe(
      ' ⠋ compile everything twice  working    6.0s  Running the linker now',
    )
  })

  it('drawFrame cuts no name on a wide terminal whose columns no note needs', () => {
    const name = 'compare the figures of each region with those of last year'
    const line = ` ⠋ ${name}  working  6.0s  line 5`
    const row = rowOf({ name, status: 'working', startedAt: 4_000, lastLine: 'line 5' })
    expect(frame([row], { columns: 200 })[0]).toBe(line)
    expect(frame([row], { columns: 80 })[0]).toMatch(
      /^ ⠋ compare the figures of each region w.*… +working {2}6.0s {2}line 5$/,
    )
    const note = 'x'.repeat(300)
    expect(frame([{ ...row, lastLine: note }], { columns: 200 })[0]).toContain('compare the figures of each reg…')
  })

  it('drawFrame leaves out the least relevant rows first, and counts them', () => {
    const rows = [
      ...Array.from({ length: 9 }, (_, index) => rowOf({ name: `done${index}`, status: 'completed' })),
      rowOf({ name: 'busy', status: 'working' }),
      rowOf({ name: 'bad', status: 'failed' }),
    ]
    const lines = frame(rows, { height: 3 })
    expect(lines.map((line) => line.trim().split(/ +/)[1])).toEqual(['busy', 'bad', 'of'])
    expect(lines.at(-1)).toContain('9 not shown')
  })
})

describe('LiveScreen', () => {
  const record = (columns = 80) => {
    const written: string[] = []
    return { written, output: { columns, write: (text: string) => written.push(text) } }
  }

  it('LiveScreen hides the cursor, writes new lines, and restores the cursor', () => {
    const { written, output } = record()
    const screen = new LiveScreen(output)
    screen.draw(['a', 'b'])
    screen.end()
    expect(written.join('')).toBe('\u001b[?25l\r\u001b[2Ka\n\u001b[2Kb\n\u001b[?25h')
  })

  it('LiveScreen writes only from the first changed line on, and nothing without a change', () => {
    const { written, output } = record()
    const screen = new LiveScreen(output)
    screen.draw(['a', 'b', 'c'])
    written.length = 0
    screen.draw(['a', 'b', 'c'])
    expect(written).toEqual([])
    screen.draw(['a', 'B', 'c'])
    expect(written).toEqual(['\u001b[2A\r\u001b[2KB\n\n'])
  })

  it('LiveScreen clears the lines below a shorter frame', () => {
    const { written, output } = record()
    const screen = new LiveScreen(output)
    screen.draw(['a', 'b', 'c'])
    written.length = 0
    screen.draw(['a'])
    expect(written).toEqual(['\u001b[2A\r\u001b[0J'])
    screen.draw(['a', 'd'])
    expect(written[1]).toBe('\r\u001b[2Kd\n')
  })

  it.each([
    [80, 40],
    [40, 80],
    [60, 200],
    [200, 40],
  ])('LiveScreen leaves nothing of the old lines when the terminal changes from %i to %i columns', (before, after) => {
    const terminal = new TerminalScreen(before)
    const output = { columns: before, write: (text: string) => terminal.write(text.replaceAll('\n', '\r\n')) }
    const frameOf = (columns: number) =>
      ['日本語'.repeat(9), 'x'.repeat(500), 'end'].map((line) => fitWidth(line, columns - 1))
    const screen = new LiveScreen(output)
    output.write('what was before\n')
    screen.draw(frameOf(before))
    terminal.resize(after)
    output.columns = after
    screen.draw(frameOf(after))
    expect(terminal.lines).toEqual(['what was before', ...frameOf(after), ''])
    screen.draw(['done'])
    expect(terminal.lines).toEqual(['what was before', 'done', ''])
  })
})

it('createLiveView redraws on a timer and ends with a last frame and a visible cursor, in colours without NO_COLOR', () => {
  const plan = planOf('tasks: { a: { run: x } }')
  const task = taskOf({ id: 'task-a', name: 'a' })
  const mark = { path: 'a', generation: 0, edges: 0, definition: '', folder: '', invocation: '', held: false }
  const known: KnownRound = { newest: new Map([['a', { task, mark }]]), nextGeneration: 1 }
  for (const color of [true, false]) {
    const env: Record<string, string> = color ? {} : { NO_COLOR: '1' }
    const io = fakeIo({ tty: true, env })
    const timers: Array<() => void> = []
    let now = 0
    const clock: Clock = { now: () => now, setTimeout: (fn) => timers.push(fn), clearTimeout: () => timers.splice(0) }
    const view = new RoundRows(plan, known)
    const reporter = createLiveView(io, view, { clock })
    const event: TaskEvent = {
      seq: 1,
      type: 'task.started',
      taskId: 'task-a',
      at: 0,
      instanceId: 'i',
      data: { status: 'working', from: 'submitted' },
    }
    view.apply(event)
    now = 1_500
    timers.shift()?.()
    expect(io.out()).toContain('working')
    expect(io.out()).toContain('1.5s')
    reporter.end()
    expect(timers).toEqual([])
    expect(io.out().endsWith('\u001b[?25h')).toBe(true)
    expect(io.out().includes('\u001b[36m')).toBe(color)
  }
})
