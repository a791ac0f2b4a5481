// What a client is spared while a call takes long: it hears that it goes on, and a wait comes back before the client gives up.
import type { Clock } from '../../core/clock.ts'
import { ErrandError } from '../../core/errors.ts'
import { toAwaitedTask } from '../../entities/awaited-task.ts'
import { outcomeOf, type Task } from '../../entities/task.ts'
import type { ServedEngine } from './mcp-options.ts'
import { answerResult, type ToolResult } from './tool-results.ts'

export const taskWait = 'task:wait'
export const boardWait = 'board:wait'
const minMs = 1

/** The outcome of some work; meanwhile `tell` gets the milliseconds that it has taken, again and again. */
export async function telling<T>(
  work: Promise<T>,
  everyMs: number,
  clock: Clock,
  tell: (elapsedMs: number) => void,
): Promise<T> {
  const begun = clock.now()
  const repeat = (): unknown =>
    clock.setTimeout(() => {
      tell(clock.now() - begun)
      timer = repeat()
    }, everyMs)
  let timer = repeat()
  try {
    return await work
  } finally {
    clock.clearTimeout(timer)
  }
}

/** How one client waits, and what bounds it. */
export interface Patience {
  maxMs: number
  /** Aborts when the client has closed its end, and hears only what can be said now. */
  leaving?: AbortSignal | undefined
  /** Invokes the ability that waits, until the client leaves. */
  wait: (input: Record<string, unknown>, leaving: AbortSignal | undefined) => Promise<unknown>
}

/**
 * `task:wait`, but never for longer than a client waits for an answer: what is still open then is said to be open. A shorter
 * `timeoutMs` of the client's own holds, and ends in the same way.
 */
export async function waitForAWhile(
  engine: ServedEngine,
  input: Record<string, unknown>,
  { maxMs, leaving, wait }: Patience,
): Promise<ToolResult> {
  try {
    return answerResult(await wait(bounded(input, maxMs), leaving))
  } catch (error) {
    // Once more, as short as can be: whether the tasks are there, and have ended, is still to be judged.
    if (leaving?.aborted) return waitForAWhile(engine, input, { maxMs: minMs, wait })
    if (!ErrandError.isInstance(error) || error.code !== 'TIMEOUT') throw error
    // It has been waited for, so the input was taken: these are ids.
    const tasks = await Promise.all(
      (input['taskIds'] as string[]).map(async (id) => ({ id, task: await engine.get(id) })),
    )
    const standing = tasks.map(({ id, task }) => toAwaitedTask(id, task === null ? null : outcomeOf(task)))
    const asking = tasks.flatMap(({ task }) => (task?.status === 'input_required' ? [task] : []))
    return answerResult({ tasks: standing }, whatNext(asking))
  }
}

/** `board:wait` says by itself that nothing came. For a client that is leaving it takes nothing: nobody would do it. */
export async function waitForWork(
  input: Record<string, unknown>,
  { maxMs, leaving, wait }: Patience,
): Promise<ToolResult> {
  return answerResult(await wait(bounded(input, maxMs), leaving))
}

/** A time-out that is none is for the ability to judge. */
function bounded(input: Record<string, unknown>, maxMs: number): Record<string, unknown> {
  const { timeoutMs = maxMs } = input
  return { ...input, timeoutMs: typeof timeoutMs === 'number' ? Math.min(timeoutMs, maxMs) : timeoutMs }
}

function whatNext(asking: readonly Task[]): string {
  const forPeople = asking.filter(({ questions }) => questions.some((each) => each.for === 'person'))
  const forAnyone = asking.filter((task) => !forPeople.includes(task))
  const named = (tasks: readonly Task[]) => tasks.map(({ id }) => id).join(', ')
  return [
    'Not all of them have ended yet, and they go on. Call again to wait on.',
    forAnyone.length > 0 &&
      `These have a question, which task_get shows, and wait for its answer: ${named(forAnyone)}.`,
    forPeople.length > 0 &&
      `These put a question to people, and wait until a person has answered (\`errand answer\`), which you cannot: ${named(forPeople)}.`,
  ]
    .filter(Boolean)
    .join(' ')
}
