// Executors as data, so that they can be edited: consecutive steps, parallel branches, calls inside calls. The effect
// of a call has a name of its own (`effect`), which stays when the call is renamed or its params change.
import type { Run } from '../../src/entities/executor.ts'

export type Node = CallNode | { all: Node[][] }

export interface CallNode {
  effect: string
  name: string
  params: Record<string, unknown>
  inside?: Node[]
}

export type Program = Node[]

export const call = (effect: string, inside?: Node[]): CallNode => ({
  effect,
  name: `do ${effect}`,
  params: { of: effect, amount: 1 },
  ...(inside ? { inside } : {}),
})

/** Executes a program in a run; `happen` is called for each effect when its call's function begins. */
export async function perform(program: Program, run: Run, happen: (effect: string) => void): Promise<void> {
  for (const node of program) {
    if ('all' in node) await Promise.all(node.all.map((branch) => perform(branch, run, happen)))
    else {
      await run.call(node.name, node.params, async () => {
        happen(node.effect)
        if (node.inside) await perform(node.inside, run, happen)
        return node.effect
      })
    }
  }
}

// ── edits ──

export interface Edit {
  title: string
  program: Program
}

/** The lists of nodes in a program, with their paths. */
function listsIn(program: Program, path: string): Array<{ path: string; list: Node[] }> {
  const found = [{ path, list: program }]
  for (const node of program) {
    const below = 'all' in node ? node.all : node.inside ? [node.inside] : []
    for (const [index, list] of below.entries()) {
      found.push(...listsIn(list, `${path}/${'all' in node ? `branch ${index}` : node.effect}`))
    }
  }
  return found
}

/**
 * Every edit of one of these calls: another param, another name, removed, another call before it, moved to the front or
 * to the end.
 */
export function editsOf(shape: string, original: Program, edited: readonly string[]): Edit[] {
  const edits: Edit[] = []
  for (const [listIndex, { path, list }] of listsIn(original, shape).entries()) {
    for (const [index, node] of list.entries()) {
      if ('all' in node || !edited.includes(node.effect)) continue
      const edit = (what: string, change: (list: Node[], node: CallNode) => void) => {
        const program = structuredClone(original)
        const copy = (listsIn(program, shape)[listIndex] as { list: Node[] }).list
        change(copy, copy[index] as CallNode)
        edits.push({ title: `${path}: ${node.effect} ${what}`, program })
      }
      edit('with another param', (_list, own) => {
        own.params['amount'] = 2
      })
      edit('renamed', (_list, own) => {
        own.name = `really ${own.name}`
      })
      edit('removed', (own) => void own.splice(index, 1))
      edit('with another before it', (own) => void own.splice(index, 0, call(`new before ${node.effect}`)))
      if (index > 0) edit('moved to the front', (own) => void own.unshift(own.splice(index, 1)[0] as Node))
      if (index < list.length - 1) edit('moved to the end', (own) => void own.push(own.splice(index, 1)[0] as Node))
    }
  }
  return edits
}
