// Redacts an inspection message before it leaves the process. Produces a plain copy with values under secret names, and secrets within
// texts, replaced. Depth, number of values and size are limited.

import { z } from 'zod'
import { isPromise } from '../../core/guarded.ts'
import { jsonIn, type RedactFunction } from '../../core/redact.ts'
import { startOf } from '../../core/storable-text.ts'
import type { WireMessage } from './wire.ts'

export const redactSchema = z.union(
  [
    z.custom<RedactFunction>((value) => typeof value === 'function'),
    z.array(z.union([z.string().min(1), z.instanceof(RegExp)])).max(1_000),
  ],
  'expected a function (value, path) => value or a list of keys (texts or regular expressions)',
)
export type Redact = z.output<typeof redactSchema>

/** Names of secrets; a match anywhere in a key counts. */
const defaultSecrets =
  'token|secret|passw(?:or)?d|passphrase|api[-_]?key|private[-_]?key|credential|authorization|cookie'
const defaultKeys = new RegExp(defaultSecrets, 'i')

/** A quick check: texts without these contain no secret that the patterns below would find. */
const mayHoldSecret = /[:=]|bearer/i

const redacted = '[redacted]'
/** Maximum depth of a message; deeper values are cut. */
const maxDepth = 12
/** Maximum number of values in a message. */
const maxValues = 5_000
/** Maximum length of a text, in characters. */
const maxTextLength = 8_192
/** Maximum length of a text that is parsed as JSON, in characters. */
const maxJsonLength = 1024 * 1024
/** Maximum size of a message, in bytes. */
export const maxMessageBytes = 64 * 1024

/** Returns the redacted message and its text. */
export type Redactor = (message: WireMessage) => { message: WireMessage; text: string }

/** Creates the redaction of messages: JSON of at most 64 KiB. `redact` is applied in addition to the default names of secrets. */
export function createRedactor(redact?: Redact): Redactor {
  const judge: Judge = { isSecret: secretKeys(redact), inText: secretTexts(redact), change: changes(redact) }
  const definitions = new Map<string, string>()
  const definitionOf = (text: string): string => {
    const known = definitions.get(text)
    if (known !== undefined) return known
    const clean = redactDefinition(text, judge)
    // Bounded: a program has a handful of charts, but may also generate them.
    if (definitions.size >= 100) definitions.clear()
    definitions.set(text, clean)
    return clean
  }
  return (message) => {
    const { definition, ...rest } = message as WireMessage & { definition?: string | undefined }
    const image = imageOf(rest, judge) as unknown as WireMessage
    const whole = definition === undefined ? image : { ...image, definition: definitionOf(definition) }
    const text = JSON.stringify(whole)
    const bytes = Buffer.byteLength(text)
    if (bytes <= maxMessageBytes) return { message: whole, text }
    const cut = cutTo(whole, bytes)
    return { message: cut, text: JSON.stringify(cut) }
  }
}

interface Judge {
  isSecret(key: string): boolean
  inText(text: string): string
  change: RedactFunction
}

function secretKeys(redact: Redact | undefined): (key: string) => boolean {
  const given = Array.isArray(redact) ? redact : []
  const names = new Set(given.filter((each) => typeof each === 'string').map((each) => each.toLowerCase()))
  // Without the flags `g` and `y`, which make a pattern stateful.
  const patterns = given
    .filter((each) => typeof each !== 'string')
    .map(({ source, flags }) => new RegExp(source, flags.replaceAll(/[gy]/g, '')))
  return (key) => defaultKeys.test(key) || names.has(key.toLowerCase()) || patterns.some((pattern) => pattern.test(key))
}

/** Replaces secrets within texts such as errors and commands: `token=…`, `"apiKey":"…"`, `Bearer …`, `//user:…@host`. */
function secretTexts(redact: Redact | undefined): (text: string) => string {
  const given = (Array.isArray(redact) ? redact : []).filter((each) => typeof each === 'string')
  const names = [
    defaultSecrets,
    ...given.map((name) => name.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)),
  ].join('|')
  const assigned = new RegExp(
    `((?:${names})[\\w-]{0,40}\\\\*["']?\\s{0,4}[:=]\\s{0,4})(?:\\\\*"[^"]*"?|\\\\*'[^']*'?|(?:bearer|basic)\\s+[^\\s"']+|[^\\s,;&"'}\\]]+)`,
    'gi',
  )
  return (text) =>
    mayHoldSecret.test(text)
      ? text
          .replaceAll(assigned, `$1${redacted}`)
          .replaceAll(/\b(bearer)\s+[\w.~+/=-]{6,}/gi, `$1 ${redacted}`)
          .replaceAll(/(:\/\/[^\s:/@]{1,200}:)[^\s@/]{1,500}@/g, `$1${redacted}@`)
      : text
}

/** A value for which the function throws, or returns a promise, is replaced. */
function changes(redact: Redact | undefined): RedactFunction {
  if (typeof redact !== 'function') return (value) => value
  return (value, path) => {
    try {
      const given = redact(value, path)
      if (!isPromise(given)) return given
      Promise.resolve(given).catch(() => {})
    } catch {
      // The value itself must not be sent.
    }
    return redacted
  }
}

function redactDefinition(text: string, judge: Judge): string {
  try {
    return JSON.stringify(imageOf({ definition: JSON.parse(text) as unknown }, judge)['definition'] ?? null)
  } catch {
    return JSON.stringify({ id: '[unreadable]' })
  }
}

/** The fields with the payload of a message; the others identify sender and receiver. */
const payloadFields: ReadonlySet<string> = new Set(['name', 'event', 'snapshot', 'definition'])

function imageOf(message: object, judge: Judge): Record<string, unknown> {
  let values = 0
  const visit = (given: unknown, path: readonly string[], above: readonly object[]): unknown => {
    if (++values > maxValues) return '[cut]'
    return image(judge.change(plainOf(given), path), path, above)
  }
  const image = (value: unknown, path: readonly string[], above: readonly object[]): unknown => {
    if (typeof value === 'string') {
      const parsed = jsonIn(value, maxJsonLength)
      return parsed === undefined
        ? judge.inText(shortened(value))
        : shortened(JSON.stringify(image(parsed, path, above)))
    }
    if (typeof value !== 'object' || value === null) return scalar(value)
    if (above.includes(value)) return '[circular]'
    if (path.length >= maxDepth) return '[deeper]'
    const inside = [...above, value]
    if (Array.isArray(value)) {
      return value.slice(0, maxValues).map((each, index) => visit(each, [...path, String(index)], inside))
    }
    return visitFields(value, judge, (key, field) =>
      judge.isSecret(key) && !holdsStates(path) ? redacted : visit(field, [...path, key], inside),
    )
  }
  return visitFields(message, judge, (key, field) => (payloadFields.has(key) ? visit(field, [key], []) : field))
}

/** True for objects whose keys are names of states and events: a state may be named after a token that it waits for. */
function holdsStates(path: readonly string[]): boolean {
  const last = path.at(-1)
  return path[0] === 'definition' ? last === 'states' || last === 'on' : path[0] === 'snapshot' && path[1] === 'value'
}

function visitFields(
  value: object,
  judge: Judge,
  visit: (key: string, field: unknown) => unknown,
): Record<string, unknown> {
  const fields: Array<[string, unknown]> = []
  for (const key of Object.keys(value).slice(0, maxValues)) {
    const field = fieldOf(value, key)
    if (field === undefined || typeof field === 'symbol') continue
    const image = visit(key, field)
    if (image !== undefined) fields.push([judge.inText(shortened(key)), image])
  }
  return Object.fromEntries(fields)
}

function fieldOf(value: object, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key]
  } catch {
    return '[unreadable]'
  }
}

/** The value as JSON would have it, plus the messages of errors, which JSON omits. */
function plainOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  try {
    if (value instanceof Error) return Object.assign({}, value, { name: value.name, message: value.message })
    const { toJSON } = value as { toJSON?: unknown }
    return typeof toJSON === 'function' ? (toJSON.call(value) as unknown) : value
  } catch {
    return '[unreadable]'
  }
}

function scalar(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}`
  if (typeof value === 'function') return { type: value.name }
  return value
}

function shortened(text: string): string {
  return text.length <= maxTextLength ? text : `${startOf(text, maxTextLength)}… [cut: ${text.length} characters]`
}

/** A message that is too large, without its payload. */
function cutTo(message: WireMessage, bytes: number): WireMessage {
  const cut = `[cut: ${bytes} bytes]`
  const {
    type: _type,
    event,
    snapshot,
    definition: _definition,
    ...rest
  } = message as WireMessage & {
    event?: { type: unknown }
    snapshot?: { status?: unknown; value?: unknown }
    definition?: string
  }
  return {
    type: message.type,
    ...shortFields(rest),
    ...(event === undefined ? {} : { event: { type: shortText(event.type), cut } }),
    ...(message.type === '@xstate.event'
      ? {}
      : { snapshot: { ...shortFields({ status: snapshot?.status, value: snapshot?.value }), context: { cut } } }),
  } as unknown as WireMessage
}

function shortFields(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => typeof value === 'string' || value === null)
      .map(([key, value]) => [key, shortText(value)]),
  )
}

function shortText(value: unknown): unknown {
  return typeof value === 'string' ? startOf(value, 500) : value
}
