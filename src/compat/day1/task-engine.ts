// Day1's TaskEngine: tasks, their agents, objectives, completion and context. Each method calls one ability and translates the result.
import { z } from 'zod'
import { parse, requireText } from '../../core/parse.ts'
import type { Engine } from '../../engine/engine-api.ts'
import { fieldsFor, type GivenFields } from '../../entities/task-fields.ts'
import { maxObjectives, type ObjectiveStatus, objectiveStatuses } from '../../entities/team.ts'
import type { AgentCompleted } from '../../memory/team/complete-agent.ts'
import type { TeamContext } from '../../memory/team/context.ts'
import { type EngineCaller, engineCallerOf, fromDay1, toTaskError } from './day1-engine.ts'
import {
  canonicalStatusesOf,
  contextOf,
  day1Statuses,
  day1StatusOf,
  summaryOf,
  type Task,
  type TaskContext,
  type TaskStatus,
  type TaskSummary,
  taskOf,
} from './task.ts'

const text = z.string().trim().min(1)
const fields = fieldsFor('create')

const createTaskSchema = z
  .strictObject(fields)
  .pick({ description: true, objectives: true, parentBranch: true, type: true, tags: true })
export interface CreateTaskOptions extends Pick<GivenFields<'create'>, keyof z.input<typeof createTaskSchema>> {}

const listTasksSchema = z.strictObject({
  status: z.enum(day1Statuses).optional(),
  type: fields.type,
  limit: z.int().min(1).max(1_000).default(20),
})
export interface ListTasksOptions {
  /** Tasks with this status; `failed` includes canceled ones. */
  status?: TaskStatus
  type?: string
  /** Default 20. */
  limit?: number
}

export interface AssignAgentOptions {
  /** The agent's role: `implementer`, `reviewer`. */
  role?: string
  /** Ids of the objectives to activate and assign to the agent. */
  assignedObjectives?: readonly number[]
}

const assignAgentSchema = z.strictObject({
  role: text.optional(),
  assignedObjectives: z.array(z.int().min(1)).max(maxObjectives).optional(),
})
const completeAgentSchema = z.strictObject({ summary: text.optional() })

export interface AgentAssignment {
  /** The agent's branch: `task/<slug>/<agent>`. */
  agentBranch: string
  taskContext: TaskContext
}

/** The outcome of a merge. */
export interface MergeResult {
  /** Facts created or confirmed on the target. */
  mergedCount: number
  /** Facts that lost against a contradicting fact. */
  rejectedCount: number
  conflicts: AgentCompleted['conflicts']
  mergeId: string
}

export interface AgentCompletion extends MergeResult {
  /** The consolidation of its observations before the merge. */
  consolidation: AgentCompleted['consolidation']
}

const objectiveUpdateSchema = z.strictObject({
  status: z.enum(objectiveStatuses),
  agentId: text.optional(),
  notes: z.string().optional(),
})
export interface ObjectiveUpdate {
  status: ObjectiveStatus
  /** The agent that works on it. Default: unchanged. */
  agentId?: string
  notes?: string
}

const completeTaskSchema = z.strictObject({
  resultSummary: text.optional(),
  mergeToParent: z.boolean().default(true),
  archiveBranches: z.boolean().default(false),
  completeAgents: z.boolean().default(false),
  requireObjectives: z.boolean().default(false),
})
export interface CompleteTaskOptions {
  /** The outcome of the task. */
  resultSummary?: string
  /** False: no fact is merged. Default true: durable facts, and no others, are merged into the parent branch. */
  mergeToParent?: boolean
  /** True: archives its branches, which stay readable. Default false. */
  archiveBranches?: boolean
  /** True: completes agents that are still active. Default false: they cause a refusal. */
  completeAgents?: boolean
  /** True: refuses while an objective is not done. Default false. */
  requireObjectives?: boolean
}

export interface TaskCompletion {
  taskId: string
  status: TaskStatus
  /** Null if nothing was to be merged. */
  mergeResult: MergeResult | null
  durableFactIds: string[]
  ephemeralCount: number
}

/**
 * Tasks on which several agents work with a shared memory.
 *
 * @example
 * const tasks = new TaskEngine(engine)
 * const { id } = await tasks.createTask('fix-auth', { objectives: ['Fix the middleware', 'Add tests'] })
 * await tasks.assignAgent(id, 'agent_1', { role: 'implementer', assignedObjectives: [1] })
 * await tasks.completeAgent(id, 'agent_1', { summary: 'The middleware refreshes tokens.' })
 * await tasks.completeTask(id, { resultSummary: 'Users stay signed in.' })
 */
export class TaskEngine {
  readonly #call: EngineCaller

  /** @throws TaskEngineError INVALID_INPUT for a value that is not an engine. */
  constructor(engine: Engine) {
    this.#call = engineCallerOf(engine, 'TaskEngine', toTaskError)
  }

  /**
   * Creates a task with its branch `task/<slug>`, or neither. A second task with the same name gets another branch name.
   * @throws TaskEngineError NOT_FOUND for the parent branch, INVALID_INPUT.
   */
  createTask(name: string, options: CreateTaskOptions = {}): Promise<Task> {
    return this.#call(async (engine) => {
      const { description = '', ...given } = parse(createTaskSchema, options, 'createTask')
      const texts = { name: requireText(name, 'the name'), ...(description.trim() === '' ? {} : { description }) }
      const { taskId } = await engine.bus.call('task:create', { ...given, ...texts }, fromDay1)
      return taskOf(await contextIn(engine, taskId))
    })
  }

  /** @throws TaskNotFoundError */
  getTask(taskId: string): Promise<Task> {
    return this.#call(async (engine) => taskOf(await contextIn(engine, taskId)))
  }

  /** Lists tasks, latest first, without their agents and objectives, which `getTask` returns. */
  listTasks(options: ListTasksOptions = {}): Promise<TaskSummary[]> {
    return this.#call(async (engine) => {
      const filter = parse(listTasksSchema, options, 'listTasks')
      const status = filter.status === undefined ? undefined : canonicalStatusesOf(filter.status)
      const { tasks } = await engine.bus.call('task:teams', { ...filter, status }, fromDay1)
      return tasks.map(summaryOf)
    })
  }

  /**
   * Adds an agent with a branch of its own, `task/<slug>/<agent>`. An agent that has completed its work may return and continues there.
   * @throws TaskNotFoundError; TaskEngineError ALREADY_ACTIVE, NOT_FOUND for an objective, INVALID_TRANSITION for an ended task.
   */
  assignAgent(taskId: string, agentId: string, options: AssignAgentOptions = {}): Promise<AgentAssignment> {
    return this.#call(async (engine) => {
      const { role, assignedObjectives: objectives } = parse(assignAgentSchema, options, 'assignAgent')
      const request = { taskId, agentId, role, objectives }
      const { branch, context } = await engine.bus.call('agent:join', request, fromDay1)
      return { agentBranch: branch, taskContext: contextOf(context) }
    })
  }

  /** The same as `assignAgent`. */
  joinTask(taskId: string, agentId: string, options: AssignAgentOptions = {}): Promise<AgentAssignment> {
    return this.assignAgent(taskId, agentId, options)
  }

  /**
   * Completes an agent's work: consolidates its sessions and facts, merges its branch into the task's, and sets its active objectives to
   * done. All or nothing.
   * @throws TaskNotFoundError; TaskEngineError NOT_ACTIVE, NOT_FOUND for an agent that never joined.
   */
  completeAgent(taskId: string, agentId: string, options: { summary?: string } = {}): Promise<AgentCompletion> {
    return this.#call(async (engine) => {
      const { summary } = parse(completeAgentSchema, options, 'completeAgent')
      const { consolidation, ...merge } = await engine.bus.call(
        'agent:complete',
        { taskId, agentId, summary },
        fromDay1,
      )
      return { ...mergeResultOf(merge), consolidation }
    })
  }

  /**
   * Changes an objective. Any status may follow any other; each change is logged with time and agent.
   * @throws TaskNotFoundError; TaskEngineError NOT_FOUND for the objective, INVALID_INPUT for an unknown status.
   */
  updateObjective(taskId: string, objectiveId: number, change: ObjectiveUpdate): Promise<Task> {
    return this.#call(async (engine) => {
      const given = parse(objectiveUpdateSchema, change, 'updateObjective')
      await engine.bus.call('objective:update', { taskId, objectiveId, ...given }, fromDay1)
      return taskOf(await contextIn(engine, taskId))
    })
  }

  /**
   * Completes a task and classifies its facts. A second call resolves to the first outcome.
   * @throws TaskNotFoundError; TaskEngineError AGENTS_ACTIVE, OBJECTIVES_OPEN, INVALID_TRANSITION, BLOCKED.
   */
  completeTask(taskId: string, options: CompleteTaskOptions = {}): Promise<TaskCompletion> {
    return this.#call(async (engine) => {
      const given = parse(completeTaskSchema, options, 'completeTask')
      const { resultSummary: summary, mergeToParent: merge, archiveBranches: archive, completeAgents, ...rest } = given
      const agents = completeAgents ? 'complete' : 'refuse'
      const request = { taskId, summary, merge, archive, agents, ...rest } as const
      const done = await engine.bus.call('task:complete', request, fromDay1)
      return {
        taskId: done.taskId,
        status: day1StatusOf(done.status),
        mergeResult: done.merge === null ? null : mergeResultOf(done.merge),
        durableFactIds: done.durable,
        ephemeralCount: done.ephemeral,
      }
    })
  }

  /** The context for a new agent: objectives, the work of each agent, key facts, progress. @throws TaskNotFoundError */
  getTaskContext(taskId: string): Promise<TaskContext> {
    return this.#call(async (engine) => contextOf(await contextIn(engine, taskId)))
  }

  /** The context as text, for people and models. @throws TaskNotFoundError */
  renderTaskContext(taskId: string): Promise<string> {
    return this.#call(async (engine) => {
      const { text = '' } = await engine.bus.call('task:context', { taskId, format: 'text' }, fromDay1)
      return text
    })
  }
}

/** Without `format` the result is the whole context. */
async function contextIn(engine: Engine, taskId: string): Promise<TeamContext> {
  return (await engine.bus.call('task:context', { taskId }, fromDay1)) as TeamContext
}

function mergeResultOf({ merged, rejected, conflicts, mergeId }: Omit<AgentCompleted, 'consolidation'>): MergeResult {
  return { mergedCount: merged, rejectedCount: rejected, conflicts, mergeId }
}
