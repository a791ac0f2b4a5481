// Processes that are killed at a write of their ledger, and the writes at which a kill is worthwhile.
import { spawn } from 'node:child_process'
import type { Place } from '../crash/child.ts'
import type { KillPoint } from '../crash/killing-ledger.ts'

export interface Ended {
  signal: NodeJS.Signals | null
  said: string
  complaints: string
}

/** A scenario in a process of its own, to its end or to its death. `orders` are further arguments of the program. */
export function playAlone(program: string, { ledger, effects }: Place, orders: object = {}): Promise<Ended> {
  const given = JSON.stringify({ ledger, effects, ...orders })
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, given], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended: Ended = { signal: null, said: '', complaints: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    ended.said += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    ended.complaints += chunk.toString()
  })
  return new Promise((resolve) => child.once('close', (_code, signal) => resolve({ ...ended, signal })))
}

export type Point = KillPoint & { name: string }

export const everyPoint = (steps: readonly string[]): Point[] =>
  steps.flatMap((name, index): Point[] => [
    { step: index + 1, when: 'before', name },
    { step: index + 1, when: 'after', name },
  ])

/**
 * One point of each kind. The next process depends on the last durable write and on the effects that followed it. A
 * process that dies before a write has seen the one before and acted on it: a kind is a pair of consecutive writes, and
 * the first of each pair dies. After the write, no effect has followed: a kind is a name, and the first and the last of
 * each name die. Any other point repeats one of these further on in the conversation.
 */
export function onePointOfEachKind(steps: readonly string[]): Point[] {
  const pairs = steps.map((name, index) => `${steps[index - 1] ?? 'nothing'}, then ${name}`)
  return everyPoint(steps).filter(({ step, when, name }) => {
    const index = step - 1
    if (when === 'before') return pairs.indexOf(pairs[index] as string) === index
    return steps.indexOf(name) === index || steps.lastIndexOf(name) === index
  })
}
