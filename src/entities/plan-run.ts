// Plans, for programs: the options of `engine.plan`, and what it returns.
import { z } from 'zod'
import type { Duration } from '../core/duration.ts'
import { once } from '../core/once.ts'
import type { Task } from './task.ts'

const names = once(() => z.array(z.string().min(1)).max(100_000).optional())

/** Which tasks of a plan run, and in which round. */
export const planRequestShape = once(() => ({
  targets: names().describe(
    'Tasks by path, or by a name that only one task has: only these run, and the tasks that they come after. Default: all without `autoStart: false`.',
  ),
  redo: names().describe('Tasks that run again although they are completed.'),
  key: z
    .string()
    .regex(/\S/, 'it must not be empty')
    .max(1_000)
    .optional()
    .describe('Continues the round with this name, or starts it. Default: the latest counted round.'),
  again: z.boolean().optional().describe('Runs the whole plan again, with new tasks. Cannot be combined with `key`.'),
}))

/** Both name a round. */
export const oneRound = {
  check: ({ key, again }: { key?: string | undefined; again?: boolean | undefined }) => key === undefined || !again,
  issue: { path: ['again'], message: '`key` names a round and `again` begins the next counted one: give one of them' },
}

export const planOptionsSchema = once(() =>
  z
    .strictObject({
      ...planRequestShape(),
      cwd: z.string().min(1).optional(),
      signal: z.instanceof(AbortSignal).optional(),
    })
    .refine(oneRound.check, oneRound.issue),
)

/** The options of `engine.plan`. */
export interface PlanOptions {
  /** Where the path of a plan file begins; the folder of a plan that is given as a value. Default: the working directory of the process. */
  cwd?: string
  /**
   * Tasks by path (`collect/lines`), or by a name that only one task has: only these run, and the tasks that they come after; the others
   * are created held. Default: all but those with `autoStart: false`.
   */
  targets?: readonly string[]
  /** Tasks that run again although they are completed. */
  redo?: readonly string[]
  /** Continues the round with this name, or starts it. Default: the latest counted round of the plan. */
  key?: string
  /** Runs the whole plan again, with new tasks. Cannot be combined with `key`. */
  again?: boolean
  /** Aborts the preparation before its first change, and every wait for the round; tasks that were created go on. */
  signal?: AbortSignal
}

/** A round of a plan that has been prepared. Its tasks run without this object: it only follows them. */
export interface PlanRun {
  /** The name of the round: the key of the task that holds it. */
  readonly round: string
  /** The tasks of the plan by path, groups included, as they were when the round had been prepared. */
  readonly tasks: Readonly<Record<string, Task>>
  /**
   * Resolves when no task of the round goes on without help: all have settled, or the open ones wait for a person, a resume or a claim.
   * @throws ErrandError TIMEOUT after `timeoutMs` (default: never); ENGINE_CLOSED; the reason of an aborted `signal`.
   */
  settled(options?: { timeoutMs?: Duration; signal?: AbortSignal }): Promise<PlanOutcome>
  /**
   * The results of the tasks that had to run, by path, once all are completed.
   * @throws TaskFailedError or TaskCanceledError for the first that did not complete; ErrandError NOT_FOUND for one that was deleted,
   *   BLOCKED { tasks } when open ones wait for help; and what `settled` throws.
   */
  result(options?: { timeoutMs?: Duration; signal?: AbortSignal }): Promise<Record<string, unknown>>
}

/** The state of a round when no task of it goes on. It counts the tasks that had to run; groups count through their tasks. */
export interface PlanOutcome {
  /** `failed`: a task failed, was canceled or deleted, or is blocked by such a task. `open`: a task waits for an answer, a resume or a claim. */
  status: 'done' | 'failed' | 'open'
  completed: Task[]
  /** Failed or canceled. */
  broken: Task[]
  /** Tasks that cannot run, each with the broken ones that block it. */
  blocked: Array<{ task: Task; by: Task[] }>
  /** Tasks that wait for an answer. */
  asking: Task[]
  /** Tasks that wait for a resume. */
  paused: Task[]
  /** Other open tasks: blocked by unsettled ones, waiting for a claim, or interrupted. */
  open: Task[]
  /** Paths of tasks that were deleted. */
  missing: string[]
}
