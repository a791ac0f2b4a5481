// `errand ps --watch`: tasks for as long as somebody looks. The feed says when something changed, in whichever process, and
// only then is the ledger read; on a terminal no more often than a person can see, and only as many tasks as fit.

import { type Clock, systemClock } from '../../core/clock.ts'
import { Notifier } from '../../core/notifier.ts'
import type { Engine, TaskPage } from '../../engine-api.ts'
import type { TaskEvent } from '../../entities/event.ts'
import type { Task } from '../../entities/task.ts'
import { eachTask } from '../../plans/each-task.ts'
import { exitCodes } from '../../terminal/exit-code.ts'
import { type CommandIo, isLiveTerminal, type Output, printValue } from '../../terminal/io.ts'
import { untilInterrupted } from '../../terminal/stop-listener.ts'
import { ownerLabel, shortId, stateLabel, taskLabel } from '../../terminal/task-labels.ts'
import { isChosen, type TaskChoice } from '../../terminal/task-list.ts'
import { taskTable } from '../../terminal/task-table.ts'
import { fitWidth } from '../../terminal/terminal-text.ts'
import { watchScreen } from '../../terminal/watch-screen.ts'

/** Lines that are not tasks: the header, the count, and the one that the cursor stands on. */
const otherLines = 3
const maxPageSize = 1_000

export interface WatchOptions {
  choice: TaskChoice
  json: boolean
  clock?: Clock
}

/** Resolves when the user wants to stop. */
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
      read: () => engine.list({ ...choice, limit: Math.min(roomIn(io.stdout), maxPageSize) }),
      draw: (page, now) => drawPage(page, now, io.stdout),
    })
  } finally {
    unsubscribe()
  }
}

type Size = Pick<Output, 'columns' | 'rows'>

/** A terminal that does not know its size says 0. */
function roomIn({ rows }: Size): number {
  return Math.max(1, (rows || 24) - otherLines)
}

/** One picture: no wider and no higher than the terminal, whatever it has become since the tasks were read. */
export function drawPage({ tasks, total }: TaskPage, now: number, size: Size): string[] {
  const columns = (size.columns || 80) - 1
  const shown = tasks.slice(0, roomIn(size))
  const more = total > shown.length ? `, ${total - shown.length} not shown` : ''
  const count = total === 0 ? 'No tasks' : `${total} ${total === 1 ? 'task' : 'tasks'}${more}`
  return [...taskTable(shown, now, columns), fitWidth(count, columns)]
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
    for await (const task of eachTask(engine, options.choice)) lines.tell(task)
    while (!signal.aborted) {
      await bell.wait(signal)
      for (const taskId of changed) {
        if (signal.aborted) return
        changed.delete(taskId)
        const task = await engine.get(taskId)
        if (task === null) lines.tellDeleted(taskId)
        else lines.tell(task)
      }
    }
  } finally {
    unsubscribe()
  }
}

/** What runs write while they run changes nothing that a line tells. */
function mayShow({ type }: TaskEvent): boolean {
  return type.startsWith('task.') || type.startsWith('timer.')
}

/** One line a change. What no longer belongs to the choice is told once more, as what it has become. */
function changeLines(io: CommandIo, { choice, json }: WatchOptions) {
  /** What was told last, of the tasks that belong to the choice. */
  const told = new Map<string, { words: string; label: string }>()
  return {
    tell(task: Task): void {
      const chosen = isChosen(task, choice)
      const before = told.get(task.id)
      if (!chosen && before === undefined) return
      const label = `${taskLabel(task)} (${shortId(task.id)})`
      const words = `${stateLabel(task)}${task.owner === null ? '' : `, ${claimText(task)}`}`
      if (chosen) told.set(task.id, { words, label })
      else told.delete(task.id)
      if (before?.words !== words) printValue(io, { json }, task, `${label} ${words}`)
    },
    tellDeleted(taskId: string): void {
      const before = told.get(taskId)
      if (before === undefined) return
      told.delete(taskId)
      printValue(io, { json }, { id: taskId, deleted: true }, `${before.label} deleted`)
    },
  }
}

/** Without the lease: a sign of life is no change. */
function claimText(task: Task): string {
  return ownerLabel({ ...task, leaseUntil: null })
}
