// Creation: one task, a tree or several trees, all or nothing. A task that exists under the same key is returned instead of created again.

import { type Caller, mayAffect, mayKnowOf } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import { isSettled, type TaskRecord } from '../../entities/task.ts'
import { all, type NewTask, type Op, type Reads, type Step, step, type Tx } from '../../ledger/ledger.ts'
import { isBroken, isStuckGroup } from '../../machines/family.ts'
import { acceptedEvents } from '../../machines/task-edges.ts'
import { cycleError } from '../../machines/task-graph.ts'
import type { Opening } from '../drafts/agent-draft.ts'
import type { TaskDraft, TreeLimits } from '../drafts/draft.ts'
import { Cascade } from './cascade.ts'
import {
  type Allowance,
  boundsOfNew,
  loadAllowance,
  requireFewChildren,
  saveSpent,
  spendBudgets,
} from './creation-bounds.ts'
import { insertAfter } from './dependencies.ts'
import { belowCanceled, canceledAbove, reviveGroupsAbove } from './groups-above.ts'
import { keyConflict, keyTaken, newTask, requirePlace, requireSameDefinition } from './new-task.ts'
import { refuseCommands } from './right-to-run.ts'
import { followUp, settleBlockers, settleEdges } from './settle-family.ts'
import { beingPurged, eventOf, isPurged, requireTask, requireTeams, type StepContext } from './step-context.ts'
import { noteConcerned } from './stuck.ts'
import { writeLine } from './write-message.ts'

interface Loaded {
  /** Existing tasks with the keys of the drafts, by key. */
  keyed: Map<string, NewTask>
  /** Stored tasks that drafts name: parents and blockers. */
  stored: Map<string, TaskRecord>
  /** Those of them that are being purged. */
  purged: Set<string>
  /** By draft: the open blockers of the stored group it joins, directly or in groups of its own. They block the draft too. */
  inherited: Map<string, string[]>
  /** Canceled tasks above stored parents, by parent. */
  canceled: Map<string, TaskRecord>
  cycle: { draft: TaskDraft; path: string[] } | undefined
  /** What the caller may create. */
  allowance: Allowance
}

/** Drafts in trees: the first draft of each is its root. */
export interface CreateRequest extends StepContext {
  trees: ReadonlyArray<readonly TaskDraft[]>
  treeLimits: TreeLimits
  /** The caller; absent: a program, which may create and name any task. */
  by?: Caller
}

/** Returns the root of each tree, created or found. */
export const create = (request: CreateRequest): Step<TaskRecord[]> => step('create', decideCreation, request)

function* decideCreation(tx: Tx, request: CreateRequest): Op<TaskRecord[]> {
  const drafts = request.trees.flat()
  const own = new Set(drafts.map((draft) => draft.id))
  const handlers = drafts.flatMap(({ policy }) => Object.values((policy.handlers ?? {}) as Record<string, TaskDraft>))
  for (const { executor, mayRunCommands, runsCommands } of [...drafts, ...handlers]) {
    if (executor !== null && !mayRunCommands) yield* refuseCommands(tx, executor, runsCommands)
  }
  const loaded = yield* loadRelatives(tx, drafts, own, request.by)
  const insertions: Insertion[] = []
  for (const tree of request.trees) {
    for (const insertion of judgeTree(tree, own, loaded, request)) {
      insertions.push(insertion)
      // A later tree of the same creation may name the same key.
      if (insertion.task.key !== null) loaded.keyed.set(insertion.task.key, insertion.task)
    }
  }
  requireRoom(insertions, loaded, request.treeLimits)
  const spent = spendBudgets(
    insertions.map(({ task }) => task),
    loaded.allowance,
  )
  const made = new Set(insertions.map(({ task }) => task.id))
  for (const { task } of insertions) yield* tx.task.insert(task)
  const concerned = concernedBy(insertions, loaded)
  // Edges and events follow all inserts: a task may come after a sibling that was inserted later.
  const opened: TaskRecord[] = []
  for (const insertion of insertions) {
    for (const group of yield* announce(tx, insertion, request)) opened.push(group)
  }
  for (const group of opened) yield* noteConcerned(tx, group, concerned)
  for (const [parentId, children] of addedChildren(insertions)) {
    if (!made.has(parentId)) yield* tx.task.addChildren(parentId, children)
  }
  yield* saveSpent(tx, spent)
  // A dependency that failed earlier counts as if it failed now.
  const broken = brokenBlockers(insertions)
  for (const [blockerId, taskIds] of broken) yield* settleEdges(tx, taskIds, blockerId, request)
  for (const group of opened) yield* settleBlockers(tx, group, request)
  yield* followUp(tx, concerned, request)
  const roots = request.trees.map(([root]) => root as TaskDraft)
  return (yield* all(
    roots.map(({ id, key }) => (made.has(id) ? tx.task.get(id) : tx.task.getByKey(key as string))),
  )) as TaskRecord[]
}

/** A task to insert, with its dependencies. */
interface Insertion {
  task: NewTask
  edges: Array<{ blockerId: string; open: boolean; broken: boolean }>
  opening: readonly Opening[]
  team: TaskDraft['team']
}

/** The dependents of each blocker that only a retry can complete. */
function brokenBlockers(insertions: readonly Insertion[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  for (const { task, edges } of insertions) {
    for (const { blockerId, broken } of edges) {
      if (broken) found.set(blockerId, (found.get(blockerId) ?? new Set()).add(task.id))
    }
  }
  return found
}

/** New tasks whose blockers cannot move, and the parents and groups that could not move until now. */
function concernedBy(insertions: readonly Insertion[], { stored }: Loaded): Cascade {
  const concerned = new Cascade()
  for (const { task, edges } of insertions) {
    const parent = stored.get(task.parentId as string)
    if (parent !== undefined && (parent.stuckBy !== null || isStuckGroup(parent))) concerned.parents.add(parent.id)
    if (edges.some(({ blockerId, broken }) => broken || (stored.get(blockerId)?.stuckBy ?? null) !== null)) {
      concerned.tasks.add(task.id)
    }
  }
  return concerned
}

function* loadRelatives(
  tx: Tx,
  drafts: readonly TaskDraft[],
  own: ReadonlySet<string>,
  by: Caller | undefined,
): Op<Loaded> {
  const loaded: Omit<Loaded, 'allowance'> = {
    keyed: new Map(),
    stored: new Map(),
    purged: new Set(),
    inherited: new Map(),
    canceled: new Map(),
    cycle: undefined,
  }
  const keys = new Set(drafts.flatMap(({ key }) => key ?? []))
  const relatives = new Set(drafts.flatMap(({ parentId, blockedBy }) => [parentId ?? [], blockedBy].flat()))
  const [keyed, stored] = yield* all([
    all([...keys].map((key) => tx.task.getByKey(key))),
    all([...relatives].filter((id) => !own.has(id)).map((id) => tx.task.get(id))),
  ])
  for (const task of keyed) {
    if (task === undefined) continue
    if (yield* isPurged(tx, task)) yield* tx.task.freeKey(task.key as string)
    else loaded.keyed.set(task.key as string, task)
  }
  for (const task of stored) {
    if (task === undefined) continue
    loaded.stored.set(task.id, task)
    if (yield* isPurged(tx, task)) loaded.purged.add(task.id)
  }
  const places = new Map<string, Place>()
  const awaited: AwaitedDraft[] = []
  for (const draft of drafts) {
    const waiter = yield* placeOf(tx, draft, places, loaded)
    const outside = draft.blockedBy.filter((id) => !own.has(id))
    if (waiter !== undefined && outside.length > 0) awaited.push({ draft, waiter, outside })
  }
  loaded.cycle = yield* firstCycle(tx, awaited)
  const parents = drafts.map(({ parentId }) => loaded.stored.get(parentId as string))
  return { ...loaded, allowance: yield* loadAllowance(tx, by, new Set(parents.filter((each) => each !== undefined))) }
}

/** A draft that comes after stored tasks, and a stored task that ends only after it. */
interface AwaitedDraft {
  draft: TaskDraft
  waiter: string
  outside: string[]
}

/**
 * The first draft that would wait for itself. The graph is walked once for all drafts; a draft is looked at alone only if some path leads
 * to the task that waits for it.
 */
function* firstCycle(tx: Reads, awaited: readonly AwaitedDraft[]): Op<Loaded['cycle']> {
  if (awaited.length === 0) return undefined
  const byWaiter = Map.groupBy(awaited, ({ waiter }) => waiter)
  const reaches = (some: readonly AwaitedDraft[], waiters: Iterable<string>) =>
    tx.dependency.path([...new Set(some.flatMap(({ outside }) => outside))], new Set(waiters))
  if ((yield* reaches(awaited, byWaiter.keys())) === undefined) return undefined
  const suspected = new Set<string>()
  for (const [waiter, some] of byWaiter) if ((yield* reaches(some, [waiter])) !== undefined) suspected.add(waiter)
  for (const each of awaited.filter(({ waiter }) => suspected.has(waiter))) {
    const path = yield* reaches([each], [each.waiter])
    if (path !== undefined) return { draft: each.draft, path }
  }
  return undefined
}

/** A draft as seen from those below it. */
interface Place {
  draft: TaskDraft
  /** The stored task that ends only after this draft, if there is one. */
  waiter: string | undefined
}

/** Records what a draft inherits from its position. Returns the stored task above that waits for it. */
function* placeOf(
  tx: Reads,
  draft: TaskDraft,
  places: Map<string, Place>,
  loaded: Omit<Loaded, 'allowance'>,
): Op<string | undefined> {
  let waiter: string | undefined
  const above = draft.parentId === null ? undefined : places.get(draft.parentId)
  if (above) {
    if (waitsForChildren(above.draft)) waiter = above.waiter
    if (above.draft.group) loaded.inherited.set(draft.id, loaded.inherited.get(above.draft.id) ?? [])
  } else if (draft.parentId !== null) {
    const parent = loaded.stored.get(draft.parentId)
    // An open parent has no canceled task above it: the cancel would have reached it.
    const canceled = parent && isSettled(parent.status) ? yield* canceledAbove(tx, parent.id) : undefined
    if (canceled) loaded.canceled.set(draft.parentId, canceled)
    if (parent && waitsForChildren(parent)) waiter = parent.id
    if (parent?.group) loaded.inherited.set(draft.id, yield* openBlockersOf(tx, parent.id, loaded))
  }
  places.set(draft.id, { draft, waiter })
  return waiter
}

function waitsForChildren(parent: Pick<TaskRecord, 'group' | 'policy'>): boolean {
  return parent.group || Boolean(parent.policy.autoComplete)
}

function* openBlockersOf(tx: Reads, groupId: string, loaded: Pick<Loaded, 'stored'>): Op<string[]> {
  const ids = yield* tx.dependency.openBlockers(groupId)
  for (const id of ids) {
    const blocker = yield* tx.task.get(id)
    if (blocker) loaded.stored.set(id, blocker)
  }
  return ids
}

function judgeTree(
  tree: readonly TaskDraft[],
  own: ReadonlySet<string>,
  loaded: Loaded,
  request: CreateRequest,
): Insertion[] {
  const root = tree[0] as TaskDraft
  const existing = root.key === null ? undefined : loaded.keyed.get(root.key)
  if (existing) {
    requireKeyOfOwn(root, existing, request.by)
    requireSameDefinition(root, existing)
    return []
  }
  const keys = new Set<string>()
  const born = new Map<string, NewTask>()
  return tree.map((draft) => {
    const taken = draft.key === null ? undefined : loaded.keyed.get(draft.key)
    if (draft.key !== null && keys.has(draft.key)) throw keyConflict(draft, root, 'it occurs twice in this tree')
    if (draft.key !== null) keys.add(draft.key)
    if (taken) {
      requireKeyOfOwn(draft, taken, request.by)
      throw keyConflict(draft, taken, 'it belongs to another tree')
    }
    if (draft.parentId !== null && !own.has(draft.parentId)) requireOpenParent(draft.parentId, loaded, request.by)
    const edges = edgesOf(draft, own, loaded, request.by)
    if (loaded.cycle?.draft === draft) {
      const { path } = loaded.cycle
      throw cycleError(`${draft.name} cannot come after ${path[0]}`, [...path, draft.id])
    }
    const parent = draft.parentId === null ? undefined : (born.get(draft.parentId) ?? loaded.stored.get(draft.parentId))
    requirePlace(draft, parent, request.treeLimits)
    const bounds = boundsOfNew(draft, parent, loaded.allowance)
    const task = newTask(draft, parent, edges.filter((edge) => edge.open).length, bounds, request.at)
    born.set(task.id, task)
    return { task, edges, opening: draft.opening, team: draft.team }
  })
}

function addedChildren(insertions: readonly Insertion[]): Map<string, number> {
  const added = new Map<string, number>()
  for (const { task } of insertions) {
    if (task.parentId !== null) added.set(task.parentId, (added.get(task.parentId) ?? 0) + 1)
  }
  return added
}

/** Counts the children that each parent gets. A new parent is inserted with its count. */
function requireRoom(
  insertions: readonly Insertion[],
  { stored, allowance }: Loaded,
  { maxChildren }: TreeLimits,
): void {
  const added = addedChildren(insertions)
  if (added.size === 0) return
  const born = new Map(insertions.map(({ task }) => [task.id, task]))
  for (const { task } of insertions) task.childCount = added.get(task.id) ?? 0
  for (const [parentId, children] of added) {
    const before = stored.get(parentId)?.childCount ?? 0
    const parent = (born.get(parentId) ?? stored.get(parentId)) as NewTask
    requireFewChildren(parent, children, before, allowance)
    const own = parent.policy.maxChildren
    const value = Math.min(own ?? maxChildren, maxChildren)
    if (before + children <= value) continue
    const places = [...(own === value ? [`on ${parentId}`] : []), ...(maxChildren === value ? ['in createEngine'] : [])]
    throw new ErrandError(
      'LIMIT_EXCEEDED',
      `Cannot add ${children} children to ${parentId}: it has had ${before} children, and \`maxChildren\` is ${value}. Group them, or raise \`maxChildren\` ${places.join(' and ')}.`,
      { limit: 'maxChildren', value, parentId, children: before },
    )
  }
}

/**
 * A task under a key is shown only to its owner and to callers with the right to read. The keys of a principal are prefixed by its name
 * (operations/task/keys.ts); this check covers the keys of callers without a name.
 */
function requireKeyOfOwn(draft: TaskDraft, existing: NewTask, by: Caller | undefined): void {
  if (by !== undefined && !mayKnowOf(by, existing.principal)) throw keyTaken(draft)
}

/** Reports a task that the caller may not name as unknown. */
function known(
  { stored, purged }: Loaded,
  id: string,
  isFor: (principal: string | null | undefined) => boolean,
): TaskRecord {
  const found = stored.get(id)
  const task = requireTask(found !== undefined && isFor(found.principal) ? found : undefined, id)
  if (purged.has(id)) throw beingPurged(task)
  return task
}

function requireOpenParent(parentId: string, loaded: Loaded, by: Caller | undefined): void {
  const isFor = (principal: string | null | undefined): boolean => by === undefined || mayAffect(by, principal)
  const parent = known(loaded, parentId, isFor)
  const canceled = loaded.canceled.get(parentId)
  if (canceled) throw belowCanceled(`add a child to ${parentId}`, canceled, parentId)
  if (acceptedEvents(parent.status).length > 0) return
  throw new ErrandError(
    'PARENT_CLOSED',
    `Cannot add a child to ${parentId}: it is ${parent.status}. Create a new parent, or a task without one.`,
    { parentId, status: parent.status },
  )
}

/** The dependencies of a draft, in order: its own, and the open ones of a stored group that it joins. */
function edgesOf(
  draft: TaskDraft,
  own: ReadonlySet<string>,
  loaded: Loaded,
  by: Caller | undefined,
): Insertion['edges'] {
  if (draft.blockedBy.length === 0 && !loaded.inherited.has(draft.id)) return []
  const inherited = new Set(loaded.inherited.get(draft.id))
  const named = new Set([...draft.blockedBy, ...inherited])
  return [...named].map((blockerId) => {
    if (own.has(blockerId)) return { blockerId, open: true, broken: false }
    const isFor = (principal: string | null | undefined): boolean =>
      by === undefined || inherited.has(blockerId) || mayKnowOf(by, principal)
    const { status } = known(loaded, blockerId, isFor)
    return { blockerId, open: status !== 'completed', broken: isBroken(status) }
  })
}

/** Writes what belongs to a new task: its edges, event, team and conversation. Returns the groups that it reopens. */
function* announce(tx: Tx, { task, edges, opening, team }: Insertion, ctx: StepContext): Op<TaskRecord[]> {
  for (const { blockerId, open } of edges) yield* insertAfter(tx, task.id, blockerId, !open, ctx)
  yield* tx.event.append(
    eventOf(ctx, 'task.created', task, {
      ...(task.parentId === null ? {} : { parentId: task.parentId }),
      ...(task.goal === null ? {} : { goal: task.goal }),
      ...(task.executor === null ? {} : { executor: task.executor }),
      ...(task.forkedFrom === null ? {} : { forkedFrom: task.forkedFrom }),
    }),
  )
  if (team !== null) yield* requireTeams(ctx).created(tx, task, team, ctx)
  // The first lines of its agent: the instructions, then the goal, which is a message from outside like any later one.
  for (const line of opening) {
    yield* writeLine(tx, task, { ...line, delivery: line.role === 'user' ? 'steer' : null }, ctx)
  }
  // A child of a failed group reopens it.
  return yield* reviveGroupsAbove(tx, task, ctx)
}
