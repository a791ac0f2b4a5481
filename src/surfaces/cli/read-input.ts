// What a verb takes as an argument or, without one, from standard input; and from a file.
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { messageOf } from '../../core/stored-error.ts'
import { misuse } from '../../terminal/arguments.ts'
import type { CommandIo } from '../../terminal/io.ts'

const maxInputLength = 10_000_000

/** @throws ErrandError INVALID_INPUT when there is neither, or it is empty or too long. */
export async function argumentOrInput(io: CommandIo, given: string | undefined, what: string): Promise<string> {
  const written = given ?? (await readAll(io, what))
  if (written.length > maxInputLength)
    throw misuse(`${what} has ${written.length} characters, and more than ${maxInputLength} are not taken.`)
  if (written.trim() === '') throw misuse(`${what} is empty.`)
  return written.trim()
}

async function readAll(io: CommandIo, what: string): Promise<string> {
  const input = io.input?.()
  if (input === undefined) throw misuse(`${what} is missing: give it as an argument, or through a pipe.`)
  return await text(input)
}

/** The text of a file that an option names. `what` stands between "Cannot read" and its path. */
export async function textOf(io: CommandIo, file: string, option: string, what: string): Promise<string> {
  const path = resolve(io.cwd, file)
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw misuse(`Cannot read ${what} ${path}: ${messageOf(error)}.`, { option })
  }
}
