// What a run offers to the executor of an agent in addition to `Run`: the conversation, the bus, and calls that were recorded
// with the message of the model. Internal, used by `agent` only.

import type { Bus } from '../bus/bus.ts'
import type { Caller } from '../bus/caller.ts'
import type { Clock } from '../core/clock.ts'
import type { StoredError } from '../core/errors.ts'
import type { AwaitedTask } from '../entities/awaited-task.ts'
import type { CallContext, CallOptions, Parsed } from '../entities/call-options.ts'
import type { Conversation } from '../entities/conversation.ts'
import type { Run } from '../entities/executor.ts'
import type { MessageRole, ModelStep } from '../entities/message.ts'
import type { TaskPolicy } from '../entities/task.ts'
import type { OnInterrupt, RetryPolicy } from '../entities/task-fields.ts'
import type { ModelEndFacts, ModelFacts, WorkTrace } from '../entities/telemetry.ts'

/** A message that the run adds to its conversation. */
export interface AgentMessage {
  id: string
  role: MessageRole
  content: string
  /** Of a message from a model. Its calls are recorded with it as pending. */
  step?: ModelStep & { pending: Array<{ name: string; params: unknown; onInterrupt: OnInterrupt }> }
}

/** A failed try of a model step. */
export interface ModelFailure {
  /** Counts from 1 within the step. */
  try: number
  error: StoredError
  /** Milliseconds until the next try; null when there is none. */
  againInMs: number | null
}

/** How many tokens a provider has read of a step, and about how many it was sent. */
export interface PromptCut {
  inputTokens: number
  expectedTokens: number
}

/** The outcome of an agent's wait. */
export interface AwaitedTasks {
  tasks: AwaitedTask[]
}

/** The membership of an agent in a team. */
export interface TeamMembership {
  /** The task that the team works on. */
  taskId: string
  agentId: string
}

/** The engine's values for options that an agent leaves out. */
export interface AgentDefaults {
  maxIterations: number
  toolExecution: 'parallel' | 'sequential'
  modelRetry: Partial<RetryPolicy> | undefined
}

export interface AgentRun {
  readonly bus: Bus
  /** The run that is passed to tools. */
  readonly toolRun: Run
  readonly clock: Clock
  /** Resolves after a time, or when the run ends. */
  pause(ms: number): Promise<void>
  readonly caller: Caller
  readonly policy: TaskPolicy
  /** The model passed to `model:llm`; undefined for the default model. */
  readonly modelId: string | undefined
  readonly defaults: AgentDefaults
  /** The default for calls that are interrupted by a crash. */
  readonly onInterrupt: OnInterrupt
  /** A random number from 0 to 1, for jitter. */
  chance(): number
  nextId(prefix: string): string
  /** Streams a piece of a message that is still being written. */
  live(token: string, messageId: string): void
  /** Begins the trace of a step of the model; undefined without telemetry. */
  traceModel(messages: ModelFacts['messages']): WorkTrace<ModelEndFacts> | undefined
  /** The model has sent a piece of its answer; null: the step is over. */
  pieceReceived(at: number | null): void
  report(error: unknown, doing: string): void
  /**
   * The team's task and the agent's id in it; undefined for an agent without a team. Resolves when memory has recorded the tasks that
   * ended before, so that an agent finds the results of the agents before it; after a bounded time in any case.
   */
  teamMembership(): Promise<TeamMembership | undefined>
  /** Whether its task, or one above it, is claimed by an owner. */
  isClaimed(): Promise<boolean>
  /** The conversation as stored now. The task is completed only if no message has been sent since this read. */
  conversation(): Promise<Conversation>
  append(message: AgentMessage): Promise<void>
  modelFailed(failure: ModelFailure): Promise<void>
  promptCut(cut: PromptCut): Promise<void>
  /** A step of the model and its storage: an engine that closes waits for it as for a call. */
  hold<T>(work: () => Promise<T>): Promise<T>
  /**
   * Waits for tasks of its own subtree (null: its children), or until a message is sent to it.
   * @throws ErrandError FORBIDDEN, NOT_FOUND, CYCLE, TIMEOUT
   */
  waitFor(
    taskIds: readonly string[] | null,
    options: { key: string; mode: 'all' | 'any'; timeoutMs?: number },
  ): Promise<AwaitedTasks>
  /**
   * Begins a recorded call, or a new one, and records its outcome, a failure included. Both appear in the conversation.
   * Rejects only when the outcome could not be recorded.
   */
  perform(
    name: string,
    params: unknown,
    fn: (params: unknown, context: CallContext) => unknown,
    options: Parsed<CallOptions> & { key: string; announced?: boolean; given?: unknown },
  ): Promise<void>
}

/** The property under which a run holds its AgentRun. */
export const agentFacilities = Symbol.for('errand.agent-run')

export function agentRunOf(run: object): AgentRun {
  return (run as { [agentFacilities]: AgentRun })[agentFacilities]
}
