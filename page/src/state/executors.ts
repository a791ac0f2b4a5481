// The executors of the engine with the schemas of their input, read when a form needs them.

import { signal } from '@preact/signals'
import { problemOf } from '../live/api-client.ts'
import type { ExecutorInfo } from '../model/wire.ts'
import { api } from './api.ts'

/** Null before they are read, and while the server does not list them. */
export const executors = signal<ExecutorInfo[] | null>(null)

export async function readExecutors(): Promise<void> {
  try {
    executors.value = (await api.call<{ executors: ExecutorInfo[] }>('engine:executors', {})).executors
  } catch (error) {
    // The form then offers the names of the status, and the input is entered as JSON.
    console.warn('Could not read the executors', problemOf(error))
  }
}
