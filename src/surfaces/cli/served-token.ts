// The token of a server that is started from the command line: out of a file or the environment, else a new one. It is never taken
// from the command line itself: every user of the machine can read that.
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { messageOf } from '../../stored-error.ts'
import { makeToken } from '../web/door.ts'
import { misuse } from './arguments.ts'
import type { CommandIo } from './io.ts'

export interface ServedToken {
  token: string
  /** Nobody knows it yet: it has to be told, once. */
  isNew: boolean
}

/** @throws ErrandError INVALID_INPUT for a file that cannot be read, and for a token that could be guessed or not be sent. */
export async function chooseToken(io: CommandIo, file: string | undefined, variable: string): Promise<ServedToken> {
  if (file !== undefined) {
    return { token: requireLong(await tokenIn(resolve(io.cwd, file)), `in ${file}`), isNew: false }
  }
  const token = io.env[variable]?.trim()
  return token ? { token: requireLong(token, `in ${variable}`), isNew: false } : { token: makeToken(), isNew: true }
}

function requireLong(token: string, where: string): string {
  if (/^[\x21-\x7e]{32,}$/.test(token)) return token
  throw misuse(`The token ${where} must have at least 32 printable characters, and no spaces.`)
}

async function tokenIn(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    throw misuse(`Cannot read the token from ${file}: ${messageOf(error)}.`, {
      option: 'token-file',
    })
  }
}
