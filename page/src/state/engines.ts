// The engines on the ledger, read every few seconds while they are shown.

import { signal } from '@preact/signals'
import { problemOf } from '../live/api-client.ts'
import type { Instance, Problem } from '../model/wire.ts'
import { api } from './api.ts'

/** Null before they are read. */
export const engines = signal<{ instances: Instance[]; at: number } | null>(null)
/** Why they cannot be read; null if they can. */
export const enginesProblem = signal<Problem | null>(null)

const readEveryMs = 2_000

async function readEngines(): Promise<void> {
  try {
    engines.value = await api.get<{ instances: Instance[]; at: number }>('instances')
    enginesProblem.value = null
  } catch (error) {
    enginesProblem.value = problemOf(error)
  }
}

/** Keeps the engines current until the returned function is called. */
export function followEngines(): () => void {
  void readEngines()
  const timer = setInterval(() => {
    if (!document.hidden) void readEngines()
  }, readEveryMs)
  return () => clearInterval(timer)
}
