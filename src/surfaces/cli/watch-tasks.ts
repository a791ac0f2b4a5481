// `errand ps --watch`: shows tasks until it is interrupted. The ledger is read only when the feed reports a change, by any process;
// on a terminal only a few times per second, and only as many tasks as fit.

import { type Clock, systemClock } from '../../core/clock.ts'
import { Notifier } from '../../core/notifier.ts'
import type { Engine, TaskPage } from '../../engine/engine-api.ts'
import type { TaskEvent } from '../../entities/event.ts'
import type { Task } from '../../entities/task.ts'
import { eachTask } from '../../plans/each-task.ts'
import { exitCodes } from '../terminal/exit-code.ts'
import { type CommandIo, isLiveTerminal, type Output, printValue } from '../terminal/io.ts'
import { untilInterrupted } from '../terminal/stop-listener.ts'
import { ownerLabel, shortId, stateLabel, taskLabel } from '../terminal/task-labels.ts'
import { isChosen, type TaskChoice } from '../terminal/task-list.ts'
import { readReasons, type TaskReasons } from '../terminal/task-reasons.ts'
import { taskTable } from '../terminal/task-table.ts'
import { fitWidth } from '../terminal/terminal-text.ts'
import { watchScreen } from '../terminal/watch-screen.ts'

/** Lines that are not tasks: the header, the count, and the line of the cursor. */
const otherLines = 3
const maxPageSize = 1_000

export interface WatchOptions {
  choice: TaskChoice
  json: boolean
  clock?: Clock
}

/** Resolves when the user interrupts it. */
export async function watchTasks(io: CommandIo, engine: Engine, options: WatchOptions): Promise<number> {
  return await untilInterrupted(io, async (signal) => {
    const watch = isLiveTerminal(io) && !options.json ? watchOnScreen : watchAsLines
    await watch(io, engine, options, signal)
    return exitCodes.interrupted
  })
}

async function watchOnScreen(
  io: CommandIo,
  engine: Engine,
  { choice, clock = systemClock }: WatchOptions,
  signal: AbortSignal,
): Promise<void> {
  const bell = new Notifier()
  const unsubscribe = engine.subscribe('*', () => bell.notify())
  try {
    await watchScreen({
      output: io.stdout,
      clock,
      bell,
      signal,
      read: async () => {
        const page = await engine.list({ ...choice, limit: Math.min(roomIn(io.stdout), maxPageSize) })
        return { ...page, reasons: await readReasons(engine, page.tasks) }
      },
      draw: (page, now) => drawPage(page, now, io.stdout),
    })
  } finally {
    unsubscribe()
  }
}

type Size = Pick<Output, 'columns' | 'rows'>

/** A terminal of unknown size reports 0. */
function roomIn({ rows }: Size): number {
  return Math.max(1, (rows || 24) - otherLines)
}

/** One frame, which fits the terminal even if it was resized since the tasks were read. */
export function drawPage(
  { tasks, total, reasons }: TaskPage & { reasons?: TaskReasons },
  now: number,
  size: Size,
): string[] {
  const columns = (size.columns || 80) - 1
  const shown = tasks.slice(0, roomIn(size))
  const more = total > shown.length ? `, ${total - shown.length} not shown` : ''
  const count = total === 0 ? 'No tasks' : `${total} ${total === 1 ? 'task' : 'tasks'}${more}`
  return [...taskTable(shown, now, columns, reasons), fitWidth(count, columns)]
}

async function watchAsLines(io: CommandIo, engine: Engine, options: WatchOptions, signal: AbortSignal): Promise<void> {
  const bell = new Notifier()
  const lines = changeLines(io, options)
  const changed = new Set<string>()
  const unsubscribe = engine.subscribe('*', (event) => {
    if (!mayShow(event)) return
    changed.add(event.taskId)
    bell.notify()
  })
  try {
    for await (const task of eachTask(engine, options.choice)) lines.print(task)
    while (!signal.aborted) {
      await bell.wait(signal)
      for (const taskId of changed) {
        if (signal.aborted) return
        changed.delete(taskId)
        const task = await engine.get(taskId)
        if (task === null) lines.printDeleted(taskId)
        else lines.print(task)
      }
    }
  } finally {
    unsubscribe()
  }
}

/** Output and calls of a run change nothing that a line shows. */
function mayShow({ type }: TaskEvent): boolean {
  return type.startsWith('task.') || type.startsWith('timer.')
}

/** Prints one line per change. A task that leaves the choice is printed once more, with its new state. */
function changeLines(io: CommandIo, { choice, json }: WatchOptions) {
  /** The latest line of each task in the choice. */
  const printed = new Map<string, { state: string; label: string }>()
  return {
    print(task: Task): void {
      const chosen = isChosen(task, choice)
      const before = printed.get(task.id)
      if (!chosen && before === undefined) return
      const label = `${taskLabel(task)} (${shortId(task.id)})`
      const state = `${stateLabel(task)}${task.owner === null ? '' : `, ${claimText(task)}`}`
      if (chosen) printed.set(task.id, { state, label })
      else printed.delete(task.id)
      if (before?.state !== state) printValue(io, { json }, task, `${label} ${state}`)
    },
    printDeleted(taskId: string): void {
      const before = printed.get(taskId)
      if (before === undefined) return
      printed.delete(taskId)
      printValue(io, { json }, { id: taskId, deleted: true }, `${before.label} deleted`)
    },
  }
}

/** Without the lease, so that a heartbeat is not a change. */
function claimText(task: Task): string {
  return ownerLabel({ ...task, leaseUntil: null })
}
