// Redacts an inspection message before it leaves the process: the values under names of secrets, and secrets within texts, are replaced in a
// plain copy of limited depth and size.

import { z } from 'zod'
import { boundedImage } from '../../core/bounded-image.ts'
import { isPromise } from '../../core/guarded.ts'
import { type Changes, changedBy, jsonIn, type RedactFunction } from '../../core/redact.ts'
import { startOf } from '../../core/storable-text.ts'
import { maxProducedBytes, type WireMessage } from './wire.ts'

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
/** Maximum size of a message, in bytes. */
export const maxMessageBytes = 64 * 1024
/** Of what is read of a field, in characters of JSON: more than is sent, because long texts are shortened after they are searched for secrets. */
const maxReadLength = 2 * maxMessageBytes
/** Maximum length of a text, in characters. */
const maxTextLength = 8_192

/** Returns the redacted message and its text. */
export type Redactor = (message: WireMessage) => { message: WireMessage; text: string }

/** Creates the redaction of messages: JSON of at most 64 KiB. `redact` is applied in addition to the default names of secrets. */
export function createRedactor(redact?: Redact): Redactor {
  const changes = changesBy(redact)
  return (message) => {
    const images = Object.entries(message)
      .filter(([field]) => payloadFields.has(field))
      .map(([field, value]) => [field, boundedImage(value, maxReadLength, maxDepth)] as const)
    const read = {
      ...message,
      ...Object.fromEntries(images.map(([field, { image }]) => [field, image])),
    } as WireMessage
    // What is not sent is not redacted either.
    const isCut = images.some(([, image]) => image.isCut)
    const whole = redactedFields(isCut ? cutTo(read, `more than ${maxReadLength} characters`) : read, changes)
    const text = JSON.stringify(whole)
    const bytes = Buffer.byteLength(text)
    if (bytes <= maxMessageBytes) return { message: whole, text }
    const cut = cutTo(whole, `${bytes} bytes`)
    return { message: cut, text: JSON.stringify(cut) }
  }
}

function redactedFields(message: WireMessage, changes: Changes): WireMessage {
  const fields = Object.entries(message).map(([field, value]): [string, unknown] => {
    if (field === 'definition') return [field, redactedDefinition(value as string | undefined, changes)]
    return [field, payloadFields.has(field) ? changedBy(changes, value, [field]) : value]
  })
  return Object.fromEntries(fields) as WireMessage
}

/** The fields with the payload of a message, besides `definition`; the others identify sender and receiver. */
const payloadFields: ReadonlySet<string> = new Set(['name', 'event', 'snapshot'])

/** A chart is JSON text, which must stay whole. */
function redactedDefinition(text: string | undefined, changes: Changes): string | undefined {
  if (text === undefined) return undefined
  const chart = jsonIn(text, maxProducedBytes)
  return JSON.stringify(chart === undefined ? { id: '[unreadable]' } : changedBy(changes, chart, ['definition']))
}

function changesBy(redact: Redact | undefined): Changes {
  const isSecret = secretKeys(redact)
  const inText = secretTexts(redact)
  const ofUser = typeof redact === 'function' ? redact : undefined
  return {
    change(value, path) {
      if (path.length > 1 && isSecret(path.at(-1) as string) && !holdsStates(path.slice(0, -1))) return redacted
      return ofUser === undefined ? value : changedByUser(ofUser, value, path)
    },
    text: (text, isJson) => (isJson ? shortened(text) : inText(shortened(text))),
    key: (key) => inText(shortened(key)),
  }
}

/** A value for which the function throws, or returns a promise, is replaced. */
function changedByUser(ofUser: RedactFunction, value: unknown, path: readonly string[]): unknown {
  try {
    const given = ofUser(value, path)
    if (given === value) return value
    if (!isPromise(given)) return boundedImage(given, maxReadLength, maxDepth).image
    Promise.resolve(given).catch(() => {})
  } catch {
    // The value itself must not be sent.
  }
  return redacted
}

/** True for objects whose keys are names of states and events: a state may be named after a token that it waits for. */
function holdsStates(path: readonly string[]): boolean {
  const last = path.at(-1)
  return path[0] === 'definition' ? last === 'states' || last === 'on' : path[0] === 'snapshot' && path[1] === 'value'
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

function shortened(text: string): string {
  return text.length <= maxTextLength ? text : `${startOf(text, maxTextLength)}… [cut: ${text.length} characters]`
}

/** A message that is too large, without its payload. */
function cutTo(message: WireMessage, size: string): WireMessage {
  const cut = `[cut: ${size}]`
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
