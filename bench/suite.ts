// All rows, in the order in which they are run and printed.
import { dispatch } from './rows/dispatch.ts'
import { history } from './rows/history.ts'
import { startup } from './rows/startup.ts'
import { steps } from './rows/steps.ts'
import { throughput } from './rows/throughput.ts'
import type { AnyRow } from './runner/row.ts'

export const rows: readonly AnyRow[] = [throughput, steps, dispatch, history, startup]
