// Plans an import: in which order tasks are created, which edges and which statuses are possible together. Pure, so that a folder is
// checked before anything is written. What the board cannot store is reported.
import type { BoardRef, BoardStatus } from '../../entities/board.ts'

/** A task as its file describes it. */
export interface PlannedTask {
  number: number
  status: BoardStatus
  blockedBy: readonly BoardRef[]
  blocks: readonly BoardRef[]
  parent?: BoardRef | undefined
}

export interface UnheldKey {
  number: number
  key: string
  why: string
}

export interface ImportPlan {
  /** Parents before their children, otherwise by number. */
  creation: number[]
  parents: Map<number, number>
  /** The blockers of each task in the order given, including existing tasks. */
  edges: Map<number, number[]>
  /** The final statuses, blockers before their dependents. */
  states: Map<number, BoardStatus>
  unheld: UnheldKey[]
}

/** `known`: the existing tasks that the files refer to. */
export function planImport(tasks: readonly PlannedTask[], known: ReadonlyMap<number, BoardStatus>): ImportPlan {
  const byNumber = new Map(tasks.map((task) => [task.number, task]))
  const unheld: UnheldKey[] = []
  const statusOf = (number: number): BoardStatus | undefined => byNumber.get(number)?.status ?? known.get(number)
  const parents = parentsOf(tasks, statusOf, unheld)
  const edges = edgesOf(tasks, byNumber, statusOf, unheld)
  const states = new Map<number, BoardStatus>()
  for (const number of blockersFirst(
    tasks.map((task) => task.number),
    edges,
  )) {
    const task = byNumber.get(number) as PlannedTask
    const open = (edges.get(number) ?? []).filter((each) => statusOf(each) !== 'completed')
    if (task.status === 'in_progress' && open.length > 0) {
      const why = `it is in progress but blocked by ${open.join(', ')}; it is pending until ${open.length === 1 ? 'that is' : 'those are'} completed`
      unheld.push({ number, key: 'status', why })
      states.set(number, 'pending')
    } else states.set(number, task.status)
  }
  return { creation: parentsFirst(tasks, parents), parents, edges, states, unheld }
}

/**
 * The tasks with edges, each before those that it comes after. Each new edge is checked for a cycle along the edges of its blockers, which
 * are drawn later in this order: in any other, the check of each edge in a chain would follow the chain.
 */
export function dependentsFirst({ edges, states }: Pick<ImportPlan, 'edges' | 'states'>): number[] {
  const known = [...edges.keys()].filter((number) => !states.has(number))
  return [...known, ...[...states.keys()].toReversed()].filter((number) => edges.has(number))
}

type StatusOf = (number: number) => BoardStatus | undefined

function parentsOf(tasks: readonly PlannedTask[], statusOf: StatusOf, unheld: UnheldKey[]): Map<number, number> {
  const parents = new Map<number, number>()
  for (const { number, parent } of tasks) {
    if (parent === undefined) continue
    if (typeof parent !== 'number' || statusOf(parent) === undefined) {
      unheld.push({ number, key: 'parent', why: `there is no task ${parent}` })
    } else if (isAbove(parents, parent, number)) {
      unheld.push({ number, key: 'parent', why: `task ${parent} would be its own ancestor` })
    } else parents.set(number, parent)
  }
  return parents
}

function isAbove(parents: ReadonlyMap<number, number>, from: number, number: number): boolean {
  for (let at: number | undefined = from; at !== undefined; at = parents.get(at)) if (at === number) return true
  return false
}

function parentsFirst(tasks: readonly PlannedTask[], parents: ReadonlyMap<number, number>): number[] {
  const own = new Set(tasks.map((task) => task.number))
  const order = new Set<number>()
  for (const number of own) {
    const line: number[] = []
    for (let at: number | undefined = number; at !== undefined && own.has(at) && !order.has(at); at = parents.get(at))
      line.unshift(at)
    for (const each of line) order.add(each)
  }
  return [...order]
}

/** `blockedBy` and `blocks` describe the same edges from either end; an edge in either list counts. */
function edgesOf(
  tasks: readonly PlannedTask[],
  byNumber: ReadonlyMap<number, PlannedTask>,
  statusOf: StatusOf,
  unheld: UnheldKey[],
): Map<number, number[]> {
  const edges = new Map<number, number[]>()
  const drawn: Drawn = { edges, byNumber, statusOf, rising: true }
  const add = (number: number, key: 'blockedBy' | 'blocks', task: BoardRef, blocker: BoardRef): void => {
    if (edges.get(task as number)?.includes(blocker as number)) return
    const why = obstacleTo(task, blocker, key === 'blockedBy' ? blocker : task, drawn)
    if (why !== undefined) {
      unheld.push({ number, key, why })
      return
    }
    drawn.rising &&= blocker < task
    edges.set(task as number, [...(edges.get(task as number) ?? []), blocker as number])
  }
  for (const { number, blockedBy } of tasks) for (const ref of blockedBy) add(number, 'blockedBy', number, ref)
  for (const { number, blocks } of tasks) for (const ref of blocks) add(number, 'blocks', ref, number)
  return edges
}

interface Drawn {
  edges: ReadonlyMap<number, number[]>
  byNumber: ReadonlyMap<number, PlannedTask>
  statusOf: StatusOf
  /** Every edge leads to a higher number, as in most folders; then there is no cycle to search for. */
  rising: boolean
}

function obstacleTo(task: BoardRef, blocker: BoardRef, other: BoardRef, drawn: Drawn): string | undefined {
  if (task === blocker) return 'a task cannot block itself'
  if (typeof task !== 'number' || typeof blocker !== 'number' || drawn.statusOf(other as number) === undefined)
    return `there is no task ${other}`
  const status = drawn.byNumber.get(task)?.status
  const over = status === 'completed' || status === 'failed'
  if (over && drawn.statusOf(blocker) !== 'completed')
    return `task ${task} is ${status}, but its blocker, task ${blocker}, is not completed`
  if (!(drawn.rising && blocker < task) && comesAfter(drawn.edges, blocker, task))
    return `task ${task} and task ${blocker} would wait for each other`
  return undefined
}

/** Whether `from` comes after `target`, over any number of edges. */
function comesAfter(edges: ReadonlyMap<number, number[]>, from: number, target: number): boolean {
  const seen = new Set<number>([from])
  for (const at of seen) {
    if (at === target) return true
    for (const next of edges.get(at) ?? []) seen.add(next)
  }
  return false
}

function blockersFirst(numbers: readonly number[], edges: ReadonlyMap<number, number[]>): number[] {
  const own = new Set(numbers)
  const order = new Set<number>()
  for (const number of numbers) {
    const stack = [number]
    for (let at = stack.at(-1); at !== undefined; at = stack.at(-1)) {
      const open = (edges.get(at) ?? []).filter((each) => own.has(each) && !order.has(each))
      if (open.length === 0) {
        order.add(at)
        stack.pop()
      } else for (const each of open) stack.push(each)
    }
  }
  return [...order]
}
