// Keeps clients from timing out during long calls: reports progress, and ends waits before the client gives up.
import type { Clock } from '../../core/clock.ts'
import { durationSchema } from '../../core/duration-schema.ts'
import { ErrandError } from '../../core/errors.ts'
import { toAwaitedTask } from '../../entities/awaited-task.ts'
import { outcomeOf, type Task } from '../../entities/task.ts'
import type { ServedEngine } from './mcp-options.ts'
import { answerResult, type ToolResult } from './tool-results.ts'

export const taskWait = 'task:wait'
export const boardWait = 'board:wait'
const minMs = 1

/** Awaits the work; meanwhile `report` is called regularly with the elapsed milliseconds. */
export async function withProgress<T>(
  work: Promise<T>,
  everyMs: number,
  clock: Clock,
  report: (elapsedMs: number) => void,
): Promise<T> {
  const begun = clock.now()
  const repeat = (): unknown =>
    clock.setTimeout(() => {
      report(clock.now() - begun)
      timer = repeat()
    }, everyMs)
  let timer = repeat()
  try {
    return await work
  } finally {
    clock.clearTimeout(timer)
  }
}

/** How long one client may wait. */
export interface WaitLimits {
  maxMs: number
  /** Aborts when the client has closed its input: only the current state can still be returned. */
  inputEnded?: AbortSignal | undefined
  /** Invokes the ability that waits, until `inputEnded` aborts. */
  wait: (input: Record<string, unknown>, inputEnded: AbortSignal | undefined) => Promise<unknown>
}

/**
 * `task:wait`, limited to the time that a client waits for a response; tasks that are still open are returned as open. A shorter
 * `timeoutMs` of the client has the same effect.
 */
export async function waitForTasks(
  engine: ServedEngine,
  input: Record<string, unknown>,
  { maxMs, inputEnded, wait }: WaitLimits,
): Promise<ToolResult> {
  try {
    return answerResult(await wait(bounded(input, maxMs), inputEnded))
  } catch (error) {
    // Repeated with the minimum time, since the ids still have to be validated and may belong to tasks that have ended.
    if (inputEnded?.aborted) return waitForTasks(engine, input, { maxMs: minMs, wait })
    if (!ErrandError.isInstance(error) || error.code !== 'TIMEOUT') throw error
    // The wait has started, so the input was valid: these are ids.
    const tasks = await Promise.all(
      (input['taskIds'] as string[]).map(async (id) => ({ id, task: await engine.get(id) })),
    )
    const standing = tasks.map(({ id, task }) => toAwaitedTask(id, task === null ? null : outcomeOf(task)))
    const asking = tasks.flatMap(({ task }) => (task?.status === 'input_required' ? [task] : []))
    return answerResult({ tasks: standing }, whatNext(asking))
  }
}

/**
 * `board:wait` returns `idle` after the time-out. For a client that has closed its input it claims nothing, since no work would be done.
 */
export async function waitForWork(
  input: Record<string, unknown>,
  { maxMs, inputEnded, wait }: WaitLimits,
): Promise<ToolResult> {
  return answerResult(await wait(bounded(input, maxMs), inputEnded))
}

/** Leaves an invalid time-out to the validation of the ability. */
function bounded(input: Record<string, unknown>, maxMs: number): Record<string, unknown> {
  const { timeoutMs = maxMs } = input
  const parsed = durationSchema().safeParse(timeoutMs)
  return { ...input, timeoutMs: parsed.success ? Math.min(parsed.data, maxMs) : timeoutMs }
}

function whatNext(asking: readonly Task[]): string {
  const forPeople = asking.filter(({ questions }) => questions.some((each) => each.for === 'person'))
  const forAnyone = asking.filter((task) => !forPeople.includes(task))
  const named = (tasks: readonly Task[]) => tasks.map(({ id }) => id).join(', ')
  return [
    'Some of these tasks are still open and continue. Call again to wait longer.',
    forAnyone.length > 0 &&
      `These have a question, which task_get shows, and wait for its answer: ${named(forAnyone)}.`,
    forPeople.length > 0 &&
      `These wait until a person answers their question (\`errand answer\`); you cannot answer it: ${named(forPeople)}.`,
  ]
    .filter(Boolean)
    .join(' ')
}
