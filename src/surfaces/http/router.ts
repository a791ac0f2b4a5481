// Finds the handlers of a path. The paths are those of a fixed table, so a tree of their segments is all that is needed.

/** What a path leads to. */
export interface Found<H> {
  /** By method, in the order in which they were added. */
  handlers: ReadonlyMap<string, H>
  /** The parts of the path that stand for names in braces, decoded. */
  params: Readonly<Record<string, string>>
}

interface Branch<H> {
  literals: Map<string, Branch<H>>
  /** The branch of a segment with a name in braces. */
  parameter: Branch<H> | undefined
  end: { names: readonly string[]; handlers: Map<string, H> } | undefined
}

export class Router<H> {
  readonly #root: Branch<H> = newBranch()

  /** @param path with names in braces: `/tasks/{taskId}`. Paths that differ only in such names must have the same ones. */
  add(method: string, path: string, handler: H): void {
    const segments = path.slice(1).split('/')
    let branch = this.#root
    for (const segment of segments) branch = isName(segment) ? parameterOf(branch) : literalOf(branch, segment)
    branch.end ??= { names: segments.filter(isName).map((name) => name.slice(1, -1)), handlers: new Map() }
    branch.end.handlers.set(method, handler)
  }

  /** Undefined if there is no such path. */
  find(path: string): Found<H> | undefined {
    const values: string[] = []
    let branch: Branch<H> | undefined = this.#root
    for (const segment of path.slice(1).split('/')) {
      const literal: Branch<H> | undefined = branch.literals.get(segment)
      if (literal === undefined) values.push(segment)
      branch = literal ?? (segment === '' ? undefined : branch.parameter)
      if (branch === undefined) return undefined
    }
    if (branch.end === undefined) return undefined
    const { names, handlers } = branch.end
    return { handlers, params: Object.fromEntries(names.map((name, n) => [name, decoded(values[n] as string)])) }
  }
}

function newBranch<H>(): Branch<H> {
  return { literals: new Map(), parameter: undefined, end: undefined }
}

function isName(segment: string): boolean {
  return segment.startsWith('{')
}

function parameterOf<H>(branch: Branch<H>): Branch<H> {
  branch.parameter ??= newBranch()
  return branch.parameter
}

function literalOf<H>({ literals }: Branch<H>, segment: string): Branch<H> {
  const branch = literals.get(segment) ?? newBranch<H>()
  literals.set(segment, branch)
  return branch
}

/** Text that is not encoded correctly stays as it is: no task has such an id. */
function decoded(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
