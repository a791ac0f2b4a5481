// Day1's TaskEngine: tasks, the agents on them, objectives, completion and context. Each method is one call of an ability; what it
// resolves to is said in Day1's words.
import { z } from 'zod'
import { parse, requireText } from '../../core/parse.ts'
import type { Engine } from '../../engine-api.ts'
import { fieldsFor, type GivenFields } from '../../entities/task-fields.ts'
import { maxObjectives, type ObjectiveStatus, objectiveStatuses } from '../../entities/team.ts'
import type { AgentCompleted } from '../../team/complete-agent.ts'
import type { TeamContext } from '../../team/context.ts'
import { type Ask, askOf, fromDay1, toTaskError } from './day1-engine.ts'
import {
  contextOf,
  statesOf,
  summaryOf,
  type Task,
  type TaskContext,
  type TaskStatus,
  type TaskSummary,
  taskOf,
  taskWords,
  wordOf,
} from './task.ts'

const text = z.string().trim().min(1)
const fields = fieldsFor('create')

const createTaskSchema = z
  .strictObject(fields)
  .pick({ description: true, objectives: true, parentBranch: true, type: true, tags: true })
export interface CreateTaskOptions extends Pick<GivenFields<'create'>, keyof z.input<typeof createTaskSchema>> {}

const listTasksSchema = z.strictObject({
  status: z.enum(taskWords).optional(),
  type: fields.type,
  limit: z.int().min(1).max(1_000).default(20),
})
export interface ListTasksOptions {
  /** All tasks in one of the four states: `failed` holds canceled ones too. */
  status?: TaskStatus
  type?: string
  /** Default 20. */
  limit?: number
}

export interface AssignAgentOptions {
  /** What it does: `implementer`, `reviewer`. */
  role?: string
  /** Ids of objectives, which become active and its own. */
  assignedObjectives?: readonly number[]
}

const assignAgentSchema = z.strictObject({
  role: text.optional(),
  assignedObjectives: z.array(z.int().min(1)).max(maxObjectives).optional(),
})
const completeAgentSchema = z.strictObject({ summary: text.optional() })

export interface AgentAssignment {
  /** Its own branch: `task/<slug>/<agent>`. */
  agentBranch: string
  taskContext: TaskContext
}

/** What a merge came to. */
export interface MergeResult {
  /** Facts that the target holds by it, new or more certain. */
  mergedCount: number
  /** Facts that gave way to one that contradicts them. */
  rejectedCount: number
  conflicts: AgentCompleted['conflicts']
  mergeId: string
}

export interface AgentCompletion extends MergeResult {
  /** What was made of its observations before. */
  consolidation: AgentCompleted['consolidation']
}

const objectiveUpdateSchema = z.strictObject({
  status: z.enum(objectiveStatuses),
  agentId: text.optional(),
  notes: z.string().optional(),
})
export interface ObjectiveUpdate {
  status: ObjectiveStatus
  /** Who works on it. Default: as it is. */
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
  /** What the task came to. */
  resultSummary?: string
  /** False: no fact leaves its branch. Default true: those that are durable reach the parent branch, and no others. */
  mergeToParent?: boolean
  /** True: its branches take nothing new; what they hold can be read. Default false: they are kept. */
  archiveBranches?: boolean
  /** True: ends the work of agents that are still active. Default false: then they are a reason to refuse. */
  completeAgents?: boolean
  /** True: an objective that is not done is a reason to refuse. Default false. */
  requireObjectives?: boolean
}

export interface TaskCompletion {
  taskId: string
  status: TaskStatus
  /** Null when nothing was to be merged. */
  mergeResult: MergeResult | null
  durableFactIds: string[]
  ephemeralCount: number
}

/**
 * Tasks that several agents work on with one memory.
 *
 * @example
 * const tasks = new TaskEngine(engine)
 * const { id } = await tasks.createTask('fix-auth', { objectives: ['Fix the middleware', 'Add tests'] })
 * await tasks.assignAgent(id, 'agent_1', { role: 'implementer', assignedObjectives: [1] })
 * await tasks.completeAgent(id, 'agent_1', { summary: 'The middleware refreshes tokens.' })
 * await tasks.completeTask(id, { resultSummary: 'Users stay signed in.' })
 */
export class TaskEngine {
  readonly #ask: Ask

  /** @throws TaskEngineError INVALID_INPUT for what is no engine. */
  constructor(engine: Engine) {
    this.#ask = askOf(engine, 'TaskEngine', toTaskError)
  }

  /**
   * Makes a task with its branch `task/<slug>`, or neither. A second one of the same name gets a branch of another name.
   * @throws TaskEngineError NOT_FOUND for the parent branch, INVALID_INPUT.
   */
  createTask(name: string, options: CreateTaskOptions = {}): Promise<Task> {
    return this.#ask(async (engine) => {
      const { description = '', ...given } = parse(createTaskSchema, options, 'createTask')
      const said = { name: requireText(name, 'the name'), ...(description.trim() === '' ? {} : { description }) }
      const { taskId } = await engine.bus.call('task:create', { ...given, ...said }, fromDay1)
      return taskOf(await contextIn(engine, taskId))
    })
  }

  /** @throws TaskNotFoundError */
  getTask(taskId: string): Promise<Task> {
    return this.#ask(async (engine) => taskOf(await contextIn(engine, taskId)))
  }

  /** The latest first, without what belongs to them: `getTask` has that. */
  listTasks(options: ListTasksOptions = {}): Promise<TaskSummary[]> {
    return this.#ask(async (engine) => {
      const filter = parse(listTasksSchema, options, 'listTasks')
      const status = filter.status === undefined ? undefined : statesOf(filter.status)
      const { tasks } = await engine.bus.call('task:teams', { ...filter, status }, fromDay1)
      return tasks.map(summaryOf)
    })
  }

  /**
   * An agent joins with a branch of its own, `task/<slug>/<agent>`. One that has completed its work may come back: it goes on there.
   * @throws TaskNotFoundError; TaskEngineError ALREADY_ACTIVE, NOT_FOUND for an objective, INVALID_TRANSITION for a task that is over.
   */
  assignAgent(taskId: string, agentId: string, options: AssignAgentOptions = {}): Promise<AgentAssignment> {
    return this.#ask(async (engine) => {
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
   * An agent has done its part: its sessions are consolidated, then its facts, and its branch is merged into that of the task. Its
   * active objectives are done. All of it or nothing.
   * @throws TaskNotFoundError; TaskEngineError NOT_ACTIVE, NOT_FOUND for an agent that never joined.
   */
  completeAgent(taskId: string, agentId: string, options: { summary?: string } = {}): Promise<AgentCompletion> {
    return this.#ask(async (engine) => {
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
   * Any status may follow any other; each change is logged with its time and agent.
   * @throws TaskNotFoundError; TaskEngineError NOT_FOUND for the objective, INVALID_INPUT for any other status.
   */
  updateObjective(taskId: string, objectiveId: number, change: ObjectiveUpdate): Promise<Task> {
    return this.#ask(async (engine) => {
      const given = parse(objectiveUpdateSchema, change, 'updateObjective')
      await engine.bus.call('objective:update', { taskId, objectiveId, ...given }, fromDay1)
      return taskOf(await contextIn(engine, taskId))
    })
  }

  /**
   * Completes a task and classifies its facts. Completed again, it resolves to what the first time came to.
   * @throws TaskNotFoundError; TaskEngineError AGENTS_ACTIVE, OBJECTIVES_OPEN, INVALID_TRANSITION, BLOCKED.
   */
  completeTask(taskId: string, options: CompleteTaskOptions = {}): Promise<TaskCompletion> {
    return this.#ask(async (engine) => {
      const given = parse(completeTaskSchema, options, 'completeTask')
      const { resultSummary: summary, mergeToParent: merge, archiveBranches: archive, completeAgents, ...rest } = given
      const agents = completeAgents ? 'complete' : 'refuse'
      const request = { taskId, summary, merge, archive, agents, ...rest } as const
      const done = await engine.bus.call('task:complete', request, fromDay1)
      return {
        taskId: done.taskId,
        status: wordOf(done.status),
        mergeResult: done.merge === null ? null : mergeResultOf(done.merge),
        durableFactIds: done.durable,
        ephemeralCount: done.ephemeral,
      }
    })
  }

  /** All that a new agent has to know: objectives, what each agent did, key facts, progress. @throws TaskNotFoundError */
  getTaskContext(taskId: string): Promise<TaskContext> {
    return this.#ask(async (engine) => contextOf(await contextIn(engine, taskId)))
  }

  /** The same as text, for people and models. @throws TaskNotFoundError */
  renderTaskContext(taskId: string): Promise<string> {
    return this.#ask(async (engine) => {
      const { text = '' } = await engine.bus.call('task:context', { taskId, format: 'text' }, fromDay1)
      return text
    })
  }
}

/** Without a format it is whole. */
async function contextIn(engine: Engine, taskId: string): Promise<TeamContext> {
  return (await engine.bus.call('task:context', { taskId }, fromDay1)) as TeamContext
}

function mergeResultOf({ merged, rejected, conflicts, mergeId }: Omit<AgentCompleted, 'consolidation'>): MergeResult {
  return { mergedCount: merged, rejectedCount: rejected, conflicts, mergeId }
}
