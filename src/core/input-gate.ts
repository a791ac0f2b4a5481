// The gate that every value from outside passes once, before a schema parses it: what comes over the bus, and what programs give to the
// engine's methods. Refused are nesting that would overflow the stack, text that no database keeps unless the schema mends it, and a task
// name that would be lost. Live objects (a model, a signal) are checked by the schema only.
import { ErrandError } from './errors.ts'
import { maxJsonDepth } from './json-losses.ts'
import { parse, type Schema } from './parse.ts'
import { textFault } from './storable-text.ts'

/** Nesting of `tasks`, the root included: a schema overflows the stack at fewer than 1,000. Each task has `maxJsonDepth` levels of its own. */
export const maxTaskDepth = 128

/** What is refused in plain objects and lists, and where. */
export interface Fault {
  path: string[]
  what: string
  /** A text that a schema may mend, and no key. */
  isText: boolean
}

/**
 * What `parsed` makes of the value.
 * @throws ErrandError INVALID_INPUT { issues } for a fault, unless it is one of a text that is without fault in what was parsed.
 */
export function throughGate<T>(value: unknown, what: string, parsed: () => T): T {
  const fault = faultIn(value)
  if (fault === undefined) return parsed()
  if (!fault.isText) throw refused(fault, what)
  const input = parsed()
  const left = faultIn(input) ?? (isTextAt(input, fault.path) ? undefined : fault)
  if (left !== undefined) throw refused(left, what)
  return input
}

/** The value parsed, having passed the gate. @throws ErrandError as `throughGate` and `parse` */
export function accept<T>(schema: Schema<T>, value: unknown, what: string): T {
  return throughGate(value, what, () => parse(schema, value, what))
}

/** The same for a value that is parsed later, by a schema that mends nothing. */
export function refuseFault(value: unknown, what: string): void {
  const fault = faultIn(value)
  if (fault !== undefined) throw refused(fault, what)
}

/** The first fault in nesting, keys or names, else the first text that not every database keeps. */
export function faultIn(value: unknown, maxKeys = Number.POSITIVE_INFINITY): Fault | undefined {
  const walk: Walk = { open: new Set(), maxKeys, path: [], text: undefined }
  try {
    return visit(value, { kind: 'task', depth: 0, taskDepth: 1 }, walk) ?? walk.text
  } catch {
    // A getter that throws is refused where the value is read, with what it threw.
    return undefined
  }
}

interface Walk {
  /** The values that are being visited. */
  open: Set<object>
  maxKeys: number
  path: string[]
  text: Fault | undefined
}

interface Place {
  /** A task (the value itself counts as one), the `tasks` of one, or any other value in it. */
  kind: 'task' | 'tasks' | 'value'
  /** Levels within the task. */
  depth: number
  taskDepth: number
}

function visit(value: unknown, place: Place, walk: Walk): Fault | undefined {
  if (typeof value === 'string') {
    const what = textFault(value)
    if (what !== undefined) walk.text ??= { path: [...walk.path], what, isText: true }
    return undefined
  }
  if (!Array.isArray(value) && !isPlainObject(value)) return undefined
  if (walk.open.has(value))
    return { path: walk.path, what: 'it contains itself, which JSON cannot express', isText: false }
  const nesting = nestingFault(place)
  if (nesting !== undefined) return { path: [], what: nesting, isText: false }
  const entries = Object.entries(value)
  if (!Array.isArray(value) && entries.length > walk.maxKeys) {
    const what = `an object in it has more than ${walk.maxKeys} keys; send a list, or several requests`
    return { path: [], what, isText: false }
  }
  walk.open.add(value)
  for (const [key, inner] of entries) {
    const what = textFault(key)
    if (what !== undefined) return { path: walk.path, what, isText: false }
    walk.path.push(key)
    if (place.kind === 'tasks' && key === '__proto__') {
      return { path: walk.path, what: 'a task cannot be called "__proto__"', isText: false }
    }
    const fault = visit(inner, placeInside(place, key), walk)
    if (fault !== undefined) return fault
    walk.path.pop()
  }
  walk.open.delete(value)
  return undefined
}

function placeInside({ kind, depth, taskDepth }: Place, key: string): Place {
  if (kind === 'tasks') return { kind: 'task', depth: 0, taskDepth: taskDepth + 1 }
  return { kind: kind === 'task' && key === 'tasks' ? 'tasks' : 'value', depth: depth + 1, taskDepth }
}

function nestingFault({ depth, taskDepth }: Place): string | undefined {
  if (depth >= maxJsonDepth) return `it is nested deeper than ${maxJsonDepth} levels`
  if (taskDepth <= maxTaskDepth) return undefined
  return `its tasks are nested deeper than ${maxTaskDepth} levels. Create the deeper ones in a step of their own, with \`parentId\``
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function isTextAt(input: unknown, path: Fault['path']): boolean {
  const found = path.reduce<unknown>((holder, key) => (holder as Record<string, unknown> | undefined)?.[key], input)
  return typeof found === 'string'
}

function refused({ path, what: message }: Fault, what: string): ErrandError {
  const at = path.join('.')
  return new ErrandError('INVALID_INPUT', `${what} is not valid: ${at ? `${at}: ` : ''}${message}.`, {
    issues: [{ path: at, message }],
  })
}
