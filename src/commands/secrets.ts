// Secrets of commands: the references to them in `env`, of which only the reference is stored and the value is read from the engine's
// environment when the command starts; and masks that replace the values in output.
import { z } from 'zod'
import { Failure } from '../core/errors.ts'

const variableName = z
  .string()
  .max(500)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of an environment variable: letters, digits and underscores')

/** `{ secret: 'NAME' }`: the value of the variable NAME of the engine's environment. */
export const secretReferenceSchema = z.strictObject({ secret: variableName })

export type SecretReference = z.output<typeof secretReferenceSchema>

/** The variables of a command as they are stored: text, or a reference. */
export type StoredEnvironment = Readonly<Record<string, string | SecretReference>>

/** The variables of a command, and the secrets among their values. */
export interface ResolvedEnvironment {
  variables: Record<string, string>
  secrets: Secret[]
}

/**
 * Resolves the references.
 * @throws Failure NO_SECRET { variable, secret } for a secret that is unset or empty; final, because the environment
 * does not change while the process lives.
 */
export function resolveReferences(stored: StoredEnvironment, environment: NodeJS.ProcessEnv): ResolvedEnvironment {
  const secrets: Secret[] = []
  const variables = Object.entries(stored).map(([variable, given]): [string, string] => {
    if (typeof given === 'string') return [variable, given]
    const value = environment[given.secret]
    if (!value) throw missing(variable, given.secret)
    secrets.push({ name: given.secret, value })
    return [variable, value]
  })
  return { variables: Object.fromEntries(variables), secrets }
}

function missing(variable: string, secret: string): Failure {
  return new Failure(
    `The command was not started: its variable ${variable} refers to the secret ${secret}, which is not set in the environment of the engine. Set ${secret} where that engine is started, or remove the reference from \`env\`.`,
    { code: 'NO_SECRET', retry: false, details: { variable, secret } },
  )
}

// Replaces the values of secrets in the output of a command, before any of it is shown or stored. Works on the bytes of
// a stream, because a value may be split across chunks.

export interface Secret {
  /** Shown in place of the value. */
  name: string
  value: string
}

/** Shorter values are not masked: replacing them everywhere would make output unreadable. */
const minMaskedLength = 4

/** Replaces the secrets in one stream. */
export interface SecretMask {
  /** Returns what may be passed on by now; a possible beginning of a secret is held back. */
  push(chunk: Buffer): Buffer
  /** Returns the rest at the end of the stream. */
  finish(): Buffer
}

/** Creates a mask for each stream; undefined when there is nothing to hide. */
export function createMasks(secrets: readonly Secret[]): (() => SecretMask) | undefined {
  // Bytes as characters, so that positions are those of bytes.
  const replacements = new Map(
    secrets.flatMap(({ name, value }) => partsOf(value).map((part) => [latin1(part), `[secret ${name}]`] as const)),
  )
  if (replacements.size === 0) return undefined
  // Longest first: of two secrets with the same beginning, the longer one is replaced.
  const texts = [...replacements.keys()].sort((a, b) => b.length - a.length)
  return () => new StreamMask(texts, (found) => replacements.get(found) as string)
}

/** The value, and each of its lines: programs indent and quote keys of several lines. */
function partsOf(value: string): string[] {
  return [value, ...value.split(/\r?\n/)].filter((part) => part.length >= minMaskedLength)
}

function latin1(text: string): string {
  return Buffer.from(text).toString('latin1')
}

class StreamMask implements SecretMask {
  readonly #texts: readonly string[]
  readonly #replacement: (found: string) => string
  #held = ''

  constructor(texts: readonly string[], replacement: (found: string) => string) {
    this.#texts = texts
    this.#replacement = replacement
  }

  push(chunk: Buffer): Buffer {
    return this.#mask(this.#held + chunk.toString('latin1'), false)
  }

  finish(): Buffer {
    return this.#mask(this.#held, true)
  }

  #mask(text: string, isLast: boolean): Buffer {
    let masked = ''
    let position = 0
    let undecided = isLast ? text.length : this.#undecidedFrom(text, 0)
    for (;;) {
      const found = this.#firstIn(text, position)
      if (found === undefined || found.at >= undecided) break
      masked += text.slice(position, found.at) + this.#replacement(found.secret)
      position = found.at + found.secret.length
      // What could have been the beginning of a secret was the end of another.
      if (position > undecided) undecided = this.#undecidedFrom(text, position)
    }
    this.#held = text.slice(undecided)
    return Buffer.from(masked + text.slice(position, undecided), 'latin1')
  }

  /** The first secret from a position on, and the longest of several that begin there. Not by a pattern: a value may be too long for one. */
  #firstIn(text: string, position: number): { secret: string; at: number } | undefined {
    let first: { secret: string; at: number } | undefined
    for (const secret of this.#texts) {
      const at = text.indexOf(secret, position)
      if (at !== -1 && (first === undefined || at < first.at)) first = { secret, at }
    }
    return first
  }

  /** Where the trailing text starts that may be the beginning of a secret. */
  #undecidedFrom(text: string, position: number): number {
    const maxLength = (this.#texts[0] as string).length
    for (let from = Math.max(position, text.length - maxLength + 1); from < text.length; from++) {
      const end = text.slice(from)
      if (this.#texts.some((secret) => secret.length > end.length && secret.startsWith(end))) return from
    }
    return text.length
  }
}
