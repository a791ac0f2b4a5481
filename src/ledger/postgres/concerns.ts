// Whose rows a statement concerns: what decides which steps of several processes may run beside each other. It follows from the statement:
// from its table, and from the names of its holes. A statement that is not recognized concerns the rows of any task: its step runs alone.
import type { CompiledStatement, Request } from '../statement.ts'

/**
 * `tasks`: rows that belong to tasks, and are read and written only by who has locked the row of the task. `calls`: rows that belong to
 * journal entries, and so to their tasks. `keys`: tasks by their keys, which may not exist yet. `heads`: the first ready tasks of a queue.
 * `queue`: what admission counts, of this engine or as an estimate. `limits`: what it counts of all engines. `unshared`: rows that are
 * written only by steps that run alone, or only by this engine, and rows that are only added.
 *
 * `board`: the row of a board and the new numbers on it, read and written only by who has locked its name. `numbering`: the same, and all
 * tasks without a number, while no step creates one. `boards`: what never changes of boards and numbers once it is there. `neighbours`: the
 * edges of a task with what is at their other ends. `claimable`: tasks found for a claim, and `overdue`: tasks whose time has come, by lists
 * that lock nothing: each task is read again before it is judged.
 *
 * `branches`: branches by their names. A step beside others may add a branch, and may change one between active and merged if it has locked
 * the task of the branch. A step that judges which of the two it is has locked that task too, or depends on it only where nothing is merged.
 * `pending`: observations, to which steps beside others only add.
 */
export type Concern =
  | {
      readonly of: 'tasks' | 'calls' | 'keys' | 'board' | 'numbering' | 'neighbours' | 'branches'
      readonly places: readonly number[]
    }
  | {
      readonly of: 'heads' | 'queue' | 'limits' | 'unshared' | 'boards' | 'claimable' | 'overdue' | 'pending' | 'all'
      readonly places?: undefined
    }

const known = new WeakMap<CompiledStatement, Concern>()

export function concernOf({ statement, sql }: Pick<Request, 'statement' | 'sql'>): Concern {
  // A query that was built for one use.
  if (statement === undefined) return { of: isForClaim(sql) ? 'claimable' : isOfFacts(sql) ? 'unshared' : 'all' }
  let concern = known.get(statement)
  if (concern === undefined) {
    concern = recognized(statement)
    known.set(statement, concern)
  }
  return concern
}

/** The ids at these places of a request; a task without a parent has none there. */
export function idsAt({ parameters }: Request, places: readonly number[]): string[] {
  return places.map((place) => parameters[place]).filter((id) => typeof id === 'string')
}

export const keyPrefix = 'key:'
/** The name of a board, among the keys. */
export const boardKey = (name: string): string => `${keyPrefix}board/${name}`

/** The tasks, keys and branches that a request names. */
export function namesOf(request: Request): string[] {
  const { of, places = [] } = concernOf(request)
  if (of === 'keys' || of === 'branches') return idsAt(request, places).map((key) => keyPrefix + key)
  return of === 'tasks' ? idsAt(request, places) : []
}

/** Tables whose rows belong to a task each. */
const ofTasks = new Set([
  'task',
  'run',
  'call',
  'message',
  'dependency',
  'event',
  'stint',
  'objective',
  'team',
  'branch',
])
const taskHoles = new Set(['task', 'taskId', 'blocker', 'blockerId', 'parent', 'lane', 'worker', 'workerId'])

function recognized({ sql, names }: CompiledStatement): Concern {
  const text = sql.replaceAll('"', '').replace(/\s+/g, ' ').trim()
  const [, verb = '', table = ''] = /^(insert into|update|delete from) (\w+)/.exec(text) ?? []
  const [, from = ''] = /^select .*? from (\w+)/.exec(text) ?? []
  if (
    from === 'setting' ||
    isOfMemory(text) ||
    isOfFacts(text) ||
    text.startsWith('select count(*) as families from (select 1 from purging limit 1)') ||
    /^insert into instance .* on conflict/.test(text)
  )
    return { of: 'unshared' }
  if (from === 'dependency' && text.includes(' join task on task.id = dependency.blocker_id '))
    return { of: 'neighbours', places: [names.indexOf('task')] }
  const ofBoard = concernOfBoard(text, verb, table || from, names)
  if (ofBoard !== undefined) return ofBoard
  const named = concernOfNamed(verb, table || from, names)
  if (named !== undefined) return named
  if (from === 'observation') return { of: 'pending' }
  if (isForClaim(text)) return { of: 'claimable' }
  if (['task', 'call', 'run'].includes(from) && names.includes('now')) return { of: 'overdue' }
  if (/^select task\.executor as executor, count\(\*\) as open.* from run /.test(text)) {
    return { of: names.includes('instance') ? 'queue' : 'limits' }
  }
  if (/^select (?:exists \(select 1 from task where ready = 1\)|min\(at\) as at)/.test(text)) return { of: 'queue' }
  if (from === 'task' && / where ready = 1 and executor = /.test(text)) {
    return { of: /^select (?:id|lane) /.test(text) ? 'queue' : 'heads' }
  }
  if (!ofTasks.has(verb === '' ? from : table)) return { of: 'all' }
  if (['board', 'rootKeys'].some((name) => names.includes(name))) return { of: 'all' }
  if (verb === '' && names.includes('branch')) return { of: 'all' }
  // What it does to the edges of other tasks depends on their journal entries.
  if (table === 'dependency' && verb === 'update' && text.includes('from call')) return { of: 'all' }
  const at = (isWanted: (name: string) => boolean) =>
    names.flatMap((name, place) => (name !== undefined && isWanted(name) ? [place] : []))
  if (table === 'task' || (from === 'task' && names.includes('id'))) return ofTask(verb, text, at)
  if (from === 'task' && / key = \$/.test(text)) return { of: 'keys', places: at((name) => name === 'key') }
  const tasks = at((name) => taskHoles.has(name))
  if (tasks.length > 0) return { of: 'tasks', places: tasks }
  const isOfCall = (name: string): boolean =>
    name === 'call' || (name === 'id' && (from === 'call' || table === 'call'))
  const calls = at(isOfCall)
  return calls.length > 0 ? { of: 'calls', places: calls } : { of: 'all' }
}

/** Searches for the best claimable tasks, and the size of a family, by which it is decided how to search. */
function isForClaim(text: string): boolean {
  return (
    /^select .*\bclaimable = 1\b/s.test(text) ||
    /^with recursive below .* select count\(\*\) as tasks from \(select 1 from below /.test(text)
  )
}

/**
 * Steps add to a board under the lock of its name: the counters of its row and the new numbers. A number is never changed, so that it is read
 * without a lock; its fields belong to the task. Whatever reads all of a board, or looks for a workspace on it, concerns any task.
 */
function concernOfBoard(
  text: string,
  verb: string,
  table: string,
  names: CompiledStatement['names'],
): Concern | undefined {
  const placed = (of: 'tasks' | 'board' | 'numbering' | 'neighbours', name: string): Concern => {
    return { of, places: [names.indexOf(name)] }
  }
  if (text === 'select max(seq) as seq from task') return { of: 'boards' }
  if (table === 'task' && names.join() === 'seq,board,limit') return placed('numbering', 'board')
  if (table === 'dependency' && names.includes('board')) return placed('neighbours', 'task')
  if (table === 'board') {
    if (verb !== '') return placed('board', 'name')
    const [purpose] = names
    if (purpose === 'toAdd') return placed('board', purpose)
    return purpose === 'toNumber' ? placed('numbering', purpose) : { of: 'boards' }
  }
  if (table !== 'board_task') return undefined
  if (verb === 'insert into') return placed('board', 'board')
  if (verb === 'update') return placed('tasks', 'taskId')
  return ['board,number', 'task,board'].includes(names.join()) ? { of: 'boards' } : { of: 'all' }
}

/**
 * Rows with names: branches, the inbox of a member, and requests for an answer. A step locks the name before it adds a branch or mail, takes
 * mail, or answers a request.
 */
function concernOfNamed(verb: string, table: string, names: CompiledStatement['names']): Concern | undefined {
  if (table === 'mail') {
    const place = names.findIndex((name) => name === 'recipient' || name === 'request')
    return place === -1 ? { of: 'all' } : { of: 'keys', places: [place] }
  }
  if (table !== 'branch') return undefined
  if (verb === 'insert into') return { of: 'keys', places: [names.indexOf('name')] }
  if (names.join() === 'toCreate') return { of: 'keys', places: [0] }
  return names.join() === 'name' ? { of: 'branches', places: [0] } : undefined
}

/**
 * Observations and runs of consolidation are only added, and how many observations are pending may be counted without those of other groups:
 * the next one counts them.
 */
function isOfMemory(text: string): boolean {
  return /^(?:insert into (?:observation|consolidation)|select count\(\*\) as pending from observation) /.test(text)
}

/** Facts are written by steps that run alone. */
function isOfFacts(text: string): boolean {
  return /^select .*? from "?(\w+)/s.exec(text)?.[1] === 'fact'
}

/** The row of one task; a write that finds its tasks in another way concerns any. */
function ofTask(verb: string, text: string, at: (isWanted: (name: string) => boolean) => number[]): Concern {
  const isOfOne = verb === 'insert into' || / where (?:.*? and )?(?:task\.)?id = \$\d+/.test(text)
  const places = at((name) => name === 'id')
  return isOfOne && places.length > 0 ? { of: 'tasks', places } : { of: 'all' }
}
