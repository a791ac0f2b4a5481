// The conditions that the ledger reads a filter as.
import type { z } from 'zod'
import { omitUndefined } from '../core/omit-undefined.ts'
import type { filterShape } from '../entities/filter-options.ts'
import { filterByStatus } from '../entities/status-filter.ts'
import type { TaskFilter } from '../ledger/ledger.ts'

/** `given` has passed the gate. */
export function filterOf(given: z.output<z.ZodObject<ReturnType<typeof filterShape>>>): TaskFilter {
  const { status, text, code, since, before, ...rest } = given
  return omitUndefined({
    ...rest,
    ...(status === undefined ? {} : filterByStatus(status)),
    words: text?.split(/\s+/),
    failedCode: code,
    endedFrom: since,
    endedBefore: before,
  })
}
