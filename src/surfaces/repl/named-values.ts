// The names that lines of JavaScript find: the engine and its bus, the engine's methods by their own names, every ability as a function,
// and the tasks. `$` is the last task that the session was about.
import { types } from 'node:util'
import type { Ability } from '../../bus/ability.ts'
import type { Engine } from '../../engine-api.ts'
import type { Task } from '../../entities/task.ts'
import type { Session } from './session.ts'
import { taskIn } from './shown-value.ts'

/** `delete` is a word of the language; what ends the engine, or looks into it, is called as a method of `engine`. */
const notByName: ReadonlySet<string> = new Set(['constructor', 'delete', 'close', 'inspect'])

/** Names of the methods of the engine that can be called by their name alone. */
function methodsOf(engine: Engine): string[] {
  return Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(engine)))
    .filter(([name, { value }]) => typeof value === 'function' && !notByName.has(name))
    .map(([name]) => name)
}

/** `tasks.report`, `tasks['12']`: a promise of that task as it is now. `for await (const task of tasks)`: all of them. */
interface TasksView extends AsyncIterable<Task> {
  readonly [ref: string]: Promise<Task>
}

/** `values` by name, to be defined in the context of the lines. */
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

/** The tasks that come of it are tasks of the session. */
function bound(session: Session, engine: Engine, method: string) {
  const call = (Reflect.get(engine, method) as (...args: unknown[]) => unknown).bind(engine)
  const calling = (...args: unknown[]): unknown => {
    const given = call(...args)
    return types.isPromise(given) ? given.then((value) => noticed(session, value)) : given
  }
  return Object.defineProperty(calling, 'name', { value: method })
}

/** A task that a line gave is a task of the session. */
export function noticed<T>(session: Session, value: T): T {
  const task = taskIn(value)
  if (task !== undefined) session.touch(task)
  return value
}

/** Names that the language or the console look up on anything they are given, and that are no tasks. */
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
      // Whoever waits for it hears of it; a name that was only looked at must not end the process.
      found.catch(() => {})
      return found
    },
  })
}

type AbilityFunction = ((input?: unknown) => unknown) & { [name: string]: AbilityFunction }

/**
 * `abilities.task.pause` for `task:pause`, also of those that are registered later, until it is closed. Those that give a stream return
 * what `for await` takes.
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
    // What is below it already stays.
    place[name] = Object.assign(call, place[name]) as AbilityFunction
  }
  for (const ability of bus.abilities()) add(ability)
  return { root, close: bus.onRegister(add) }
}
