// What is to be done with a round of a plan, judged from the plan and what the ledger has of it. Pure: reading and
// writing are in prepare-round.ts, and `--dry-run` only prints what is judged here.
//
// Completed and canceled tasks stay, failed ones get a new attempt, whatever is missing is created in a new generation.
// Nothing is ever created twice, because nothing that exists is.
import { z } from 'zod'
import type { ChildOptions, CreateOptions } from '../engine-api.ts'
import { isSettled, type Task } from '../entities/task.ts'
import { deadlineOf, inOrder, isGoal, leavesOf, type Plan, type PlanTask } from './plan.ts'
import { generationKey, taskKey } from './round-key.ts'

/**
 * What a task of a plan carries in its metadata, under `plan`: which task of which plan it is and by which definition it was made. The
 * keys could not say it, for a long path is hashed in them.
 */
const markSchema = z.object({
  /** Its path in the plan; empty for the group that holds a generation. */
  path: z.string(),
  /** Counts the groups of a round from 0; of two tasks with one path the later is the one that counts. */
  generation: z.int().min(0),
  /** The generation whose tasks its dependencies were last aligned with. */
  edges: z.int().min(0),
  /** Hash of its definition. */
  definition: z.string(),
  /** Where the plan lay: folders inside its definition begin there. */
  folder: z.string(),
  /** It was created with nothing asking for it, so it may still wait to be let go. */
  held: z.boolean(),
  /** Which call of the command line made the generation. */
  invocation: z.string(),
})

export type PlanMark = z.infer<typeof markSchema>

/** A task of a plan as the ledger has it. */
export interface KnownTask {
  task: Task
  mark: PlanMark
}

export function markOf(task: Pick<Task, 'metadata'>): PlanMark | undefined {
  return markSchema.safeParse(task.metadata['plan']).data
}

/** The metadata of a task: the user's, and the mark. */
export function withMark(metadata: Record<string, unknown> | undefined, mark: PlanMark): Record<string, unknown> {
  return { ...metadata, plan: { ...mark } }
}

/** What a round has in the ledger. */
export interface KnownRound {
  /** The newest of each path, groups included. */
  newest: ReadonlyMap<string, KnownTask>
  /** Number of the next generation. */
  nextGeneration: number
}

/** What the user asked for, beside the plan. */
export interface RoundRequest {
  /** Paths of the working tasks that must run; the others are created but held. */
  needed: ReadonlySet<string>
  /** Paths of the working tasks that run anew though they are completed. */
  redo: ReadonlySet<string>
}

export interface Decision {
  task: PlanTask
  known: KnownTask | undefined
  /** `create` what is missing, `redo` what is settled, `retry` what failed, `keep` the rest. */
  action: 'create' | 'redo' | 'retry' | 'keep'
  /** Its definition is not the one that it was made by. */
  changed: boolean
  needed: boolean
}

/** The known tasks of a round; those without a mark (added by hand) do not count. */
export function knownRound(tasks: Iterable<Task>): KnownRound {
  const newest = new Map<string, KnownTask>()
  let nextGeneration = 0
  for (const task of tasks) {
    const mark = markOf(task)
    if (mark === undefined) continue
    nextGeneration = Math.max(nextGeneration, mark.generation + 1)
    const rival = newest.get(mark.path)
    if (rival === undefined || rival.mark.generation < mark.generation) newest.set(mark.path, { task, mark })
  }
  return { newest, nextGeneration }
}

export function tasksOf(known: KnownRound): Task[] {
  return Array.from(known.newest.values(), ({ task }) => task)
}

/** The tasks that do work and are not settled: even what only waits for an answer may have been answered by now. */
export function openWork(known: KnownRound): Task[] {
  return tasksOf(known).filter((task) => !task.group && !isSettled(task.status))
}

/** What happens to each working task, in an order in which they could run. */
export function decide(plan: Plan, known: KnownRound, request: RoundRequest): Decision[] {
  return inOrder(plan.tasks).map((task) => {
    const found = known.newest.get(task.path)
    return {
      task,
      known: found,
      action: actionOf(plan, task, found, request),
      changed: found !== undefined && isChanged(plan, task, found.mark),
      needed: request.needed.has(task.path),
    }
  })
}

function actionOf(plan: Plan, task: PlanTask, known: KnownTask | undefined, request: RoundRequest): Decision['action'] {
  if (known === undefined) return 'create'
  if (isReplaced(plan, task, known, request)) return 'redo'
  switch (known.task.status) {
    case 'completed':
    case 'canceled':
      return request.redo.has(task.path) ? 'redo' : 'keep'
    case 'failed':
      return request.needed.has(task.path) ? 'retry' : 'keep'
    default:
      return 'keep'
  }
}

/**
 * What an agent was given is what its conversation begins with, so another definition is another task: one that has failed, or
 * has not begun, is made anew. So is a goal that waited to be claimed, as those of earlier versions did without a model.
 */
function isReplaced(plan: Plan, task: PlanTask, { task: known, mark }: KnownTask, { needed }: RoundRequest): boolean {
  if (!isGoal(task)) return false
  if (known.executor === task.spec.executor && !isChanged(plan, task, mark)) return false
  if (known.status === 'failed') return needed.has(task.path)
  return known.status === 'submitted' && known.run === 0 && known.owner === null
}

/** Its definition was changed, or the plan was moved and the folders in its input with it. */
export function isChanged(plan: Plan, task: PlanTask, mark: PlanMark): boolean {
  const hasFolder = !task.group && !isGoal(task)
  return mark.definition !== task.definitionHash || (mark.folder !== plan.folder && hasFolder)
}

/** A new definition can still take effect: it has not ended for good and is not at work right now. */
export function takesDefinition(task: Task): boolean {
  return task.status === 'failed' || (!isSettled(task.status) && task.status !== 'working')
}

/** The new generation: everything that is missing or redone, with the groups around it. Undefined when nothing is. */
export function newGeneration(
  plan: Plan,
  known: KnownRound,
  decisions: readonly Decision[],
  { round, invocation, now }: { round: string; invocation: string; now: number },
): CreateOptions | undefined {
  const creating = new Map(
    decisions.filter(({ action }) => action === 'create' || action === 'redo').map((each) => [each.task.path, each]),
  )
  if (creating.size === 0) return undefined
  const generation = known.nextGeneration
  const common = { generation, edges: generation, folder: plan.folder, invocation }

  const childOf = (task: PlanTask): ChildOptions | undefined => {
    const decision = creating.get(task.path)
    const tasks = childrenOf(task.children)
    if (decision === undefined && tasks === undefined) return undefined
    const { metadata, blockedBy = [], ...spec } = task.spec
    const held = decision?.needed === false
    // The engine hands on to the children what their group comes after.
    const blockers = blockersOf(task.after, plan, known, (leaf) => creating.has(leaf.path))
    return {
      ...spec,
      key: taskKey(round, generation, task.path),
      metadata: withMark(metadata, { ...common, path: task.path, definition: task.definitionHash, held }),
      after: blockers.after,
      blockedBy: [...blockers.ids, ...blockedBy],
      deadline: deadlineOf(task, now),
      tasks,
      autoStart: held ? false : undefined,
    }
  }
  const childrenOf = (level: readonly PlanTask[]): Record<string, ChildOptions> | undefined => {
    const children = level.flatMap((task) => {
      const child = childOf(task)
      return child === undefined ? [] : [[task.name, child] as const]
    })
    return children.length === 0 ? undefined : Object.fromEntries(children)
  }
  return {
    name: plan.name,
    description: plan.description,
    key: generationKey(round, generation),
    metadata: withMark(undefined, { ...common, path: '', definition: '', held: false }),
    tasks: childrenOf(plan.tasks),
  }
}

/**
 * What to come after means: siblings that are created beside it, and ids of what exists already. A group that exists counts as
 * the tasks in it, since some of them may have been redone in a later generation and lie in another group.
 */
export function blockersOf(
  paths: readonly string[],
  plan: Plan,
  known: KnownRound,
  isCreated: (leaf: PlanTask) => boolean,
): { after: string[]; ids: string[] } {
  const after: string[] = []
  const ids: string[] = []
  for (const path of paths) {
    const blocker = plan.byPath.get(path) as PlanTask
    const leaves = leavesOf(blocker)
    if (leaves.some(isCreated)) after.push(blocker.name)
    for (const leaf of leaves) {
      const existing = isCreated(leaf) ? undefined : known.newest.get(leaf.path)
      if (existing !== undefined) ids.push(existing.task.id)
    }
  }
  return { after, ids }
}

/** Something that this task comes after was created after its dependencies were last looked at. */
export function hasOldEdges(task: PlanTask, plan: Plan, known: KnownRound, mark: PlanMark): boolean {
  const blockers = task.comesAfter.flatMap((path) => leavesOf(plan.byPath.get(path) as PlanTask))
  return blockers.some((leaf) => (known.newest.get(leaf.path)?.mark.generation ?? 0) > mark.edges)
}

/** Tasks of the round that the plan no longer has, and that could still run. */
export function leftovers(plan: Plan, known: KnownRound): KnownTask[] {
  return [...known.newest.values()].filter(
    ({ task, mark }) => mark.path !== '' && !plan.byPath.has(mark.path) && !task.group && !isSettled(task.status),
  )
}
