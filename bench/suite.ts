// All rows, in the order in which they are run and printed.
import { agentStep } from './rows/agent-step.ts'
import { blocking } from './rows/blocking.ts'
import { cancelAndPurge } from './rows/cancel-and-purge.ts'
import { cancelFamily } from './rows/cancel-family.ts'
import { claims } from './rows/claims.ts'
import { dispatch } from './rows/dispatch.ts'
import { families } from './rows/families.ts'
import { followers } from './rows/followers.ts'
import { fork } from './rows/fork.ts'
import { history } from './rows/history.ts'
import { http } from './rows/http.ts'
import { inspect } from './rows/inspect.ts'
import { listing } from './rows/listing.ts'
import { loading } from './rows/loading.ts'
import { machines } from './rows/machines.ts'
import { markdown } from './rows/markdown.ts'
import { memoryAtRest } from './rows/memory-at-rest.ts'
import { page } from './rows/page.ts'
import { recall } from './rows/recall.ts'
import { startup } from './rows/startup.ts'
import { steps } from './rows/steps.ts'
import { throughput } from './rows/throughput.ts'
import type { AnyRow } from './runner/row.ts'

export const mainRows: readonly AnyRow[] = [
  throughput,
  steps,
  dispatch,
  history,
  fork,
  memoryAtRest,
  machines,
  startup,
  families,
  followers,
  agentStep,
  loading,
  http,
  cancelAndPurge,
]

/** They run when they are named, or with `--all`. */
export const furtherRows: readonly AnyRow[] = [cancelFamily, claims, blocking, listing, markdown, recall, inspect, page]

export const rows: readonly AnyRow[] = [...mainRows, ...furtherRows]
