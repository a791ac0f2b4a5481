// Waiting, outside of any run, for a task to settle.
import type { Clock } from '../core/clock.ts'
import { ErrandError } from '../core/errors.ts'
import type { TaskEvent } from '../entities/event.ts'
import { type Outcome, outcomeOf } from '../entities/task.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { requireTask } from '../steps/step-context.ts'
import type { Feed } from './feed.ts'

/**
 * The outcome of a task, as soon as there is one.
 * @throws ErrandError NOT_FOUND; TIMEOUT when it is still open after `timeoutMs`; the reason of an aborted `signal`; what `closed` says when the feed stops.
 */
export async function awaitSettlement(
  ledger: Ledger,
  feed: Feed,
  clock: Clock,
  taskId: string,
  { timeoutMs, signal }: { timeoutMs?: number | undefined; signal?: AbortSignal | undefined },
  closed: () => unknown,
): Promise<Outcome> {
  let heard: News | undefined
  let wake: () => void = () => {}
  const hear = (news: News): void => {
    heard = news
    wake()
  }
  // Listening first: what settles between the reading and the listening would be missed.
  const stop = feed.listenTo(taskId, (event) => {
    if (mayHaveSettled(event)) hear('settled')
  })
  const timer = timeoutMs === undefined ? undefined : clock.setTimeout(() => hear('late'), timeoutMs)
  const unlisten = feed.onStop(() => hear('closed'))
  const onAbort = (): void => hear('aborted')
  signal?.addEventListener('abort', onAbort)
  try {
    for (;;) {
      signal?.throwIfAborted()
      const news = take()
      const outcome = feed.stopped ? undefined : await readOutcome(ledger, taskId)
      if (outcome) return outcome
      if (news === 'late') throw stillOpen(taskId, timeoutMs)
      if (news === 'closed') throw closed()
      await new Promise<void>((resolve) => {
        wake = resolve
        if (heard !== undefined) resolve()
      })
    }
  } finally {
    stop()
    unlisten()
    signal?.removeEventListener('abort', onAbort)
    clock.clearTimeout(timer)
  }

  function take(): News | undefined {
    const news = heard
    heard = undefined
    return news
  }
}

type News = 'settled' | 'late' | 'closed' | 'aborted'

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
    `Task ${taskId} has not settled after ${timeoutMs} ms; it goes on. \`why\` tells what it waits for.`,
    { taskId, timeoutMs },
  )
}
