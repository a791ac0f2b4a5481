// The conditions that the ledger reads a filter as.
import { z } from 'zod'
import { once } from '../core/once.ts'
import { filterShape } from '../entities/filter-options.ts'
import { filterByStatus } from '../entities/status-filter.ts'
import type { TaskFilter } from '../ledger/ledger.ts'

const filterSchema = once(() => z.object(filterShape()))

/** `given` has passed the gate. */
export function filterOf(given: z.output<ReturnType<typeof filterSchema>>): TaskFilter {
  const { status, text, code, since, before, ...rest } = given
  const filter: TaskFilter = {
    ...rest,
    ...(status === undefined ? {} : filterByStatus(status)),
    ...(text === undefined ? {} : { words: text.split(/\s+/) }),
    failedCode: code,
    endedFrom: since,
    endedBefore: before,
  }
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
}
