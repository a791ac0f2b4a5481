// The runs of the tasks of a family that are shown, read one task at a time and again when a task has changed.

import { signal } from '@preact/signals'
import type { RunRecord, TaskRow } from '../model/wire.ts'
import type { ApiClient } from './api-client.ts'

/** The latest runs of a task; earlier ones are left out. */
const maxRuns = 50

export class FamilyRuns {
  /** By task. Tasks whose runs have not been read are missing. */
  readonly runs = signal<ReadonlyMap<string, readonly RunRecord[]>>(new Map())
  readonly #api: ApiClient
  readonly #closed = new AbortController()
  /** The run and the state of each task when its runs were last requested. */
  readonly #known = new Map<string, string>()
  readonly #wanted = new Map<string, TaskRow>()
  #reading = false

  constructor(api: ApiClient) {
    this.#api = api
  }

  close(): void {
    this.#closed.abort()
  }

  /** Reads the runs of these tasks, unless nothing has changed since the last read. A task that has never run is not read. */
  want(rows: readonly TaskRow[]): void {
    for (const row of rows) {
      const version = `${row.run} ${row.status}`
      if (row.run === 0 || this.#known.get(row.id) === version) continue
      this.#known.set(row.id, version)
      this.#wanted.set(row.id, row)
    }
    if (!this.#reading) void this.#readAll()
  }

  async #readAll(): Promise<void> {
    this.#reading = true
    try {
      for (let [next] = this.#wanted; next !== undefined; [next] = this.#wanted) {
        const [id, row] = next
        this.#wanted.delete(id)
        if (this.#closed.signal.aborted) return
        const runs = await this.#read(row)
        this.runs.value = new Map(this.runs.value).set(id, runs)
      }
    } catch (error) {
      // The tasks are drawn without their runs; a change of a task requests its runs again.
      if (!this.#closed.signal.aborted) console.warn('Could not read the runs of a family', error)
    } finally {
      this.#reading = false
    }
  }

  async #read({ id, run }: TaskRow): Promise<RunRecord[]> {
    const query = { after: Math.max(0, run - maxRuns), limit: maxRuns }
    const path = `tasks/${encodeURIComponent(id)}/runs`
    return (await this.#api.get<{ runs: RunRecord[] }>(path, query, this.#closed.signal)).runs
  }
}
