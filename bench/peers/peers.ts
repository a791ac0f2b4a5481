// All peers. Others were left out: those that need a server, and liteque, which fails at its first job with this better-sqlite3.
import type { Peer, Side } from '../runner/row.ts'
import { langGraph } from './langgraph.ts'
import { mastra } from './mastra.ts'
import { openWorkflow } from './openworkflow.ts'
import { plainjob } from './plainjob.ts'

export const peers: readonly Peer[] = [plainjob, openWorkflow, mastra, langGraph]

/** The sides of all peers in a row, by name. */
export function peerSides(row: string): Record<string, Side<never>> {
  return Object.assign({}, ...peers.map((peer) => peer.rows[row] ?? {}))
}
