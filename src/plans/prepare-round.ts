// Prepares a round of a plan: creates missing tasks, gives changed ones their new definition and failed ones a new attempt, and
// starts those that were held. Each step can be repeated: after a crash in between the next run decides anew and does the rest. The engine of
// `errand run` starts no task before all of it is done. An engine that works already may start a new task while others are still
// being changed.
import { ErrandError } from '../core/errors.ts'
import { createRandomIds } from '../core/ids.ts'
import type { CreateOptions, Engine } from '../engine/engine-api.ts'
import { timeOf } from '../entities/engine-time.ts'
import type { TaskPatch } from '../entities/options.ts'
import { isSettled, type Task } from '../entities/task.ts'
import { type FieldOf, resetValue, updateFields, workFields } from '../entities/task-fields.ts'
import {
  blockersOf,
  type Decision,
  decide,
  hasOldEdges,
  isChanged,
  newGeneration,
  type RoundRequest,
  takesDefinition,
} from './decide-round.ts'
import { deadlineOf, isGoal, type Plan, type PlanTask } from './plan.ts'
import { planFields } from './plan-schema.ts'
import {
  chooseRound,
  type KnownRound,
  type KnownTask,
  markOf,
  type PlanMark,
  planKey,
  type RoundChoice,
  readRound,
  withMark,
  withTasks,
} from './round.ts'

export interface PlanRequest extends RoundRequest, RoundChoice {
  plan: Plan
  /** Real path of the ledger, or any path in the folder that stands for one that is not a file. */
  ledger: string
  /** Called with the round before anything is changed. @throws what keeps the plan from running. */
  beforeChange?: (found: KnownRound) => Promise<void> | void
}

export interface PreparedRound {
  /** The decisions, made before anything was changed. */
  decisions: Decision[]
  /** The round after the changes. */
  known: KnownRound
}

export interface PlannedRound extends PreparedRound {
  round: string
}

/** Finds the round, and creates and changes its tasks. @throws ErrandError for any refusal; what was written before the refusal stays. */
export async function preparePlan(engine: Engine, request: PlanRequest): Promise<PlannedRound> {
  const round = await chooseRound(engine, planKey(request.plan, request.ledger), request)
  const found = await readRound(engine, round)
  await request.beforeChange?.(found)
  const invocation = createRandomIds().next('run')
  return { round, ...(await prepareRound(engine, { ...request, round, found, invocation })) }
}

interface PrepareOptions extends RoundRequest {
  plan: Plan
  round: string
  /** The round as it was just read. */
  found: KnownRound
  /** Unique to this run: distinguishes the generation that it creates from that of another process. */
  invocation: string
}

/** Attempts to create a generation before another process does; each time the round is decided anew. */
const maxRaces = 100

/**
 * Creates, changes, retries and starts the tasks of a round as decided. The round is read again only after a generation was created.
 * @throws ErrandError for any refusal of the engine; what was written before the refusal stays.
 */
async function prepareRound(engine: Engine, options: PrepareOptions): Promise<PreparedRound> {
  const { decisions, known } = await createMissing(engine, options)
  const aligned = await alignDefinitions(engine, options.plan, known)
  await retire(engine, decisions)
  const released = await release(engine, decisions)
  return { decisions, known: withTasks(withTasks(known, aligned), released) }
}

async function createMissing(engine: Engine, options: PrepareOptions): Promise<PreparedRound> {
  const { plan, round, invocation } = options
  let { found } = options
  for (let lost = 0; lost < maxRaces; lost++) {
    const known: KnownRound = { ...found, nextGeneration: found.nextGeneration + lost }
    checkKinds(plan, known)
    const decisions = decide(plan, known, options)
    const generation = newGeneration(plan, known, decisions, { round, invocation, now: timeOf(engine) })
    if (generation === undefined) return { decisions, known }
    const isCreated = await createGeneration(engine, generation, invocation)
    found = await readRound(engine, round)
    if (isCreated) return { decisions, known: found }
  }
  throw new ErrandError(
    'LEDGER_BUSY',
    `Other processes kept starting ${round} at the same moment, ${maxRaces} times. Try again.`,
    { round },
  )
}

/** False when the generation is another process's, or was deleted: then the round must be decided anew. */
async function createGeneration(engine: Engine, generation: CreateOptions, invocation: string): Promise<boolean> {
  try {
    return markOf(await engine.create(generation))?.invocation === invocation
  } catch (error) {
    if (ErrandError.isInstance(error) && error.code === 'KEY_CONFLICT') return false
    throw error
  }
}

/** A name that was a command cannot become a group within a round: it would be unclear which of the two its dependents wait for. */
function checkKinds(plan: Plan, known: KnownRound): void {
  for (const task of plan.byPath.values()) {
    const found = known.newest.get(task.path)
    if (found === undefined) continue
    const was = kindText(found.task)
    const is = kindText({ group: task.group, executor: task.spec.executor ?? null })
    if (was === is) continue
    throw new ErrandError(
      'INVALID_PLAN',
      `"${task.path}" was ${was} when this round began and is ${is} now. Give it another name, or start a new round with --again.`,
      { task: task.path },
    )
  }
}

function kindText({ group, executor }: Pick<Task, 'group' | 'executor'>): string {
  return group ? 'a group' : executor === null ? 'a task to be claimed' : 'a task'
}

/** Gives tasks their new definitions and dependencies, where they can still take effect. Returns the tasks as they are then. */
async function alignDefinitions(engine: Engine, plan: Plan, known: KnownRound): Promise<Task[]> {
  const aligned: Task[] = []
  for (const task of plan.byPath.values()) {
    const found = known.newest.get(task.path)
    if (found === undefined) continue
    const changed = isChanged(plan, task, found.mark)
    const align = () => engine.update(found.task.id, patchOf(task, plan, known, { ...found, now: timeOf(engine) }))
    if (task.group) {
      if (changed) aligned.push(await align())
    } else if (takesDefinition(found.task) && (changed || hasOldEdges(task, plan, known, found.mark))) {
      aligned.push(...(await unlessOvertaken(engine, found.task.id, align)))
    }
  }
  return aligned
}

function patchOf(
  task: PlanTask,
  plan: Plan,
  known: KnownRound,
  { task: present, mark, now }: KnownTask & { now: number },
): TaskPatch {
  // The blockers of a group are those of the tasks in it.
  if (task.group) return definitionPatch(task, mark, fieldsOfGroups, now)
  const { spec } = task
  const edges = known.nextGeneration - 1
  const { ids } = blockersOf(task.comesAfter, plan, known, () => false)
  const blockedBy = [...ids, ...(spec.blockedBy ?? [])]
  // An agent that has begun keeps its definition.
  if (present.executor === 'agent' && isGoal(task)) {
    return { blockedBy, metadata: withMark(spec.metadata, { ...mark, edges }) }
  }
  const { folder } = plan
  return {
    ...definitionPatch(task, { ...mark, folder, edges }, alignedFields, now),
    input: spec.input ?? null,
    blockedBy,
  }
}

/** Fields that both a plan and `update` take. */
const alignedFields = planFields.filter((field) => Object.hasOwn(updateFields(), field)) as Array<
  FieldOf<'plans'> & FieldOf<'update'>
>
const fieldsOfGroups = alignedFields.filter((field) => !workFields.includes(field))

/** The fields of the plan, and the default of each that it does not give. */
function definitionPatch(task: PlanTask, mark: PlanMark, fields: typeof alignedFields, now: number): TaskPatch {
  const { spec, name, definitionHash: definition } = task
  return {
    ...Object.fromEntries(fields.map((field) => [field, spec[field as keyof typeof spec] ?? resetValue(field)])),
    // A change of the blockers alone does not set a new deadline.
    deadline: mark.definition === definition ? undefined : (deadlineOf(task, now) ?? null),
    name: spec.name ?? name,
    metadata: withMark(spec.metadata, { ...mark, definition }),
  }
}

/**
 * Deletes the goals that were redone before they had begun, so that no agent works on both tasks. Done only when the tasks that came after
 * the old ones come after the new ones.
 */
async function retire(engine: Engine, decisions: readonly Decision[]): Promise<void> {
  for (const { known, action } of decisions) {
    if (action !== 'redo' || known === undefined || isSettled(known.task.status)) continue
    const task = await engine.get(known.task.id)
    // One that was claimed meanwhile stays with its owner. Deleted and not canceled: the group around it did not fail.
    if (task !== null && task.run === 0 && task.owner === null) await engine.delete(task.id)
  }
}

/** Retries failed tasks that are needed and starts held ones. Returns the tasks as they are then. */
async function release(engine: Engine, decisions: readonly Decision[]): Promise<Task[]> {
  const released: Task[] = []
  for (const { task: planned, known, action, needed } of decisions) {
    if (known === undefined || !needed) continue
    const { task, mark } = known
    if (action === 'retry')
      released.push(...(await unlessOvertaken(engine, task.id, () => retry(engine, task, planned))))
    else if (mark.held && task.status === 'submitted' && (await engine.why(task.id)).reason === 'held') {
      released.push(...(await unlessOvertaken(engine, task.id, () => engine.start(task.id))))
    }
  }
  return released
}

/** The new deadline is set before the attempt begins: the old one must not end it. */
async function retry(engine: Engine, task: Task, planned: PlanTask): Promise<Task> {
  if (planned.deadline !== undefined && 'afterMs' in planned.deadline)
    await engine.update(task.id, { deadline: deadlineOf(planned, timeOf(engine)) ?? null })
  return await engine.retry(task.id)
}

/** The task after a change, or as it is where another run of the plan made the same change first; empty for one that was deleted. */
async function unlessOvertaken(engine: Engine, taskId: string, change: () => Promise<Task>): Promise<Task[]> {
  try {
    return [await change()]
  } catch (error) {
    if (!ErrandError.isInstance(error) || error.code !== 'INVALID_TRANSITION') throw error
    const task = await engine.get(taskId)
    return task === null ? [] : [task]
  }
}
