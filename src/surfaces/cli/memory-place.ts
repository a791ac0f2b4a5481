// How the verbs of memory read where something belongs, and how certain it is.
import type { Engine } from '../../api.ts'
import { misuse } from './arguments.ts'
import { findTask } from './task-ref.ts'

/** The id of a task that somebody named, or of none. @throws ErrandError NOT_FOUND, INVALID_INPUT { candidates } */
export async function optionalTaskId(engine: Engine, ref: string | undefined): Promise<string | undefined> {
  return ref === undefined ? undefined : (await findTask(engine, ref)).id
}

/** A number from 0 to 1. */
export function fraction(option: string, text: string): number {
  const value = /^\s*(\d+(\.\d*)?|\.\d+)\s*$/.test(text) ? Number(text) : Number.NaN
  if (value >= 0 && value <= 1) return value
  throw misuse(`--${option} takes a number from 0 to 1, got "${text}".`, { option, value: text })
}
