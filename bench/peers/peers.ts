// All peers.
import type { Peer, Side } from '../runner/row.ts'

export const peers: readonly Peer[] = []

/** The sides of all peers in a row, by name. */
export function peerSides(row: string): Record<string, Side<never>> {
  return Object.assign({}, ...peers.map((peer) => peer.rows[row] ?? {}))
}
