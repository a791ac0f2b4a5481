// The names that lines of JavaScript can use: the engine and its bus, the methods of the engine, every ability as a function, and the
// tasks. `$` is the last task that the session used.
import { types } from 'node:util'
import type { Ability } from '../../bus/ability.ts'
import type { Engine } from '../../engine/engine-api.ts'
import type { Task } from '../../entities/task.ts'
import type { Session } from './session.ts'
import { taskIn } from './shown-value.ts'

/** `delete` is a reserved word; `close` and `inspect` are only available as methods of `engine`. */
const notByName: ReadonlySet<string> = new Set(['constructor', 'delete', 'close', 'inspect'])

/** The methods of the engine that are available as names. */
function methodsOf(engine: Engine): string[] {
  return Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(engine)))
    .filter(([name, { value }]) => typeof value === 'function' && !notByName.has(name))
    .map(([name]) => name)
}

/** `tasks.report`, `tasks['12']`: a promise of the current task. `for await (const task of tasks)`: all tasks. */
interface TasksView extends AsyncIterable<Task> {
  readonly [ref: string]: Promise<Task>
}

/** `values`: the names for the context of the lines. */
export function namedValues(session: Session) {
  const { engine } = session
  const abilities = abilityFunctions(session)
  const tasks = tasksView(session)
  const values: Record<string, unknown> = {
    engine,
    bus: engine.bus,
    abilities: abilities.root,
    call: (abilityId: string, input?: unknown) => session.call(abilityId, input),
    tasks,
  }
  for (const method of methodsOf(engine)) values[method] = bound(session, engine, method)
  return { values, tasks, close: abilities.close }
}

/** Returned tasks become tasks of the session. */
function bound(session: Session, engine: Engine, method: string) {
  const call = (Reflect.get(engine, method) as (...args: unknown[]) => unknown).bind(engine)
  const calling = (...args: unknown[]): unknown => {
    const given = call(...args)
    return types.isPromise(given) ? given.then((value) => noticed(session, value)) : given
  }
  return Object.defineProperty(calling, 'name', { value: method })
}

/** A task that a line returned becomes a task of the session. */
export function noticed<T>(session: Session, value: T): T {
  const task = taskIn(value)
  if (task !== undefined) session.touch(task)
  return value
}

/** Properties that the language or the console read on any object, and that are not names of tasks. */
const notTasks: ReadonlySet<string> = new Set([
  'then',
  'toJSON',
  'constructor',
  'inspect',
  'toString',
  'valueOf',
  '__proto__',
])

function tasksView(session: Session): TasksView {
  const all = async function* () {
    for (const { id } of await session.rows()) {
      const task = await session.engine.get(id)
      if (task !== null) yield task
    }
  }
  return new Proxy({} as TasksView, {
    get(target, name) {
      if (name === Symbol.asyncIterator) return all
      if (typeof name === 'symbol' || notTasks.has(name)) return Reflect.get(target, name)
      const found = session.find(name)
      // An awaiting line gets the rejection; without one, reading a name must not end the process.
      found.catch(() => {})
      return found
    },
  })
}

type AbilityFunction = ((input?: unknown) => unknown) & { [name: string]: AbilityFunction }

/**
 * `abilities.task.pause` for `task:pause`, including abilities that are registered later, until `close`. Stream abilities return an
 * async iterable.
 */
function abilityFunctions(session: Session) {
  const { bus } = session.engine
  const root: Record<string, AbilityFunction> = {}
  const add = ({ id, isStream }: Ability): void => {
    const path = id.split(':')
    const name = path.pop() as string
    let place = root
    for (const module of path) {
      place[module] ??= {} as AbilityFunction
      place = place[module]
    }
    const call = (input: unknown = {}) =>
      isStream ? session.stream(id, input) : session.call(id, input).then((value) => noticed(session, value))
    // Keeps functions that are already below the name.
    place[name] = Object.assign(call, place[name]) as AbilityFunction
  }
  for (const ability of bus.abilities()) add(ability)
  return { root, close: bus.onRegister(add) }
}
