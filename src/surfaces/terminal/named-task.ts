// Finds the task that a person names by its number, its id, or its name.
import { ErrandError } from '../../core/errors.ts'
import type { Engine } from '../../engine/engine-api.ts'
import { isSettled, type Task } from '../../entities/task.ts'

/** The longest text that `task:list` searches for. */
const maxTextLength = 500
/** The largest page of `task:list`. */
const pageSize = 5_000

/**
 * By `#seq`, the id or a unique prefix of it, else by the name: that of one open task, or if none is open of one task. Null: none.
 * @throws ErrandError INVALID_INPUT { candidates } when several tasks fit.
 */
export async function namedTask(engine: Engine, ref: string): Promise<Task | null> {
  let ambiguity: unknown
  try {
    const task = await engine.find(ref)
    if (task !== null) return task
  } catch (error) {
    // The text may still be the name of one task.
    ambiguity = error
  }
  const named = await byName(engine, ref)
  if (named === null && ambiguity !== undefined) throw ambiguity
  return named
}

async function byName(engine: Engine, name: string): Promise<Task | null> {
  if (name.length > maxTextLength || name.trim() === '' || name.startsWith('#')) return null
  const named = []
  for (let after: number | null = 0; after !== null; ) {
    const page: Awaited<ReturnType<typeof pageOf>> = await pageOf(engine, name, after)
    for (const row of page.tasks) if (row.name === name) named.push(row)
    after = page.next
  }
  const open = named.filter(({ status }) => !isSettled(status))
  const [first, ...others] = open.length > 0 ? open : named
  if (first === undefined) return null
  if (others.length === 0) return engine.get(first.id)
  const fitting = [first, ...others]
  throw new ErrandError(
    'INVALID_INPUT',
    `${fitting.length} ${open.length > 0 ? 'open tasks' : 'tasks'} have the name ${name}: ${fitting.map(({ seq }) => `#${seq}`).join(', ')}. Name one by its number.`,
    { candidates: fitting.map(({ id }) => id) },
  )
}

function pageOf(engine: Engine, text: string, after: number) {
  return engine.bus.call('task:list', { text, after, limit: pageSize })
}
