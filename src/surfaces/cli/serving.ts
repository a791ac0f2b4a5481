// What the verbs that serve share: the token that clients must send, and what is said of an address that the system does not give.

import { misuse } from '../../terminal/arguments.ts'
import type { CommandIo } from '../../terminal/io.ts'
import { makeToken } from '../../web/request-guard.ts'
import { textOf } from './read-input.ts'

export interface ServedToken {
  token: string
  /** Nobody knows it yet: it has to be told, once. */
  isNew: boolean
}

/**
 * Out of a file or the environment, else a new one; never from the command line itself: every user of the machine can read that.
 * @throws ErrandError INVALID_INPUT for a file that cannot be read, and for a token that could be guessed or not be sent.
 */
export async function chooseToken(io: CommandIo, file: string | undefined, variable: string): Promise<ServedToken> {
  if (file !== undefined) {
    const token = await textOf(io, file, 'token-file', 'the token from')
    return { token: requireLong(token.trim(), `in ${file}`), isNew: false }
  }
  const token = io.env[variable]?.trim()
  return token ? { token: requireLong(token, `in ${variable}`), isNew: false } : { token: makeToken(), isNew: true }
}

function requireLong(token: string, where: string): string {
  if (/^[\x21-\x7e]{32,}$/.test(token)) return token
  throw misuse(`The token ${where} must have at least 32 printable characters, and no spaces.`)
}

/** Passes on a server that listens; what the system says of the address becomes a misuse of the options that named it. */
export async function orMisuse<S>(listening: Promise<S>): Promise<S> {
  return await listening.catch((error: unknown) => {
    throw isOfTheSystem(error)
      ? misuse(`Cannot listen there: ${error.message}. --host and --port choose another address.`)
      : error
  })
}

function isOfTheSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}
