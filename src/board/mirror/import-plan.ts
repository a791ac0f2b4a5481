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

/** A parent or a blocker, with the file and the key that name it. */
interface Link {
  to: number
  number: number
  key: 'parent' | 'blockedBy' | 'blocks'
}
type Links = Map<number, Link[]>
type StatusOf = (number: BoardRef) => BoardStatus | undefined

/** `known`: the existing tasks that the files refer to. */
export function planImport(tasks: readonly PlannedTask[], known: ReadonlyMap<number, BoardStatus>): ImportPlan {
  const byNumber = new Map(tasks.map((task) => [task.number, task]))
  const statusOf: StatusOf = (ref) =>
    typeof ref === 'number' ? (byNumber.get(ref)?.status ?? known.get(ref)) : undefined
  const unheld: UnheldKey[] = []
  const parents = parentsOf(tasks, statusOf, unheld)
  const creation = inOrder(tasks, parents, ({ number, key, to }) =>
    unheld.push({ number, key, why: `task ${to} would be its own ancestor` }),
  )
  const edges = edgesOf(tasks, statusOf, unheld)
  const order = inOrder(tasks, edges, ({ number, key, to }) =>
    unheld.push({ number, key, why: `this edge closes a cycle: task ${to} would wait for itself` }),
  )
  const states = new Map<number, BoardStatus>()
  for (const number of order) {
    const { status } = byNumber.get(number) as PlannedTask
    const open = targets(edges, number).filter((each) => statusOf(each) !== 'completed')
    const isEarly = status === 'in_progress' && open.length > 0
    states.set(number, isEarly ? 'pending' : status)
    if (!isEarly) continue
    const why = `it is in progress but blocked by ${open.join(', ')}; it is pending until ${open.length === 1 ? 'that is' : 'those are'} completed`
    unheld.push({ number, key: 'status', why })
  }
  return {
    creation,
    parents: new Map([...parents.keys()].flatMap((number) => targets(parents, number).map((to) => [number, to]))),
    edges: new Map([...edges.keys()].map((number) => [number, targets(edges, number)])),
    states,
    unheld,
  }
}

/**
 * The tasks with edges, each before those that it comes after. Each new edge is checked for a cycle along the edges of its blockers, which
 * are drawn later in this order: in any other, the check of each edge in a chain would follow the chain.
 */
export function dependentsFirst({ edges, states }: Pick<ImportPlan, 'edges' | 'states'>): number[] {
  const known = [...edges.keys()].filter((number) => !states.has(number))
  return [...known, ...[...states.keys()].toReversed()].filter((number) => edges.has(number))
}

function targets(links: Links, number: number): number[] {
  return (links.get(number) ?? []).map(({ to }) => to)
}

function parentsOf(tasks: readonly PlannedTask[], statusOf: StatusOf, unheld: UnheldKey[]): Links {
  const parents: Links = new Map()
  for (const { number, parent } of tasks) {
    if (parent === undefined) continue
    if (statusOf(parent) === undefined) unheld.push({ number, key: 'parent', why: `there is no task ${parent}` })
    else parents.set(number, [{ to: parent as number, number, key: 'parent' }])
  }
  return parents
}

/** `blockedBy` and `blocks` describe the same edges from either end; an edge in either list counts. */
function edgesOf(tasks: readonly PlannedTask[], statusOf: StatusOf, unheld: UnheldKey[]): Links {
  const edges: Links = new Map()
  const add = (link: Omit<Link, 'to'>, task: BoardRef, blocker: BoardRef): void => {
    const own = edges.get(task as number) ?? []
    if (own.some(({ to }) => to === blocker)) return
    const why = obstacleTo(task, blocker, statusOf)
    if (why === undefined) edges.set(task as number, [...own, { ...link, to: blocker as number }])
    else unheld.push({ ...link, why })
  }
  for (const { number, blockedBy } of tasks) for (const ref of blockedBy) add({ number, key: 'blockedBy' }, number, ref)
  for (const { number, blocks } of tasks) for (const ref of blocks) add({ number, key: 'blocks' }, ref, number)
  return edges
}

function obstacleTo(task: BoardRef, blocker: BoardRef, statusOf: StatusOf): string | undefined {
  if (task === blocker) return 'a task cannot block itself'
  const [status, blocking] = [statusOf(task), statusOf(blocker)]
  if (status === undefined || blocking === undefined) return `there is no task ${status === undefined ? task : blocker}`
  if ((status === 'completed' || status === 'failed') && blocking !== 'completed')
    return `task ${task} is ${status}, but its blocker, task ${blocker}, is not completed`
  return undefined
}

/** The tasks in an order in which each comes after those that it links to. A link that closes a cycle is removed, and passed to `refuse`. */
function inOrder(tasks: readonly PlannedTask[], links: Links, refuse: (link: Link) => void): number[] {
  const [done, open] = [new Set<number>(), new Set<number>()]
  for (const { number } of tasks) {
    const path = [number]
    for (let at = path.at(-1); at !== undefined; at = path.at(-1)) {
      open.add(at)
      const next = links.get(at)?.find(({ to }) => !done.has(to))
      if (next === undefined) {
        done.add(at)
        path.pop()
      } else if (open.has(next.to)) {
        links.set(at, links.get(at)?.filter((link) => link !== next) ?? [])
        refuse(next)
      } else path.push(next.to)
    }
  }
  const own = new Set(tasks.map(({ number }) => number))
  return [...done].filter((number) => own.has(number))
}
