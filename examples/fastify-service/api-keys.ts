// API keys with their owners and scopes. A real service reads them from its own store and returns a principal, or null.
import { createHash } from 'node:crypto'
import type { Authenticate } from 'errand/http'
import { z } from 'zod'

export const apiKeysSchema = z.array(
  z.strictObject({
    key: z.string().min(20),
    owner: z.string().min(1),
    /** read: read tasks; create: create tasks; control: change tasks; admin: everything. */
    scopes: z.array(z.enum(['read', 'create', 'control', 'admin'])),
  }),
)
export type ApiKey = z.output<typeof apiKeysSchema>[number]

export function principals(keys: readonly ApiKey[]): Authenticate {
  // Looked up by hash, so that the time reveals nothing about how much of a key is correct.
  const known = new Map(keys.map(({ key, owner, scopes }) => [hashOf(key), { owner, scopes }]))
  return (request) => {
    const [, key] = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
    return key === undefined ? null : (known.get(hashOf(key)) ?? null)
  }
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('base64')
}
