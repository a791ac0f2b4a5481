// The client of a surface over HTTP, as identified by the program's `authenticate` or by the token, and the caller derived from it. No
// other part of the request contributes to either.
import { z } from 'zod'
import { type Caller, type Scope, scopeNames } from '../../bus/caller.ts'
import { abilityListSchema } from '../../entities/ability-pattern.ts'

/** The client of a request, as your `authenticate` identifies it. */
export interface Principal {
  /**
   * What the client may do. `admin` includes the other scopes; no other scope includes another. With `own` beside them, which needs an `owner`, only
   * tasks that the owner created, and the tasks below them, exist for the client.
   */
  scopes: readonly Scope[]
  /**
   * The tenant whose engine, and so whose ledger, the client reaches: 1 to 64 letters, digits, `_` and `-`. Required with `engineFor`;
   * refused where one engine serves every client.
   */
  tenant?: string
  /** Name of the client; its claims are made in this name. Principals of one ledger see each other's tasks unless they have the scope `own`. */
  owner?: string
  /** Restricts the client to this task and the tasks below it. */
  taskId?: string
  /** The requests come from a model: what is reserved for people or programs is refused. Default: they come from a person or a program. */
  model?: true
  /** Ids of abilities, `module:*` or `*`: the client may call no others. Default: all that the scopes allow. */
  abilities?: readonly string[]
}

export type Authenticate = (request: Request) => Principal | null | Promise<Principal | null>

const tenantSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'expected a tenant name: 1 to 64 letters, digits, `_` and `-`')

/** Strict, because a misspelled `taskId` would give access to every task, and an ignored `tenant` to another's engine. */
const shape = z.strictObject({
  scopes: z.array(z.enum(scopeNames)).max(100),
  owner: z.string().min(1).max(100).exactOptional(),
  taskId: z.string().min(1).max(100).exactOptional(),
  model: z.literal(true).exactOptional(),
  abilities: abilityListSchema.exactOptional(),
})

/** A name is what distinguishes own tasks from others; `admin` and a task would contradict the scope. */
function isOwnable({ scopes, owner, taskId }: z.output<typeof shape>): boolean {
  return !scopes.includes('own') || (owner !== undefined && taskId === undefined && !scopes.includes('admin'))
}
const notOwnable = 'the scope `own` needs an `owner`, and goes neither with `admin` nor with a `taskId`'

export const principalSchema = shape.refine(isOwnable, notOwnable)

/** Requires `tenant`, so that no engine is chosen by default. */
export const tenantPrincipalSchema = shape.extend({ tenant: tenantSchema }).refine(isOwnable, notOwnable)

export function callerOf({ abilities, tenant: _tenant, ...principal }: Principal, surface: string): Caller {
  return { surface, ...principal, ...(abilities === undefined ? {} : { abilities: [abilities] }) }
}

/** The key under which limits count a principal. It includes the tenant, so that equal names of two tenants do not share a limit. */
export function limitKeyOf({ tenant, owner, taskId }: Principal, address: string | undefined): string {
  const who =
    owner !== undefined ? ['owner', owner] : taskId !== undefined ? ['task', taskId] : ['address', address ?? null]
  return JSON.stringify([tenant ?? null, ...who])
}
