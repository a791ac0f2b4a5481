// Decides which tasks of a plan are to run, and what happens to each task of a round, from the plan and the tasks in the ledger. Pure:
// find-round.ts reads the tasks, prepare-round.ts changes them, and `--dry-run` prints the decisions.
//
// Completed and canceled tasks stay, failed ones get a new attempt, and missing ones are created in a new generation.
import { didYouMean } from '../core/did-you-mean.ts'
import { ErrandError, nearestName } from '../core/errors.ts'
import type { ChildOptions, CreateOptions } from '../engine/engine-api.ts'
import { isSettled, type Task } from '../entities/task.ts'
import { deadlineOf, inOrder, isGoal, leavesOf, neededBy, type Plan, type PlanTask } from './plan.ts'
import { generationKey, type KnownRound, type KnownTask, type PlanMark, taskKey, withMark } from './round.ts'

/** Which tasks of the plan are to run. */
export interface RoundRequest {
  /** Paths of the tasks that must run; the others are created held. Groups are not listed. */
  needed: ReadonlySet<string>
  /** Paths of the tasks that run again although they are completed. */
  redo: ReadonlySet<string>
}

/**
 * The tasks that must run, and those that run again. Without `targets` all run that have no `autoStart: false`.
 * @throws ErrandError NOT_FOUND { name, nearest } or INVALID_INPUT { name, candidates }.
 */
export function roundRequest(
  plan: Plan,
  { targets = [], redo = [] }: { targets?: readonly string[] | undefined; redo?: readonly string[] | undefined },
): RoundRequest {
  const redone = redo.flatMap((name) => leavesOf(findTask(plan, name)))
  const wanted =
    targets.length > 0
      ? targets.map((name) => findTask(plan, name))
      : [...plan.byPath.values()].filter((task) => !task.group && task.autoStart)
  return { needed: neededBy([...wanted, ...redone], plan.byPath), redo: new Set(redone.map((task) => task.path)) }
}

/** A task by its path (`collect/lines`), or by a name that only one task has. */
function findTask({ byPath }: Plan, name: string): PlanTask {
  const exact = byPath.get(name)
  if (exact !== undefined) return exact
  const all = [...byPath.values()]
  const [only, ...others] = all.filter((task) => task.name === name)
  if (only !== undefined && others.length === 0) return only
  if (only !== undefined) {
    const candidates = [only, ...others].map((task) => task.path)
    const message = `"${name}" is the name of several tasks of the plan. Name one of: ${candidates.join(', ')}.`
    throw new ErrandError('INVALID_INPUT', message, { name, candidates })
  }
  const nearest = nearestName(name, [...byPath.keys(), ...all.map((task) => task.name)])
  throw new ErrandError(
    'NOT_FOUND',
    `The plan has no task "${name}".${didYouMean(nearest)} It has: ${[...byPath.keys()].join(', ')}.`,
    { name, nearest },
  )
}

export interface Decision {
  task: PlanTask
  known: KnownTask | undefined
  /** `create` a missing task, `redo` a settled one, `retry` a failed one, `keep` any other. */
  action: 'create' | 'redo' | 'retry' | 'keep'
  /** The definition was changed since the task was created. */
  changed: boolean
  needed: boolean
}

/** What happens to each task that does work, in an order in which they could run. */
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
 * A conversation begins with the definition of an agent's task, so a changed definition needs a new task, if the old one has failed or has
 * not begun.
 */
function isReplaced(plan: Plan, task: PlanTask, { task: known, mark }: KnownTask, { needed }: RoundRequest): boolean {
  if (!isGoal(task) || !isChanged(plan, task, mark)) return false
  if (known.status === 'failed') return needed.has(task.path)
  return known.status === 'submitted' && known.run === 0 && known.owner === null
}

/** True when the definition was changed, or the plan was moved and with it the folders in the task's input. */
export function isChanged(plan: Plan, task: PlanTask, mark: PlanMark): boolean {
  const hasFolder = !task.group && !isGoal(task)
  return mark.definition !== task.definitionHash || (mark.folder !== plan.folder && hasFolder)
}

/** True when a new definition can still take effect: the task has not ended for good and is not working. */
export function takesDefinition(task: Task): boolean {
  return task.status === 'failed' || (!isSettled(task.status) && task.status !== 'working')
}

/** The new generation: all tasks that are missing or redone, with the groups around them. Undefined when there are none. */
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
    // The engine passes the blockers of a group on to its children.
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
 * The blockers at some paths: the names of siblings that are created in the same generation, and the ids of tasks that exist. A group that
 * exists stands for its tasks, because some of them may have been redone and lie in another group.
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

/** True when a blocker of the task was created after its dependencies were last aligned. */
export function hasOldEdges(task: PlanTask, plan: Plan, known: KnownRound, mark: PlanMark): boolean {
  const blockers = task.comesAfter.flatMap((path) => leavesOf(plan.byPath.get(path) as PlanTask))
  return blockers.some((leaf) => (known.newest.get(leaf.path)?.mark.generation ?? 0) > mark.edges)
}

/** Tasks of the round that the plan no longer has and that are not settled. */
export function leftovers(plan: Plan, known: KnownRound): KnownTask[] {
  return [...known.newest.values()].filter(
    ({ task, mark }) => mark.path !== '' && !plan.byPath.has(mark.path) && !task.group && !isSettled(task.status),
  )
}
