// Day1's ConsolidationEngine: from observations to facts, level by level. Each method is one call of an ability; what it resolves
// to is said in Day1's words.
import { z } from 'zod'
import type { InputOfAbility, OutputOfAbility } from '../../bus/ability-types.ts'
import { parse } from '../../core/parse.ts'
import type { Engine } from '../../engine-api.ts'
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
import { type Ask, askOf, ConsolidationError, fromDay1 } from './day1-engine.ts'

/** A fact, `confidence` from 0 to 1; keys of which there is nothing to say are absent. */
export type Fact = FactView

/** A run of consolidation, or a merge. */
export type ConsolidationHistory = HistoryView

export interface ConsolidationCounts {
  /** Insights, decisions and discoveries that nobody had taken up; tool uses and errors do not count. */
  observationsProcessed: number
  factsCreated: number
  /** Facts that were seen again and are more certain now; at the level of a task those that are judged anew, as durable or not. */
  factsUpdated: number
  /** Facts that are certain already and were seen again, or that another one says now. */
  factsDeduplicated: number
}

export interface AgentConsolidation extends ConsolidationCounts {
  /** How many facts the agent found, and the most certain of them; null without any. */
  summary: string | null
}

export interface TaskConsolidation extends ConsolidationCounts {
  /** Facts that may reach the branch above: certain enough, and of a lasting category. */
  durableFactIds: string[]
  /** How many others there are; they stay where they are. */
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
/** An observation, as a hook makes it. */
export interface Observation {
  sessionId: string
  /** Of these, insights, decisions and discoveries become facts. */
  type: ObservationType
  content: string
  /** What came of it, in a few words. */
  outcome?: string
  /** Default: that of the agent on the task, else of the task, else `main`. */
  branch?: string
  taskId?: string
  agentId?: string
}

const sessionOptionsSchema = z.strictObject({
  branch: text.optional(),
  ...worker,
})
export interface SessionOptions {
  /** Default: every branch on which the session has observations that nobody has taken up. */
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
  /** True: the facts of the branches above as well. Default false. */
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
 * Makes facts of what was observed. Whatever it does it may do twice: the second time changes nothing.
 *
 * @example
 * const memory = new ConsolidationEngine(engine)
 * await memory.recordObservation({ sessionId: 's1', type: 'insight', content: 'Tokens expire after an hour' })
 * const { factsCreated } = await memory.consolidateSession('s1')
 */
export class ConsolidationEngine {
  readonly #ask: Ask

  /** @throws ConsolidationError INVALID_INPUT for what is no engine. */
  constructor(engine: Engine) {
    this.#ask = askOf(engine, 'ConsolidationEngine', (error) => new ConsolidationError(error))
  }

  /** How alike two texts are, 0 to 1: the part of their distinct words that both have. 0 where one has none. */
  static jaccardSimilarity(a: string, b: string): number {
    return likeness(wordsOf(a), wordsOf(b))
  }

  /** Keeps what an agent saw; resolves to the id of the observation. @throws ConsolidationError NOT_FOUND, BRANCH_CLOSED, INVALID_INPUT. */
  recordObservation(observation: Observation): Promise<string> {
    return this.#ask(async (engine) => {
      const given = parse(observationSchema, observation, 'recordObservation')
      const { observationId } = await engine.bus.call('mem:observe', given, fromDay1)
      return observationId
    })
  }

  /** Facts of a branch, the newest first. @throws ConsolidationError NOT_FOUND for the branch. */
  facts(branch = mainBranch, options: FactOptions = {}): Promise<Fact[]> {
    return this.#ask(async (engine) => {
      const given = parse(factOptionsSchema, options, 'facts')
      const { facts } = await engine.bus.call('mem:facts', { branch, ...given }, fromDay1)
      return facts
    })
  }

  /**
   * Level 1: each observation of a session becomes a fact, or makes the fact that says the same more certain.
   * @throws ConsolidationError NOT_FOUND for a branch or a task.
   */
  consolidateSession(sessionId: string, options: SessionOptions = {}): Promise<ConsolidationCounts> {
    return this.#ask(async (engine) => {
      const given = parse(sessionOptionsSchema, options, 'consolidateSession')
      return countsOf(await consolidate(engine, { level: 'session', sessionId, ...given }))
    })
  }

  /** Level 2: facts of an agent's branch that say the same become one, and its summary is renewed. @throws ConsolidationError NOT_FOUND */
  consolidateAgent(taskId: string, agentId: string): Promise<AgentConsolidation> {
    return this.#ask(async (engine) => {
      const done = await consolidate(engine, { level: 'agent', taskId, agentId })
      return { ...countsOf(done), summary: done.summary ?? null }
    })
  }

  /** Level 3: facts of a task's branch are classified as durable or ephemeral. @throws ConsolidationError NOT_FOUND */
  consolidateTask(taskId: string): Promise<TaskConsolidation> {
    return this.#ask(async (engine) => classified(await consolidate(engine, { level: 'task', taskId })))
  }

  /**
   * Across tasks: what several of them found is more certain for it, and what is durable reaches their parent branch.
   * `taskIds` default: all tasks below `main`. @throws ConsolidationError NOT_FOUND
   */
  consolidateProject(taskIds?: readonly string[]): Promise<TaskConsolidation> {
    return this.#ask(async (engine) =>
      classified(await consolidate(engine, { level: 'project', taskIds: taskIds && [...taskIds] })),
    )
  }

  /** Every run of consolidation and every merge, the latest first. Nothing of it is ever changed. */
  history(filter: HistoryFilter = {}): Promise<ConsolidationHistory[]> {
    return this.#ask(async (engine) => {
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
