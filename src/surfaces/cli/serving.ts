// Shared by the verbs that serve: the token that clients must send, and the error for an address that cannot be used.

import { misuse } from '../terminal/arguments.ts'
import type { CommandIo } from '../terminal/io.ts'
import { makeToken } from '../web/request-guard.ts'
import { textOf } from './read-input.ts'

export interface ServedToken {
  token: string
  /** It was just generated, and must be shown once. */
  isNew: boolean
}

/**
 * Reads the token from a file or the environment, else generates one. There is no flag for it, because every user of the machine can
 * read command lines.
 * @throws ErrandError INVALID_INPUT for a file that cannot be read, and for a token that is too short or has invalid characters.
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

/** Returns the listening server; an error of the system about the address becomes INVALID_INPUT that names the options. */
export async function orMisuse<S>(listening: Promise<S>): Promise<S> {
  return await listening.catch((error: unknown) => {
    throw isOfTheSystem(error)
      ? misuse(`Cannot listen at this address: ${error.message}. --host and --port choose another one.`)
      : error
  })
}

function isOfTheSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}
