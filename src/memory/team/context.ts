// The context of a team's task for a new agent: the task, its objectives, the work of other agents, and the facts of its branch. Read in
// one transaction, for people and models.
import { z } from 'zod'
import type { Caller } from '../../bus/caller.ts'
import { once } from '../../core/once.ts'
import { summaryCategory, toFraction } from '../../entities/confidence.ts'
import type { BranchRecord, FactRecord } from '../../entities/memory.ts'
import { type Source, sourceSchema } from '../../entities/source.ts'
import { type TaskRecord, type TaskStatus, taskStatuses } from '../../entities/task.ts'
import {
  type ObjectiveStatus,
  objectiveSchema,
  objectiveStatuses,
  type StintRecord,
  type TeamRecord,
} from '../../entities/team.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'
import type { MemoryHost } from '../memory-host.ts'
import { type Objective, toObjective } from './objectives.ts'
import { loadShared } from './team-scope.ts'

/** Times are epoch milliseconds. */
export const teamTaskSchema = once(() =>
  z.object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    type: z.string().nullable(),
    tags: z.array(z.string()),
    status: z.enum(taskStatuses),
    branch: z.string().nullable(),
    parentBranch: z.string().nullable(),
    summary: z.string().nullable(),
    createdAt: z.number(),
    updatedAt: z.number(),
    completedAt: z.number().nullable(),
  }),
)
/** A team's task. Times are epoch milliseconds. */
export interface TeamTask {
  id: string
  name: string
  description: string
  /** The kind of work; null if not given. */
  type: string | null
  tags: string[]
  status: TaskStatus
  /** Null for a task without a team. */
  branch: string | null
  parentBranch: string | null
  /** The outcome, as given when the task was completed. */
  summary: string | null
  createdAt: number
  updatedAt: number
  completedAt: number | null
}

const agentShape = once(() => ({ agentId: z.string(), role: z.string().nullable() }))

const agentSummarySchema = once(() => z.object({ ...agentShape(), summary: z.string() }))
export interface AgentSummary {
  agentId: string
  role: string | null
  summary: string
}

const activeAgentSchema = once(() => z.object({ ...agentShape(), objectives: z.array(z.int()) }))
/** `objectives`: the numbers of the agent's objectives. */
export interface ActiveAgent {
  agentId: string
  role: string | null
  /** The numbers of the agent's objectives. */
  objectives: number[]
}

const keyFactSchema = once(() =>
  z.object({
    id: z.string(),
    text: z.string(),
    category: z.string(),
    confidence: z.number(),
    statedBy: z.array(sourceSchema()),
    agentId: z.string().nullable(),
  }),
)
export interface KeyFact {
  id: string
  text: string
  category: string
  /** 0 to 1. */
  confidence: number
  /** The sources that stated or confirmed the fact. */
  statedBy: Source[]
  agentId: string | null
}

const count = once(() => z.int().min(0))

export const teamContextSchema = once(() =>
  z.object({
    task: teamTaskSchema(),
    objectives: z.array(objectiveSchema()),
    agentSummaries: z.array(agentSummarySchema()),
    activeAgents: z.array(activeAgentSchema()),
    keyFacts: z.array(keyFactSchema()),
    progress: z.object({ total: count(), done: count(), active: count(), todo: count(), blocked: count() }),
  }),
)
export interface TeamContext {
  task: TeamTask
  objectives: Objective[]
  /** Of agents that have completed their work, in the order of their first joining. */
  agentSummaries: AgentSummary[]
  activeAgents: ActiveAgent[]
  /** The newest active facts of the task's branch, latest first. */
  keyFacts: KeyFact[]
  progress: Record<'total' | ObjectiveStatus, number>
}

/** Returns the context of a task; empty lists without a team. @throws ErrandError NOT_FOUND, FORBIDDEN */
export function teamContext(host: MemoryHost, caller: Caller, taskId: string): Promise<TeamContext> {
  return host.read(function* (tx): Op<TeamContext> {
    return yield* readContext(tx, yield* loadShared(tx, caller, taskId))
  })
}

/** `teamContext` as a part of another read or step. */
export function* readContext(tx: Reads, task: TaskRecord): Op<TeamContext> {
  const team = yield* tx.team.get(task.id)
  const branch = yield* tx.branch.ofTask(task.id)
  const objectives = (yield* tx.team.objectives(task.id)).map(toObjective)
  const stints = yield* tx.team.stints(task.id)
  return {
    task: toTeamTask(task, team, branch),
    objectives,
    agentSummaries: yield* summariesOf(tx, stints),
    activeAgents: stints.filter(isActive).map((stint) => toActiveAgent(stint, objectives)),
    keyFacts: branch === undefined ? [] : (yield* newestFacts(tx, branch.name)).map(toKeyFact),
    progress: progressOf(objectives),
  }
}

/** `branch`: the task's own branch, which may exist without a team. */
export function toTeamTask(
  task: TaskRecord,
  team: TeamRecord | undefined,
  branch?: Pick<BranchRecord, 'name' | 'parent'>,
): TeamTask {
  return {
    id: task.id,
    name: task.name,
    description: task.description === '' ? (task.goal ?? '') : task.description,
    type: team?.type ?? null,
    tags: task.tags,
    status: task.status,
    branch: team?.branch ?? branch?.name ?? null,
    parentBranch: team?.parentBranch ?? branch?.parent ?? null,
    summary: team?.summary ?? null,
    createdAt: task.createdAt,
    updatedAt: task.updatedAt,
    completedAt: task.completedAt,
  }
}

function isActive({ status }: StintRecord): boolean {
  return status === 'active'
}

/** The summary of each agent's latest completed stint, or if it gave none the summary of its facts. */
function* summariesOf(tx: Reads, stints: readonly StintRecord[]): Op<AgentSummary[]> {
  const latest = new Map<string, StintRecord>()
  for (const stint of stints) if (!isActive(stint)) latest.set(stint.agentId, stint)
  const summaries: AgentSummary[] = []
  for (const { agentId, role, branch, summary } of latest.values()) {
    const text = summary ?? (yield* tx.fact.summaryOf(branch, agentId))?.text
    if (text !== undefined) summaries.push({ agentId, role, summary: text })
  }
  return summaries
}

/** Its objectives: those taken when it joined and still its own, and those assigned since that are not done. */
function toActiveAgent(stint: StintRecord, objectives: readonly Objective[]): ActiveAgent {
  const own = objectives.filter(
    ({ id, agentId, status }) => agentId === stint.agentId && (stint.objectives.includes(id) || status !== 'done'),
  )
  return { agentId: stint.agentId, role: stint.role, objectives: own.map(({ id }) => id) }
}

/** Facts that a context shows. */
const maxKeyFacts = 20

function* newestFacts(tx: Reads, branch: string): Op<FactRecord[]> {
  const found: FactRecord[] = []
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const page = yield* tx.fact.list({ branches: [branch], status: 'active' }, maxKeyFacts, before)
    found.push(...page.filter(({ category }) => category !== summaryCategory))
    const last = page.at(-1)
    if (found.length >= maxKeyFacts || last === undefined || page.length < maxKeyFacts)
      return found.slice(0, maxKeyFacts)
    before = last.seq
  }
}

function toKeyFact({ id, text, category, confidence, statedBy, agentId }: FactRecord): KeyFact {
  return { id, text, category, confidence: toFraction(confidence), statedBy, agentId }
}

function progressOf(objectives: readonly Objective[]): TeamContext['progress'] {
  const count = (status: ObjectiveStatus) => objectives.filter((each) => each.status === status).length
  return {
    total: objectives.length,
    ...(Object.fromEntries(objectiveStatuses.map((status) => [status, count(status)])) as Record<
      ObjectiveStatus,
      number
    >),
  }
}
