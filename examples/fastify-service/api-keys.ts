// API keys: who has which, and what it is good for. A real service looks them up in its own store; what matters is that the answer is
// a principal, or null.
import { createHash } from 'node:crypto'
import type { Authenticate } from 'errand/http'
import { z } from 'zod'

export const apiKeysSchema = z.array(
  z.strictObject({
    key: z.string().min(20),
    owner: z.string().min(1),
    /** read: look; create: make tasks; control: change what is there; admin: everything. */
    scopes: z.array(z.enum(['read', 'create', 'control', 'admin'])),
  }),
)
export type ApiKey = z.output<typeof apiKeysSchema>[number]

export function principals(keys: readonly ApiKey[]): Authenticate {
  // Looked up by their hashes: how long it takes tells nothing of how much of a key was right.
  const known = new Map(keys.map(({ key, owner, scopes }) => [hashOf(key), { owner, scopes }]))
  return (request) => {
    const [, key] = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
    return key === undefined ? null : (known.get(hashOf(key)) ?? null)
  }
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('base64')
}
