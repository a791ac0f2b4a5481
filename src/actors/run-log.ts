// Follows the runs of this engine from their beginning to their end, for its logger and its metrics. What they are given are ids, names of
// executors, codes and durations: no content of a task, and no text of an error, which may quote content.
import type { TaskEvent } from '../entities/event.ts'
import type { LogLevel } from '../entities/logger.ts'
import type { RunEndKind } from '../entities/metrics.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

interface OpenRun {
  executor: string
  run: number
  /** When it began, in epoch milliseconds. */
  since: number
}

const said: Record<RunEndKind, [LogLevel, string]> = {
  completed: ['info', 'task completed'],
  failed: ['error', 'task failed'],
  retried: ['warn', 'attempt failed and will be retried'],
  canceled: ['info', 'task canceled'],
  paused: ['info', 'task paused'],
  suspended: ['info', 'run suspended'],
  interrupted: ['warn', 'run interrupted'],
}

export class RunLog {
  readonly #instanceId: string
  readonly #log: Log | undefined
  readonly #metrics: Metrics
  /** By task. */
  readonly #open = new Map<string, OpenRun>()

  constructor(instanceId: string, log: Log | undefined, metrics: Metrics) {
    this.#instanceId = instanceId
    this.#log = log
    this.#metrics = metrics
  }

  begun({ id, executor, attempt, run }: TaskRecord, since: number): void {
    this.#open.set(id, { executor: executor as string, run, since })
    this.#log?.write('info', { taskId: id, executor, attempt, run }, 'run started')
  }

  /** Called with every event of the feed, after `begun` of the run that it belongs to. */
  follow(event: TaskEvent): void {
    const { type, taskId, data, instanceId } = event
    const isOwn = instanceId === this.#instanceId
    if (data.from === 'working') this.#ended(event, isOwn)
    else if (type === 'task.failed' && isOwn) {
      // By a timer or a cascade, between two runs.
      this.#log?.write('error', { taskId, errorCode: codeOf(event) }, 'task failed')
    } else if (type === 'run.closed' && isOwn && isTakenOver(event)) {
      this.#metrics.tookOver()
      const fields = { taskId, run: numberOf(data.run), lostInstance: data.lost as string }
      this.#log?.write('warn', fields, 'run taken over from a lost engine')
    } else if (this.#log !== undefined && isOwn) writeWithin(event, this.#log)
  }

  #ended(event: TaskEvent, isOwn: boolean): void {
    const { taskId, data, at } = event
    const open = this.#open.get(taskId)
    const isHere = open !== undefined && (data.run === undefined || data.run === open.run)
    if (isHere) this.#open.delete(taskId)
    const kind = kindOf(event)
    // Another engine has ended a run of a third one, or a task without an executor has moved.
    if (!isHere && !(isOwn && kind === 'failed')) return
    const durationMs = isHere ? Math.max(0, at - open.since) : undefined
    if (isHere) this.#metrics.runEnded(open.executor, kind, durationMs as number)
    const [level, message] = said[kind]
    this.#log?.write(
      level,
      {
        taskId,
        executor: open?.executor,
        attempt: numberOf(data.attempt),
        run: open?.run ?? numberOf(data.run),
        durationMs,
        errorCode: codeOf(event),
        status: kind === 'suspended' ? (data.status as string) : undefined,
      },
      message,
    )
  }
}

/** What happens within a run. */
function writeWithin(event: TaskEvent, log: Log): void {
  const { type, taskId, data } = event
  const errorCode = codeOf(event)
  if (type === 'call.completed' || type === 'call.failed') {
    const fields = { taskId, callId: data.callId as string, call: data.tool as string, errorCode }
    log.write('debug', fields, type === 'call.completed' ? 'call completed' : 'call failed')
  } else if (type === 'model.failed') {
    log.write('warn', { taskId, errorCode, againInMs: numberOf(data.againInMs) }, 'model step failed')
  }
}

/** Runs that the engine itself releases when it closes name it too. */
function isTakenOver({ data, instanceId }: TaskEvent): boolean {
  return typeof data.lost === 'string' && data.lost !== instanceId
}

function kindOf({ type, data }: TaskEvent): RunEndKind {
  switch (type) {
    case 'task.completed':
      return 'completed'
    case 'task.failed':
      return data.willRetry === true ? 'retried' : 'failed'
    case 'task.canceled':
      return 'canceled'
    case 'task.paused':
      return 'paused'
    default:
      return data.reason === 'interrupted' || data.reason === 'released' ? 'interrupted' : 'suspended'
  }
}

function codeOf({ data }: TaskEvent): string | undefined {
  return (data.error as { code?: string } | undefined)?.code
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
