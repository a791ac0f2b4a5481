// An agent: a model with tools, as an executor. Its conversation is stored as messages and calls, so a repeated run
// reads them and continues.
import type { z } from 'zod'
import type { Duration } from '../../core/duration.ts'
import { parse, requireJsonInput } from '../../core/parse.ts'
import type { CreationBounds } from '../../entities/creation-bounds.ts'
import { type Executor, makeExecutor } from '../../entities/executor.ts'
import type { HandlerTemplate } from '../../entities/handler.ts'
import { agentOptionsSchema } from '../../entities/options.ts'
import type { RetryOptions, RetryPolicy } from '../../entities/task-fields.ts'
import { agentRunOf } from '../../operations/agent-run.ts'
import type { LanguageModelLike } from '../models/language-model.ts'
import type { ModelSettings } from '../models/step-schema.ts'

/** Options of `agent`. */
export interface AgentOptions<R extends z.ZodType = z.ZodType> {
  /**
   * A language model object of the AI SDK (spec v3 or v4), or the name of one. Default: the task's, else the engine's.
   */
  model?: string | LanguageModelLike
  /** System message, unless the task has its own. Default: `You are a helpful AI assistant.` */
  instructions?: string
  /**
   * What the model may call, and is offered: ids, `module:*`, `*`; restricts what the task may call. Default: it may call all that the task may,
   * and is offered what the program registers and a few of the engine's own.
   */
  abilities?: readonly string[]
  /**
   * How many tasks the model may create below the task that it works on: `maxTasks` in all, `maxChildren` per task, on
   * `maxDepth` levels. They also bound agents below that task, whatever their own bounds are. Default: `modelBounds`.
   */
  bounds?: Partial<CreationBounds>
  /** Model steps in one attempt; beyond them the task fails with `MAX_ITERATIONS`. Default: the engine's, 10. */
  maxIterations?: number
  /** Whether the tools of one turn run in parallel or one after the other. Default: the engine's, `parallel`. */
  toolExecution?: 'parallel' | 'sequential'
  /** Retry policy of a step of the model. Default: the engine's. */
  modelRetry?: number | RetryOptions
  /** Temperature and the like, passed on to the model. */
  settings?: ModelSettings
  /**
   * Schema of the result. The model is asked for JSON; an answer that does not match is returned to the model. Default:
   * the result is the text of the last answer.
   */
  result?: R
  /** Retry policy of the task. Default: one attempt. */
  retry?: number | RetryOptions
  /** Maximum duration of a run, in milliseconds. Default: none. */
  timeoutMs?: Duration
  /** How many of its runs may be open in one engine. Default: as many as the engine allows. */
  concurrency?: number
  /**
   * What becomes of a call that a crash interrupted, for abilities without `onInterrupt`. Default `fail`: the model
   * receives the error and decides.
   */
  onInterrupt?: 'fail' | 'rerun' | 'ask'
  /** The task that is created when one of its tasks fails for good. Default: the engine's. */
  onFailure?: HandlerTemplate
  /** The task that is created when one of its tasks needs an answer. Default: the engine's. */
  onInputRequired?: HandlerTemplate
}

/**
 * Creates an executor that lets a model work on a task: it reads the conversation, takes one step of the model at a
 * time, lets the model call abilities of the bus as tools, and ends with the model's answer when no message is unread.
 *
 * @example
 * const engine = await createEngine({ model, executors: { reviewer: agent({ instructions: 'You review code.' }) } })
 * const task = await engine.create({ executor: 'reviewer', goal: 'Review src/core/parse.ts' })
 * @throws ErrandError UNKNOWN_OPTION { option, nearest }, INVALID_INPUT { issues }
 */
export function agent<R extends z.ZodType = z.ZodString>(
  options: AgentOptions<R> = {},
): Executor<unknown, z.output<R>> {
  const checked = parse(agentOptionsSchema, options, 'agent')
  return makeExecutor<unknown, z.output<R>>({
    input: undefined,
    result: requireJsonInput(checked.result, 'The result of the agent'),
    retry: checked.retry as Partial<RetryPolicy> | undefined,
    timeoutMs: checked.timeoutMs,
    concurrency: checked.concurrency,
    onInterrupt: checked.onInterrupt,
    divergence: undefined,
    divergenceWaitMs: undefined,
    runsCommands: false,
    asksPeople: false,
    onFailure: checked.onFailure,
    onInputRequired: checked.onInputRequired,
    agent: { instructions: checked.instructions, abilities: checked.abilities, model: checked.model },
    // The loop is loaded by the first agent that runs: a program that only declares agents need not wait for it.
    run: async (task, run) => (await import('./agent-loop.ts')).converse(task, run, agentRunOf(run), checked),
  })
}
