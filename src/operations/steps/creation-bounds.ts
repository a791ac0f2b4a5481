// Checks how many tasks a model creates: in all, as children of one task, and in levels. The check is part of the step that creates them,
// so that models that create at the same time do not exceed a bound together.
import { boundsOf, type Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import type { CreationBounds, TaskBounds, TaskBudget } from '../../entities/creation-bounds.ts'
import type { TaskRecord } from '../../entities/task.ts'
import type { NewTask, Op, Reads, Tx } from '../../ledger/ledger.ts'

/** What the caller of a creation may create. */
export interface Allowance {
  /** Undefined for a caller without bounds: what it creates inherits those of the task above. */
  given: CreationBounds | undefined
  /** The caller's own task. */
  own: TaskRecord | undefined
  /** The tasks at which budgets began, by id; undefined for a purged task, whose budget has ended. */
  holders: Map<string, TaskRecord | undefined>
}

/** Reads what the check of new children of stored parents needs. */
export function* loadAllowance(tx: Reads, caller: Caller | undefined, parents: Iterable<TaskRecord>): Op<Allowance> {
  const given = caller && boundsOf(caller)
  const allowance: Allowance = { given, own: undefined, holders: new Map() }
  if (given === undefined) return allowance
  if (caller?.taskId !== undefined) allowance.own = yield* tx.task.get(caller.taskId)
  for (const parent of parents) {
    const began = (parent.policy.bounds?.budgets ?? []).map(({ of }) => of)
    for (const id of [(allowance.own ?? parent).id, ...began]) {
      if (!allowance.holders.has(id)) allowance.holders.set(id, yield* tx.task.get(id))
    }
  }
  return allowance
}

/**
 * The bounds that a new task keeps for what models create below it; undefined where none apply.
 * @throws ErrandError LIMIT_EXCEEDED for a level that is too deep.
 */
export function boundsOfNew(
  { id, name }: Pick<NewTask, 'id' | 'name'>,
  parent: NewTask | undefined,
  allowance: Allowance,
): TaskBounds | undefined {
  const { given, own } = allowance
  if (parent === undefined) {
    if (given === undefined) return undefined
    return { budgets: [{ of: id, maxTasks: given.maxTasks }], maxChildren: given.maxChildren, maxDepth: given.maxDepth }
  }
  const kept = parent.policy.bounds
  if (given === undefined) return kept && { ...kept, maxDepth: Math.max(kept.maxDepth - 1, 0) }
  const levels = given.maxDepth - (own === undefined ? 0 : parent.depth - own.depth)
  const maxDepth = Math.min(levels, kept?.maxDepth ?? levels)
  if (maxDepth < 1) throw tooDeep(name, parent, given)
  return {
    budgets: budgetsBelow(parent, given, allowance),
    maxChildren: Math.min(given.maxChildren, kept?.maxChildren ?? given.maxChildren),
    maxDepth: maxDepth - 1,
  }
}

/** The budgets of the parent, and one that begins at the caller's own task, or at the parent, if it is narrower than all of them. */
function budgetsBelow(parent: NewTask, { maxTasks }: CreationBounds, { own, holders }: Allowance): TaskBudget[] {
  const of = (own ?? parent).id
  const isPurged = (budget: TaskBudget): boolean => holders.has(budget.of) && holders.get(budget.of) === undefined
  const kept = (parent.policy.bounds?.budgets ?? []).filter((budget) => !isPurged(budget))
  if (kept.some((budget) => budget.of === of)) {
    return kept.map((budget) => (budget.of === of ? { of, maxTasks: Math.min(maxTasks, budget.maxTasks) } : budget))
  }
  return kept.every((budget) => budget.maxTasks > maxTasks) ? [...kept, { of, maxTasks }] : kept
}

/**
 * Counts new tasks in their budgets. The counts of new tasks are set in their rows; those of stored tasks are returned, to be added.
 * @throws ErrandError LIMIT_EXCEEDED
 */
export function spendBudgets(tasks: readonly NewTask[], { given, holders }: Allowance): Map<string, number> {
  const spent = new Map<string, number>()
  if (given === undefined) return spent
  for (const { id, policy } of tasks) {
    for (const { of, maxTasks } of policy.bounds?.budgets ?? []) {
      if (of === id) continue
      const made = (spent.get(of) ?? 0) + 1
      spent.set(of, made)
      const before = holders.get(of)?.madeBelow ?? 0
      if (before + made > maxTasks) throw tooMany(tasks.length, of, before, maxTasks)
    }
  }
  for (const task of tasks) {
    task.madeBelow = spent.get(task.id) ?? 0
    spent.delete(task.id)
  }
  return spent
}

export function* saveSpent(tx: Tx, spent: ReadonlyMap<string, number>): Op<void> {
  for (const [id, made] of spent) yield* tx.task.addMade(id, made)
}

/**
 * Checks how many children a model gives one task: its own, or one that has bounds. The children of all other tasks are bounded by the
 * program.
 * @throws ErrandError LIMIT_EXCEEDED
 */
export function requireFewChildren(parent: NewTask, added: number, before: number, { given, own }: Allowance): void {
  const { bounds } = parent.policy
  if (given === undefined || (bounds === undefined && parent.id !== own?.id)) return
  const value = Math.min(given.maxChildren, bounds?.maxChildren ?? given.maxChildren)
  if (before + added <= value) return
  throw new ErrandError(
    'LIMIT_EXCEEDED',
    `Cannot add ${added} children to ${parent.id}: it has had ${before} children, and models may create ${value} below one task (\`bounds.maxChildren\`). Create them below its children, or do the work in fewer tasks.`,
    { limit: 'bounds.maxChildren', value, parentId: parent.id, children: before },
  )
}

function tooMany(added: number, of: string, before: number, value: number): ErrandError {
  return new ErrandError(
    'LIMIT_EXCEEDED',
    `Cannot add ${added === 1 ? 'a task' : `${added} tasks`} below ${of}: models and clients have created ${before} tasks below it in its whole life, ended and deleted ones included, and at most ${value} are allowed (\`bounds.maxTasks\`). Work in tasks that exist, or create below another task; the program can raise \`bounds.maxTasks\` of the agent, of \`boardTools\` or of the MCP server (\`errand mcp --max-tasks\`), but a task that a model has created keeps its bounds.`,
    { limit: 'bounds.maxTasks', value, taskId: of, made: before },
  )
}

function tooDeep(name: string, parent: NewTask, { maxDepth }: CreationBounds): ErrandError {
  return new ErrandError(
    'LIMIT_EXCEEDED',
    `Cannot add "${name}" below ${parent.id}: models may create ${maxDepth} levels of tasks (\`bounds.maxDepth\`), and ${parent.id} is on the last one. Add it further up.`,
    { limit: 'bounds.maxDepth', value: maxDepth, parentId: parent.id },
  )
}
