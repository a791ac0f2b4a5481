// What a verb takes as an argument or, without one, from standard input.
import { text } from 'node:stream/consumers'
import { misuse } from './arguments.ts'
import type { CommandIo } from './io.ts'

const longestInput = 10_000_000

/** @throws ErrandError INVALID_INPUT when there is neither, or it is empty or too long. */
export async function argumentOrInput(io: CommandIo, given: string | undefined, what: string): Promise<string> {
  const written = given ?? (await readAll(io, what))
  if (written.length > longestInput)
    throw misuse(`${what} has ${written.length} characters, and more than ${longestInput} are not taken.`)
  if (written.trim() === '') throw misuse(`${what} is empty.`)
  return written.trim()
}

async function readAll(io: CommandIo, what: string): Promise<string> {
  const input = io.input?.()
  if (input === undefined) throw misuse(`${what} is missing: give it as an argument, or through a pipe.`)
  return await text(input)
}
