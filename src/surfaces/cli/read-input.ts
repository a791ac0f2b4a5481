// Reads the text that a verb takes as an argument or, without one, from stdin; and the text of a file.
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { messageOf } from '../../core/stored-error.ts'
import { misuse } from '../terminal/arguments.ts'
import type { CommandIo } from '../terminal/io.ts'

const maxInputLength = 10_000_000

/** `what` names the text in messages. @throws ErrandError INVALID_INPUT when the text is missing, empty or too long. */
export async function argumentOrInput(io: CommandIo, given: string | undefined, what: string): Promise<string> {
  const written = given ?? (await readAll(io, what))
  if (written.length > maxInputLength)
    throw misuse(`${what} has ${written.length} characters; the maximum is ${maxInputLength}.`)
  if (written.trim() === '') throw misuse(`${what} is empty.`)
  return written.trim()
}

async function readAll(io: CommandIo, what: string): Promise<string> {
  const input = io.input?.()
  if (input === undefined) throw misuse(`${what} is missing: give it as an argument, or through a pipe.`)
  return await text(input)
}

/** Reads the file that an option names. `what` follows "Cannot read" in the message. */
export async function textOf(io: CommandIo, file: string, option: string, what: string): Promise<string> {
  const path = resolve(io.cwd, file)
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw misuse(`Cannot read ${what} ${path}: ${messageOf(error)}.`, { option })
  }
}
