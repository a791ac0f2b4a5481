// Brings the ledger to where a round of a plan can go on: creates what is missing, gives changed tasks their new
// definition, failed ones a new attempt, and lets go of what was held. All before anything runs, and each step safe to
// be repeated: killed anywhere in between, the next run judges anew and does what is left.

import type { TaskPatch } from '../api/options.ts'
import { systemClock } from '../core/clock.ts'
import { ErrandError } from '../core/errors.ts'
import type { CreateOptions, Engine } from '../engine-api.ts'
import { isSettled, type Task } from '../entities/task.ts'
import { type FieldOf, resetValue, updateFields, workFields } from '../entities/task-fields.ts'
import { allTasks } from './each-task.ts'
import { deadlineOf, isGoal, type Plan, type PlanTask } from './plan.ts'
import { planFields } from './plan-schema.ts'
import {
  blockersOf,
  type Decision,
  decide,
  hasOldEdges,
  isChanged,
  type KnownRound,
  type KnownTask,
  knownRound,
  markOf,
  newGeneration,
  type PlanMark,
  type RoundRequest,
  takesDefinition,
  withMark,
} from './round.ts'
import { generationKey, roundPrefixes, taskKey } from './round-key.ts'

export interface PrepareOptions extends RoundRequest {
  plan: Plan
  round: string
  /** The round as it was just read. */
  found: KnownRound
  /** Unique to this call of the command line: tells the generation that it made from that of a process beside it. */
  invocation: string
}

export interface PreparedRound {
  /** What was decided before anything was changed, for people. */
  decisions: Decision[]
  known: KnownRound
}

/** How often another process may be faster before this one gives up; each time the round is judged anew. */
const maxRaces = 100

export async function readRound(engine: Engine, round: string): Promise<KnownRound> {
  const pages = await Promise.all(roundPrefixes(round).map((keyPrefix) => allTasks(engine, { keyPrefix })))
  // Metadata can be changed, keys cannot: a mark counts only on the task that was made under its name.
  return knownRound(pages.flat().filter((task) => isMarkedAsKeyed(task, round)))
}

function isMarkedAsKeyed(task: Task, round: string): boolean {
  const mark = markOf(task)
  if (mark === undefined) return false
  const { generation, path } = mark
  return task.key === (path === '' ? generationKey(round, generation) : taskKey(round, generation, path))
}

/** @throws ErrandError whatever the engine refuses; nothing has run then. */
export async function prepareRound(engine: Engine, options: PrepareOptions): Promise<PreparedRound> {
  const { decisions, known } = await createMissing(engine, options)
  await alignDefinitions(engine, options.plan, known)
  await retire(engine, decisions)
  await release(engine, decisions)
  return { decisions, known: await readRound(engine, options.round) }
}

async function createMissing(engine: Engine, options: PrepareOptions): Promise<PreparedRound> {
  const { plan, round, invocation } = options
  let { found } = options
  for (let lost = 0; lost < maxRaces; lost++) {
    const known: KnownRound = { ...found, nextGeneration: found.nextGeneration + lost }
    checkKinds(plan, known)
    const decisions = decide(plan, known, options)
    const generation = newGeneration(plan, known, decisions, { round, invocation, now: systemClock.now() })
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

/** False when the generation is another process's, or was deleted: then the round must be judged anew. */
async function createGeneration(engine: Engine, generation: CreateOptions, invocation: string): Promise<boolean> {
  try {
    return markOf(await engine.create(generation))?.invocation === invocation
  } catch (error) {
    if (ErrandError.isInstance(error) && error.code === 'KEY_CONFLICT') return false
    throw error
  }
}

/** A name that was a command cannot become a group within a round: its dependents would not know what to wait for. */
function checkKinds(plan: Plan, known: KnownRound): void {
  for (const task of plan.byPath.values()) {
    const found = known.newest.get(task.path)
    if (found === undefined) continue
    const was = kindText(found.task)
    const is = kindText({ group: task.group, executor: task.spec.executor ?? null })
    // Without a model, earlier versions left a goal to whoever claimed it.
    if (was === is || (isGoal(task) && found.task.goal !== null)) continue
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

/** New definitions and new dependencies, for whatever can still take them. */
async function alignDefinitions(engine: Engine, plan: Plan, known: KnownRound): Promise<void> {
  for (const task of plan.byPath.values()) {
    const found = known.newest.get(task.path)
    if (found === undefined) continue
    const changed = isChanged(plan, task, found.mark)
    const align = () => engine.update(found.task.id, patchOf(task, plan, known, found))
    if (task.group) {
      if (changed) await align()
    } else if (takesDefinition(found.task) && (changed || hasOldEdges(task, plan, known, found.mark))) {
      await unlessOvertaken(align)
    }
  }
}

function patchOf(task: PlanTask, plan: Plan, known: KnownRound, { task: present, mark }: KnownTask): TaskPatch {
  // The tasks in a group carry what it comes after, so nothing of it is left to be told.
  if (task.group) return definitionPatch(task, mark, fieldsOfGroups)
  const { spec } = task
  const edges = known.nextGeneration - 1
  const { ids } = blockersOf(task.comesAfter, plan, known, () => false)
  const blockedBy = [...ids, ...(spec.blockedBy ?? [])]
  // An agent that has begun keeps what it was given.
  if (present.executor === 'agent' && isGoal(task)) {
    return { blockedBy, metadata: withMark(spec.metadata, { ...mark, edges }) }
  }
  const { folder } = plan
  return { ...definitionPatch(task, { ...mark, folder, edges }, alignedFields), input: spec.input ?? null, blockedBy }
}

/** What a plan says and `update` takes. */
const alignedFields = planFields.filter((field) => Object.hasOwn(updateFields, field)) as Array<
  FieldOf<'plans'> & FieldOf<'update'>
>
const fieldsOfGroups = alignedFields.filter((field) => !workFields.includes(field))

/** What the plan says now, with what holds where it does not say it. */
function definitionPatch(task: PlanTask, mark: PlanMark, fields: typeof alignedFields): TaskPatch {
  const { spec, name, definitionHash: definition } = task
  return {
    ...Object.fromEntries(fields.map((field) => [field, spec[field as keyof typeof spec] ?? resetValue(field)])),
    // Where only what it comes after has changed, its time does not begin anew.
    deadline: mark.definition === definition ? undefined : (deadlineOf(task, systemClock.now()) ?? null),
    name: spec.name ?? name,
    metadata: withMark(spec.metadata, { ...mark, definition }),
  }
}

/**
 * Goals that are made anew before they had begun: the old ones must not be worked on beside the new. Only when whatever came after
 * them comes after the new ones.
 */
async function retire(engine: Engine, decisions: readonly Decision[]): Promise<void> {
  for (const { known, action } of decisions) {
    if (action !== 'redo' || known === undefined || isSettled(known.task.status)) continue
    const task = await engine.get(known.task.id)
    // Whoever has claimed it meanwhile keeps it. Deleted and not canceled: the group that it is in did not fail.
    if (task !== null && task.run === 0 && task.owner === null) await engine.delete(task.id)
  }
}

/** Failed tasks that are needed get a new attempt, held ones are let go. */
async function release(engine: Engine, decisions: readonly Decision[]): Promise<void> {
  for (const { task: planned, known, action, needed } of decisions) {
    if (known === undefined || !needed) continue
    const { task, mark } = known
    if (action === 'retry') await unlessOvertaken(() => retry(engine, task, planned))
    else if (mark.held && task.status === 'submitted' && (await engine.why(task.id)).reason === 'held') {
      await unlessOvertaken(() => engine.start(task.id))
    }
  }
}

/** With the time for it begun anew, before the attempt: the old deadline must not end it. */
async function retry(engine: Engine, task: Task, planned: PlanTask): Promise<void> {
  if (planned.deadline !== undefined && 'afterMs' in planned.deadline)
    await engine.update(task.id, { deadline: deadlineOf(planned, systemClock.now()) ?? null })
  await engine.retry(task.id)
}

/** Another run of the same plan may have done the same a moment ago; that is what was wanted. */
async function unlessOvertaken(step: () => Promise<unknown>): Promise<void> {
  try {
    await step()
  } catch (error) {
    if (!ErrandError.isInstance(error) || error.code !== 'INVALID_TRANSITION') throw error
  }
}
