// Day1's ConsolidationEngine: from observations to facts, level by level. Each method calls one ability and translates the result.
import { z } from 'zod'
import type { InputOfAbility, OutputOfAbility } from '../../bus/ability-types.ts'
import { parse } from '../../core/parse.ts'
import type { Engine } from '../../engine/engine-api.ts'
import { likeness, wordsOf } from '../../entities/fact-tokens.ts'
import {
  type ConsolidationType,
  consolidationTypes,
  factStatuses,
  mainBranch,
  type ObservationType,
  observationTypes,
} from '../../entities/memory.ts'
import type { FactView, HistoryView } from '../../memory/fact-view.ts'
import { ConsolidationError, type EngineCaller, engineCallerOf, fromDay1 } from './day1-engine.ts'

/** A fact, with `confidence` from 0 to 1; empty keys are absent. */
export type Fact = FactView

/** A run of consolidation, or a merge. */
export type ConsolidationHistory = HistoryView

export interface ConsolidationCounts {
  /** Unconsolidated insights, decisions and discoveries; tool uses and errors do not count. */
  observationsProcessed: number
  factsCreated: number
  /** Facts whose confidence rose; at the task level those whose verdict changed. */
  factsUpdated: number
  /** Repeated facts with full confidence, and superseded facts. */
  factsDeduplicated: number
}

export interface AgentConsolidation extends ConsolidationCounts {
  /** The number of facts the agent found and those with the highest confidence; null without any. */
  summary: string | null
}

export interface TaskConsolidation extends ConsolidationCounts {
  /** Facts with enough confidence and a lasting category, which may reach the branch above. */
  durableFactIds: string[]
  /** Number of the other facts, which stay where they are. */
  ephemeralCount: number
  summary: string | null
}

const text = z.string().trim().min(1)
const limit = z.int().min(1).max(1_000).optional()
const worker = { taskId: text.optional(), agentId: text.optional() }

const observationSchema = z.strictObject({
  sessionId: text,
  type: z.enum(observationTypes),
  content: z.string().min(1),
  outcome: z.string().optional(),
  branch: text.optional(),
  ...worker,
})
/** An observation, as recorded by a hook. */
export interface Observation {
  sessionId: string
  /** Insights, decisions and discoveries become facts. */
  type: ObservationType
  content: string
  /** The outcome, in a few words. */
  outcome?: string
  /** Default: the agent's branch on the task, else the task's, else `main`. */
  branch?: string
  taskId?: string
  agentId?: string
}

const sessionOptionsSchema = z.strictObject({
  branch: text.optional(),
  ...worker,
})
export interface SessionOptions {
  /** Default: every branch with unconsolidated observations of the session. */
  branch?: string
  taskId?: string
  agentId?: string
}

const factOptionsSchema = z.strictObject({
  category: text.optional(),
  status: z.enum(factStatuses).optional(),
  inherited: z.boolean().optional(),
  limit,
})
export interface FactOptions {
  category?: string
  status?: 'active' | 'superseded'
  /** True: includes the facts of the branches above. Default false. */
  inherited?: boolean
  /** Default 50. */
  limit?: number
}

const historyFilterSchema = z.strictObject({
  type: z.enum(consolidationTypes).optional(),
  sessionId: text.optional(),
  branch: text.optional(),
  ...worker,
  limit,
})
export interface HistoryFilter {
  type?: ConsolidationType
  taskId?: string
  agentId?: string
  sessionId?: string
  /** Source or target. */
  branch?: string
  /** Default 50. */
  limit?: number
}

/**
 * Turns observations into facts. Every operation is idempotent: repeated, it changes nothing.
 *
 * @example
 * const memory = new ConsolidationEngine(engine)
 * await memory.recordObservation({ sessionId: 's1', type: 'insight', content: 'Tokens expire after an hour' })
 * const { factsCreated } = await memory.consolidateSession('s1')
 */
export class ConsolidationEngine {
  readonly #call: EngineCaller

  /** @throws ConsolidationError INVALID_INPUT for a value that is not an engine. */
  constructor(engine: Engine) {
    this.#call = engineCallerOf(engine, 'ConsolidationEngine', (error) => new ConsolidationError(error))
  }

  /**
   * Returns the likeness of two texts, 0 to 1, as consolidation computes it: the share of their distinct words that both have; 0 if one has
   * none. Words of one character do not count, because they say little about a fact.
   */
  static jaccardSimilarity(a: string, b: string): number {
    return likeness(wordsOf(a), wordsOf(b))
  }

  /** Records an observation and resolves to its id. @throws ConsolidationError NOT_FOUND, BRANCH_CLOSED, INVALID_INPUT. */
  recordObservation(observation: Observation): Promise<string> {
    return this.#call(async (engine) => {
      const given = parse(observationSchema, observation, 'recordObservation')
      const { observationId } = await engine.bus.call('mem:observe', given, fromDay1)
      return observationId
    })
  }

  /** Lists facts of a branch, newest first. @throws ConsolidationError NOT_FOUND for the branch. */
  facts(branch = mainBranch, options: FactOptions = {}): Promise<Fact[]> {
    return this.#call(async (engine) => {
      const given = parse(factOptionsSchema, options, 'facts')
      const { facts } = await engine.bus.call('mem:facts', { branch, ...given }, fromDay1)
      return facts
    })
  }

  /**
   * Level 1: each observation of a session becomes a fact, or confirms an alike one.
   * @throws ConsolidationError NOT_FOUND for a branch or a task.
   */
  consolidateSession(sessionId: string, options: SessionOptions = {}): Promise<ConsolidationCounts> {
    return this.#call(async (engine) => {
      const given = parse(sessionOptionsSchema, options, 'consolidateSession')
      return countsOf(await consolidate(engine, { level: 'session', sessionId, ...given }))
    })
  }

  /** Level 2: merges duplicate facts of an agent's branch and updates its summary. @throws ConsolidationError NOT_FOUND */
  consolidateAgent(taskId: string, agentId: string): Promise<AgentConsolidation> {
    return this.#call(async (engine) => {
      const done = await consolidate(engine, { level: 'agent', taskId, agentId })
      return { ...countsOf(done), summary: done.summary ?? null }
    })
  }

  /** Level 3: classifies the facts of a task's branch as durable or ephemeral. @throws ConsolidationError NOT_FOUND */
  consolidateTask(taskId: string): Promise<TaskConsolidation> {
    return this.#call(async (engine) => classified(await consolidate(engine, { level: 'task', taskId })))
  }

  /**
   * Across tasks: facts found by several tasks gain confidence, and durable ones are merged into the parent branch. `taskIds` default: all
   * tasks below `main`. @throws ConsolidationError NOT_FOUND
   */
  consolidateProject(taskIds?: readonly string[]): Promise<TaskConsolidation> {
    return this.#call(async (engine) =>
      classified(await consolidate(engine, { level: 'project', taskIds: taskIds && [...taskIds] })),
    )
  }

  /** Lists consolidations and merges, latest first. The history is append-only. */
  history(filter: HistoryFilter = {}): Promise<ConsolidationHistory[]> {
    return this.#call(async (engine) => {
      const given = parse(historyFilterSchema, filter, 'history')
      const { history } = await engine.bus.call('mem:history', given, fromDay1)
      return history
    })
  }
}

type Consolidated = OutputOfAbility<'mem:consolidate'>

async function consolidate(engine: Engine, request: InputOfAbility<'mem:consolidate'>): Promise<Consolidated> {
  return await engine.bus.call('mem:consolidate', request, fromDay1)
}

function countsOf(done: Consolidated): ConsolidationCounts {
  const { observationsProcessed, factsCreated, factsUpdated, factsDeduplicated } = done
  return { observationsProcessed, factsCreated, factsUpdated, factsDeduplicated }
}

function classified(done: Consolidated): TaskConsolidation {
  const { durable = [], ephemeral = 0, summary = null } = done
  return { ...countsOf(done), durableFactIds: durable, ephemeralCount: ephemeral, summary }
}
