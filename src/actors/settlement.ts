// Waits, outside of any run, for a task to settle.
import type { Clock } from '../core/clock.ts'
import { ErrandError } from '../core/errors.ts'
import type { TaskEvent } from '../entities/event.ts'
import { type Outcome, outcomeOf } from '../entities/task.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { requireTask } from '../operations/steps/step-context.ts'
import type { Feed } from './feed.ts'

/**
 * Resolves to the outcome of a task as soon as it has settled.
 * @throws ErrandError NOT_FOUND; TIMEOUT when the task is still open after `timeoutMs`; the reason of an aborted
 * `signal`; what `closed` returns when the feed stops.
 */
export async function awaitSettlement(
  ledger: Ledger,
  feed: Feed,
  clock: Clock,
  taskId: string,
  { timeoutMs, signal }: { timeoutMs?: number | undefined; signal?: AbortSignal | undefined },
  closed: () => unknown,
): Promise<Outcome> {
  let pending: Wakeup | undefined
  let wake: () => void = () => {}
  const notify = (wakeup: Wakeup): void => {
    pending = wakeup
    wake()
  }
  // Subscribes before the first read: a task that settles between the two would be missed.
  const stop = feed.listenTo(taskId, (event) => {
    if (mayHaveSettled(event)) notify('settled')
  })
  const timer = timeoutMs === undefined ? undefined : clock.setTimeout(() => notify('late'), timeoutMs)
  const unlisten = feed.onStop(() => notify('closed'))
  const onAbort = (): void => notify('aborted')
  signal?.addEventListener('abort', onAbort)
  try {
    for (;;) {
      signal?.throwIfAborted()
      const wakeup = take()
      const outcome = feed.stopped ? undefined : await readOutcome(ledger, taskId)
      if (outcome) return outcome
      if (wakeup === 'late') throw stillOpen(taskId, timeoutMs)
      if (wakeup === 'closed') throw closed()
      await new Promise<void>((resolve) => {
        wake = resolve
        if (pending !== undefined) resolve()
      })
    }
  } finally {
    stop()
    unlisten()
    signal?.removeEventListener('abort', onAbort)
    clock.clearTimeout(timer)
  }

  function take(): Wakeup | undefined {
    const wakeup = pending
    pending = undefined
    return wakeup
  }
}

type Wakeup = 'settled' | 'late' | 'closed' | 'aborted'

async function readOutcome(ledger: Ledger, taskId: string): Promise<Outcome | undefined> {
  const task = await ledger.read((tx) => tx.task.get(taskId))
  if (task === undefined) requireTask(undefined, taskId)
  return outcomeOf(task as NonNullable<typeof task>)
}

function mayHaveSettled(event: TaskEvent): boolean {
  return (
    event.type === 'task.completed' ||
    event.type === 'task.canceled' ||
    (event.type === 'task.failed' && event.data.willRetry !== true)
  )
}

function stillOpen(taskId: string, timeoutMs: number | undefined): ErrandError {
  return new ErrandError(
    'TIMEOUT',
    `Task ${taskId} has not settled after ${timeoutMs} ms and is still open. \`why\` shows what it waits for.`,
    { taskId, timeoutMs },
  )
}
