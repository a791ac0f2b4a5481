// Processes that are killed at a write of their ledger, and at which writes it is worth it.
import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Place } from '../crash/child.ts'
import type { Death } from '../crash/mortal-ledger.ts'

export interface Ended {
  signal: NodeJS.Signals | null
  said: string
  complaints: string
}

/** A story in a process of its own, to its end or to its death. `orders` are what the program takes beside the place. */
export function playAlone(program: string, { ledger, effects }: Place, orders: object = {}): Promise<Ended> {
  const given = JSON.stringify({ ledger, effects, ...orders })
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, given], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'errand-crash-compile-cache') },
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

export type Point = Death & { name: string }

export const everyPoint = (steps: readonly string[]): Point[] =>
  steps.flatMap((name, index): Point[] => [
    { step: index + 1, when: 'before', name },
    { step: index + 1, when: 'after', name },
  ])

/**
 * One point of each kind. What the next process finds is decided by the last write that became durable, and by what had been done
 * on the strength of it. Who dies before a write had heard of the one before and acted on it: a kind is a pair of writes that
 * follow each other, and the first of each pair dies. Who dies after a write told nobody of it: a kind is a name, and the first
 * and the last of each name die. Any other point repeats one of these further on in the conversation.
 */
export function onePointOfEachKind(steps: readonly string[]): Point[] {
  const pairs = steps.map((name, index) => `${steps[index - 1] ?? 'nothing'}, then ${name}`)
  return everyPoint(steps).filter(({ step, when, name }) => {
    const index = step - 1
    if (when === 'before') return pairs.indexOf(pairs[index] as string) === index
    return steps.indexOf(name) === index || steps.lastIndexOf(name) === index
  })
}
