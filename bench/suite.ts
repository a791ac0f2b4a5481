// All rows, in the order in which they are run and printed.
import { agentStep } from './rows/agent-step.ts'
import { cancelAndPurge } from './rows/cancel-and-purge.ts'
import { dispatch } from './rows/dispatch.ts'
import { families } from './rows/families.ts'
import { followers } from './rows/followers.ts'
import { history } from './rows/history.ts'
import { http } from './rows/http.ts'
import { loading } from './rows/loading.ts'
import { memoryAtRest } from './rows/memory-at-rest.ts'
import { startup } from './rows/startup.ts'
import { steps } from './rows/steps.ts'
import { throughput } from './rows/throughput.ts'
import type { AnyRow } from './runner/row.ts'

export const rows: readonly AnyRow[] = [
  throughput,
  steps,
  dispatch,
  history,
  memoryAtRest,
  startup,
  families,
  followers,
  agentStep,
  loading,
  http,
  cancelAndPurge,
]
