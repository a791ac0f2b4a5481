// What a run offers to the executor of an agent beside what every executor gets: its conversation, the bus, and calls that were
// recorded when its model asked for them. Internal: `agent` is the one who uses it.

import type { CallContext, CallOptions, Run } from './api/executor.ts'
import type { Bus } from './bus/bus.ts'
import type { Caller } from './bus/caller.ts'
import type { Clock } from './core/clock.ts'
import type { StoredError } from './core/errors.ts'
import type { AwaitedTask } from './entities/awaited-task.ts'
import type { Conversation } from './entities/conversation.ts'
import type { MessageRole, ModelStep } from './entities/message.ts'
import type { TaskPolicy } from './entities/task.ts'
import type { OnInterrupt, RetryPolicy } from './entities/task-fields.ts'

/** A message that the run adds to its conversation. */
export interface AgentMessage {
  id: string
  role: MessageRole
  content: string
  /** Of a message that a model wrote. The calls it asks for are recorded with it, and not begun. */
  step?: ModelStep & { pending: Array<{ name: string; params: unknown; onInterrupt: OnInterrupt }> }
}

/** A try of a model step that failed. */
export interface ModelFailure {
  /** Counts from 1 within the step. */
  try: number
  error: StoredError
  /** Milliseconds until it is tried again; null when it is not. */
  againInMs: number | null
}

/** What a wait of an agent came to. */
export interface AwaitedTasks {
  tasks: AwaitedTask[]
}

/** Where an agent of a team works. */
export interface WorkPlace {
  /** The task that the team works on. */
  taskId: string
  agentId: string
}

/** What the engine says where an agent says nothing. */
export interface AgentDefaults {
  maxIterations: number
  toolExecution: 'parallel' | 'sequential'
  modelRetry: Partial<RetryPolicy> | undefined
}

export interface AgentRun {
  readonly bus: Bus
  /** The run as tools get it. */
  readonly toolRun: Run
  readonly clock: Clock
  readonly caller: Caller
  readonly policy: TaskPolicy
  /** Which model of `model:llm` it uses; undefined for the default one. */
  readonly modelId: string | undefined
  readonly defaults: AgentDefaults
  /** What a crash in the middle of a call means where nobody says. */
  readonly onInterrupt: OnInterrupt
  /** A random number from 0 to 1. */
  chance(): number
  nextId(prefix: string): string
  /** A piece of a message on its way, for whoever streams. */
  live(token: string, messageId: string): void
  report(error: unknown, doing: string): void
  /**
   * Where it works with others: its team, and its own name there; undefined where it works alone. Resolves when memory knows of what
   * ended before, so that who comes after others finds what they left; but after a while in any case.
   */
  place(): Promise<WorkPlace | undefined>
  /** As the ledger has it now: the task is completed only if nothing was sent to it since. */
  conversation(): Promise<Conversation>
  append(message: AgentMessage): Promise<void>
  modelFailed(failure: ModelFailure): Promise<void>
  /**
   * Waits for tasks of its own subtree (null: its children), or until somebody sends it a message. @throws ErrandError FORBIDDEN,
   * NOT_FOUND, CYCLE, TIMEOUT
   */
  waitFor(
    taskIds: readonly string[] | null,
    options: { key: string; mode: 'all' | 'any'; timeoutMs?: number },
  ): Promise<AwaitedTasks>
  /**
   * Begins a recorded call, or a new one, and records what comes of it, a failure too; the conversation tells people of both.
   * Rejects only when it could not be recorded.
   */
  perform(
    name: string,
    params: unknown,
    fn: (params: unknown, context: CallContext) => unknown,
    way: CallOptions & { key: string; announced?: boolean; given?: unknown },
  ): Promise<void>
}

/** Where a run keeps them. */
export const agentFacilities = Symbol.for('errand.agent-run')

export function agentRunOf(run: object): AgentRun {
  return (run as { [agentFacilities]: AgentRun })[agentFacilities]
}
